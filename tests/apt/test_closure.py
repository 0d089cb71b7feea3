"""apt itself says what a set installs; what it refuses is told by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.apt.bases import base_for, base_with
from partition.apt.closure import closure, conflicts_of, packages_of, survey
from partition.apt.conflicts import Conflict, smallest_failing
from partition.apt.index import open_index
from partition.apt.names import Request
from partition.apt.settling import Renaming, settle
from partition.apt.simulation import base_of
from partition.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partition.apt.index import Index
    from partition.apt.sources import Suite

    Write = Callable[..., Suite]


def kib(stated: int) -> int:
    """Return the bytes of a package of so many KiB: what dpkg notes of it counts too."""
    return (stated + 20) * 1024


def test_a_set_brings_its_dependencies_with_their_bytes(index: Index) -> None:
    assert packages_of(["git"], index) == {"git": kib(1000), "libc6": kib(500), "perl": kib(300)}


def test_recommended_packages_come_only_when_asked_for(index: Index) -> None:
    assert "less" in packages_of(["git"], index, recommends=True)
    assert "less" not in packages_of(["git"], index)


def test_what_the_base_has_is_not_counted(index: Index) -> None:
    base = base_of(settle(["libc6"], index).requests, index)
    assert packages_of(["git"], index, base=base) == {"git": kib(1000), "perl": kib(300)}
    listed = base_with([("libc6", "2.36-9"), ("perl", "4.999"), ("gone", "1")], index)
    assert packages_of(["git"], index, base=listed) == {"git": kib(1000)}


def test_an_image_nobody_knows_counts_as_empty(index: Index) -> None:
    assert base_for("someone/private:1", index).packages == ()
    assert [each.name for each in base_for("debian:trixie", index).packages] == ["apt", "base-files"]


def test_a_union_is_what_its_parts_bring_whatever_their_order(index: Index) -> None:
    names = ["git", "less", "libgl1", "needs-gnutls"]
    parts = [packages_of([name], index) for name in names]
    union = {name: size for part in parts for name, size in part.items()}
    assert packages_of(names, index) == packages_of(reversed(names), index) == union


def test_a_missing_name_is_told_and_the_rest_still_counts(index: Index) -> None:
    found = closure(["git", "nothing-here"], index, where="specs.csv:7")
    assert not found.works
    assert [fault.where for fault in found.faults] == ["specs.csv:7"]
    assert "debian trixie has no package nothing-here" in found.faults[0].what
    assert "git" in {package.name for package in found.packages}


def test_a_renamed_package_is_mapped_and_says_by_what(index: Index) -> None:
    found = closure(["libgl1-mesa-glx"], index)
    assert found.works
    assert [(each.old, each.new) for each in found.renamed] == [("libgl1-mesa-glx", "libgl1")]
    assert "renamed.csv" in found.renamed[0].source


def test_a_virtual_package_with_one_provider_is_that_one(index: Index) -> None:
    found = closure(["only-gnutls"], index)
    assert found.renamed == (Renaming("only-gnutls", "curl-gnutls-dev", "provides it in trixie"),)
    assert found.works


def test_a_virtual_package_with_several_providers_is_the_users_choice(index: Index) -> None:
    found = closure(["curl-dev"], index)
    assert "curl-gnutls-dev, curl-openssl-dev" in found.faults[0].hint


def test_a_pin_takes_that_version_or_says_which_there_are(index: Index) -> None:
    assert packages_of(["git=1:2.30*"], index)["git"] == kib(900)
    found = closure(["git=1:2.20-1"], index)
    assert "git=1:2.20-1" in found.faults[0].what
    assert "1:2.30-1, 1:2.39-1" in found.faults[0].hint


@pytest.mark.parametrize("sign", ["-", "+"])
def test_apts_signs_for_removal_and_installation_are_not_names(index: Index, sign: str) -> None:
    found = closure([f"git{sign}"], index)
    assert f"git{sign}" in found.faults[0].what
    assert "apt would read it" in found.faults[0].hint
    assert closure(["g++"], index).works


@settings(derandomize=True, deadline=None, max_examples=200)
@given(name=st.text(alphabet="git-+./=:~*?[]^$ ", min_size=1, max_size=9))
def test_only_names_of_the_release_are_asked_for(index: Index, name: str) -> None:
    for request in settle([name], index).requests:
        assert index.find(request.name, request.version or index.versions(request.name)[-1].version)


def test_two_that_exclude_one_another_are_told_as_a_pair(index: Index) -> None:
    found = closure(["git", "needs-gnutls", "curl-openssl-dev"], index)
    assert [conflict.names for conflict in found.conflicts] == [("curl-openssl-dev", "needs-gnutls")]
    assert found.conflicts[0].because == "curl-gnutls-dev excludes curl-openssl-dev"
    assert found.packages == ()


def test_every_pair_is_found_among_many_names(index: Index) -> None:
    names = ["git", "needs-gnutls", "curl-gnutls-dev", "curl-openssl-dev", "less", "chooses"]
    pairs = [conflict.names for conflict in conflicts_of(names, index)]
    assert ("curl-gnutls-dev", "curl-openssl-dev") in pairs
    assert ("curl-openssl-dev", "needs-gnutls") in pairs
    assert all("git" not in pair and "less" not in pair for pair in pairs)


def test_a_package_that_never_installs_is_a_conflict_of_one_with_apts_words(index: Index) -> None:
    found = closure(["broken", "git"], index)
    assert found.conflicts == (Conflict(("broken",), "broken: Depends: nowhere but it is not installable"),)


def test_a_conflict_of_three_is_told_as_three(index: Index) -> None:
    names = ["git", "no-side-one", "no-side-two", "three-a", "less"]
    assert [conflict.names for conflict in conflicts_of(names, index)] == [
        ("no-side-one", "no-side-two", "three-a")
    ]


def test_what_would_remove_a_part_of_the_base_says_so(index: Index) -> None:
    base = base_of(settle(["less"], index).requests, index)
    assert closure(["breaks-base"], index, base=base).removed == ("less",)


def test_a_survey_knows_each_names_needs_from_a_few_runs(index: Index) -> None:
    names = ["git", "needs-gnutls", "curl-openssl-dev", "less", "broken", "libgl1-mesa-glx"]
    found = survey(names, index)
    assert found.needs["git"] == packages_of(["git"], index)
    assert found.needs["libgl1-mesa-glx"] == {"libgl1": kib(9)}
    assert "broken" not in found.needs
    for group in found.groups:
        assert closure(map(str, group), index).works


def test_an_index_that_apt_cannot_read_is_an_error_and_no_conflict(
    tmp_path: Path, write_release: Write
) -> None:
    index = open_index("trixie", tmp_path / "cache", suites=[write_release(tmp_path / "archive")])
    sources = index.root.folder / "sources.list"
    sources.write_text("deb nonsense\n")
    with pytest.raises(InputError, match="apt: "):
        closure(["git", "less"], index)


def test_an_answer_that_cannot_be_read_is_asked_again(tmp_path: Path, write_release: Write) -> None:
    index = open_index("trixie", tmp_path / "cache", suites=[write_release(tmp_path / "archive")])
    before = closure(["git"], index)
    for path in (index.root.folder / "answers").rglob("*"):
        if path.is_file():
            path.write_bytes(b"{}")
    assert closure(["git"], index) == before


def test_an_answer_is_kept(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = closure(["git", "less"], index)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert closure(["less", "git"], index) == before


@settings(derandomize=True, deadline=None)
@given(
    items=st.integers(1, 12),
    bad=st.sets(st.integers(0, 11), min_size=1, max_size=3),
)
def test_the_smallest_failing_set_is_found(items: int, bad: set[int]) -> None:
    requests = [Request(f"p{number:02}") for number in range(12)][: max(items, max(bad) + 1)]
    wanted = {requests[number] for number in bad}
    assert set(smallest_failing(requests, lambda some: not wanted <= set(some))) == wanted
