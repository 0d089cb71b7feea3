"""Provider caps and dataset targets."""

from __future__ import annotations

import pytest

from partition.environments.caps import PRESETS, Usage, check_cap, check_preset, read_existing
from partition.errors import InputError, UsageError

NAMES = frozenset(f"harbor__{number:012x}__snapshot" for number in range(12))


def checks(preset: str, **usage) -> dict[str, bool]:
    made = check_preset(PRESETS[preset], Usage(**usage), enforced=True)
    return {check.cap: check.holds for check in made}


def test_daytona_allows_ten_new_snapshots_and_forty_in_all():
    new, organisation = "new snapshots in one launch", "snapshots of the organisation"
    ten = frozenset(sorted(NAMES)[:10])
    others = frozenset(f"other-{number}" for number in range(30))
    assert all(checks("daytona", snapshots=ten, existing=others).values())
    assert not checks("daytona", snapshots=NAMES)[new]
    assert not checks("daytona", snapshots=ten, existing=others | {"one more"})[organisation]
    assert checks("daytona-60", snapshots=ten, existing=others | {"one more"})[organisation]


def test_snapshots_that_exist_cost_nothing():
    existing = frozenset(sorted(NAMES)[:2])
    made = check_preset(PRESETS["daytona"], Usage(snapshots=NAMES, existing=existing), enforced=True)
    assert [(check.value, check.limit, check.holds) for check in made[:2]] == [(10, 10, True), (12, 40, True)]
    assert check_cap(10, Usage(snapshots=NAMES, existing=existing)).holds
    assert not check_cap(9, Usage(snapshots=NAMES, existing=existing)).holds


def test_a_task_that_asks_for_more_disk_than_there_is_breaks_the_cap():
    disk = "disk asked for by a task (MiB)"
    assert checks("daytona", snapshots=NAMES, disk_mb=10240)[disk]
    assert not checks("daytona", snapshots=NAMES, disk_mb=10241)[disk]


def test_a_dataset_stays_below_ten_and_ideally_at_eight():
    nine = frozenset(sorted(NAMES)[:9])
    made = check_preset(PRESETS["dataset"], Usage(snapshots=nine), enforced=True)
    assert [(check.limit, check.holds, check.enforced) for check in made] == [
        (9, True, True),
        (8, False, False),
    ]


def test_a_snapshot_of_ten_and_a_bit_gigabytes_is_over():
    """CASES 43."""
    assert PRESETS["daytona"].snapshot_bytes < 10.04e9


@pytest.mark.parametrize("limit", [0, -1])
def test_a_cap_below_one_means_nothing(limit):
    with pytest.raises(UsageError, match="a cap is at least 1"):
        check_cap(limit, Usage(snapshots=NAMES))


@pytest.mark.parametrize(
    "text",
    [
        "a\nb\n",
        "\ufeffa\r\n\r\n# comment\r\n  b  ",
        '["a", "b", "a"]',
        ' [{"name": "a", "state": "active"}, "b"]',
        '{"items": [{"name": "a"}, {"name": "b"}], "total": 2}',
        '{"environments": [{"name": "py3.9", "snapshot": "a"}, {"name": "py3.8", "snapshot": "b"}]}',
    ],
)
def test_existing_snapshots_are_read_from(text):
    assert read_existing(text, where="x") == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('["a",\n "b"', ["x:2"]),
        ('["a", 3, {"state": "active"}, ""]', ["x[1]", "x[2]", "x[3]"]),
        ('{"other": []}', ["x"]),
    ],
)
def test_anything_else_is_refused_item_by_item(text, places):
    with pytest.raises(InputError) as caught:
        read_existing(text, where="x")
    assert [fault.where for fault in caught.value.faults] == places


def test_no_existing_snapshot_is_no_error():
    assert read_existing("", where="x") == frozenset()
    assert read_existing("[]", where="x") == frozenset()
