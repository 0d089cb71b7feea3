from __future__ import annotations

import datetime as dt

from hypothesis import given, settings
from hypothesis import strategies as st

from partition.venvs.locked import Lock, Locked
from partition.venvs.merging import merge, plugin
from partition.venvs.spec import VenvSpec


def lock(*requirements: str, day: int = 0, python: str = "3.9.25", **versions: str) -> Lock:
    date = dt.date(2022, 3, day) if day else None
    spec = VenvSpec(python=python[:3], requirements=tuple(sorted(requirements)), as_of=date)
    packages = tuple(Locked(name=name, version=versions[name]) for name in sorted(versions))
    return Lock(spec=spec, packages=packages, python=python)


def test_locks_that_are_equal_package_by_package_are_one_of_the_earlier_date() -> None:
    early, late = lock("six", day=1, six="1.16.0"), lock("six", day=9, six="1.16.0")
    (merged,) = merge([late, early])
    assert merged.specs == (early.spec, late.spec)
    assert merged.lock == early


def test_other_versions_and_other_interpreters_stay_apart() -> None:
    assert len(merge([lock("six", day=1, six="1.15.0"), lock("six", day=9, six="1.16.0")])) == 2
    assert len(merge([lock("six", six="1.16.0"), lock("six", six="1.16.0", python="3.8.20")])) == 2


def test_an_environment_gains_only_as_much_as_allowed() -> None:
    small, large = lock("six", six="1.16.0"), lock("attrs", "six", six="1.16.0", attrs="21.4.0")
    assert len(merge([small, large])) == 2
    (merged,) = merge([small, large], gain=1)
    assert merged.lock.versions == {"attrs": "21.4.0", "six": "1.16.0"}


def test_no_environment_gains_what_its_tasks_forbid_or_what_acts_by_itself() -> None:
    small, large = lock("six", six="1.16.0"), lock("attrs", "six", six="1.16.0", attrs="21.4.0")
    assert len(merge([small, large], gain=1, forbidden={small.spec: frozenset({"attrs"})})) == 2
    assert len(merge([small, large], gain=1, forbidden={large.spec: frozenset({"attrs"})})) == 1
    noisy = lock("pytest-randomly", "six", six="1.16.0", **{"pytest-randomly": "3.1"})
    assert len(merge([small, noisy], gain=1)) == 2
    assert plugin("anyio")
    assert not plugin("requests")


def test_a_resolver_may_move_what_nobody_names_and_nothing_else() -> None:
    first = lock("flask", flask="2.0.3", click="8.0.3")
    second = lock("black", black="22.1", click="8.0.4")
    good = lock("black", "flask", flask="2.0.3", black="22.1", click="8.0.4")
    bad = lock("black", "flask", flask="2.0.2", black="22.1", click="8.0.4")
    assert len(merge([first, second], gain=1)) == 2
    assert len(merge([first, second], gain=1, resolve=lambda _: good)) == 1
    assert len(merge([first, second], gain=1, resolve=lambda _: bad)) == 2
    assert len(merge([first, second], gain=1, resolve=lambda _: None)) == 2


NAMES = ["a", "b", "c", "d"]
LOCKS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["1", "2"]), min_size=1).map(
        lambda each: lock(*each, **each)
    ),
    max_size=6,
)


@settings(derandomize=True, deadline=None)
@given(LOCKS, st.integers(0, 3), st.randoms())
def test_every_spec_is_served_once_at_its_own_versions_whatever_the_order(
    locks: list[Lock], gain: int, random: object
) -> None:
    locks = list({each.spec: each for each in locks}.values())
    merged = merge(locks, gain=gain)
    own = {each.spec: each.versions for each in locks}
    assert sorted(spec for each in merged for spec in each.specs) == sorted(own)
    for each in merged:
        for spec in each.specs:
            assert own[spec].items() <= each.lock.versions.items()
            assert len(each.lock.versions) - len(own[spec]) <= gain
    random.shuffle(locks)
    assert merge(locks, gain=gain) == merged
