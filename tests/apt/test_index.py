"""A release's index is fetched whole or not at all, and read without a network afterwards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from partition.apt.index import Index, open_index
from partition.apt.sources import Suite, suites_of
from partition.errors import InputError

Write = Callable[..., Suite]


def test_versions_come_oldest_first_and_the_newest_is_what_apt_takes(index: Index) -> None:
    assert [each.version for each in index.versions("git")] == ["1:2.30-1", "1:2.39-1"]
    newest = index.newest("git")
    assert newest is not None
    assert newest.size == 1000 * 1024
    assert index.newest("nothing") is None


def test_providers_are_known_by_the_name_that_they_provide(index: Index) -> None:
    assert index.providers("curl-dev") == ("curl-gnutls-dev", "curl-openssl-dev")
    assert index.providers("git") == ()


def test_a_minimal_system_holds_what_is_essential_and_apt(index: Index) -> None:
    assert index.minimal() == ("apt", "base-files")


def test_what_is_cached_needs_no_network(index: Index, cache: Path) -> None:
    gone = Suite("file:/nowhere", "trixie", "main")
    assert open_index("trixie", cache, suites=[gone], offline=True).digest == index.digest


def test_offline_and_not_cached_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not cached") as caught:
        open_index("trixie", tmp_path, offline=True)
    assert caught.value.hint


def test_a_release_that_is_not_served_is_said_and_leaves_nothing(tmp_path: Path, archive: Suite) -> None:
    elsewhere = Suite(archive.uri, "buster", "main")
    with pytest.raises(InputError, match="buster: not served") as caught:
        open_index("buster", tmp_path, suites=[elsewhere])
    assert "newer" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_release_without_security_updates_is_still_served(tmp_path: Path, archive: Suite) -> None:
    suites = [archive, Suite(archive.uri, "trixie-security", "main")]
    assert open_index("trixie", tmp_path, suites=suites).newest("git")


def test_an_archive_that_lies_about_its_packages_changes_nothing(
    tmp_path: Path, write_release: Write
) -> None:
    suite = write_release(tmp_path / "archive")
    before = open_index("trixie", tmp_path / "cache", suites=[suite])
    lists = tmp_path / "archive/dists/trixie/main/binary-amd64/Packages"
    lists.write_bytes(lists.read_bytes().replace(b"Installed-Size: 1000", b"Installed-Size: 9999"))
    release = tmp_path / "archive/dists/trixie/Release"
    release.write_text(release.read_text().replace("01 Aug", "02 Aug"))
    with pytest.raises(InputError, match="package lists not fetched"):
        open_index("trixie", tmp_path / "cache", suites=[suite], refresh=True)
    again = open_index("trixie", tmp_path / "cache", offline=True)
    assert (again.digest, again.newest("git")) == (before.digest, before.newest("git"))
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["debian-trixie-amd64"]


def test_a_refresh_takes_the_new_packages(tmp_path: Path, write_release: Write) -> None:
    suite = write_release(tmp_path / "archive", "Package: old\nVersion: 1")
    before = open_index("trixie", tmp_path / "cache", suites=[suite])
    write_release(tmp_path / "archive", "Package: new\nVersion: 1")
    assert open_index("trixie", tmp_path / "cache", suites=[suite]).newest("new") is None
    after = open_index("trixie", tmp_path / "cache", suites=[suite], refresh=True)
    assert after.newest("new")
    assert after.digest != before.digest


def test_a_cache_that_was_moved_still_answers(tmp_path: Path, write_release: Write) -> None:
    suite = write_release(tmp_path / "archive")
    open_index("trixie", tmp_path / "here", suites=[suite])
    (tmp_path / "here").rename(tmp_path / "there")
    moved = open_index("trixie", tmp_path / "there", offline=True)
    done = moved.root.run("apt-cache", "policy", "git")
    assert "Candidate: 1:2.39-1" in done.stdout


def test_a_fetch_that_is_killed_leaves_what_was_there(tmp_path: Path, write_release: Write) -> None:
    suite = write_release(tmp_path / "archive")
    before = open_index("trixie", tmp_path / "cache", suites=[suite])
    code = (
        "import os, partition.apt.index as index\n"
        "from pathlib import Path\n"
        "from partition.apt.sources import Suite\n"
        "index._digest = lambda lists: os._exit(9)\n"
        f"index.open_index('trixie', Path({str(tmp_path / 'cache')!r}), suites=[{suite!r}], refresh=True)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    again = open_index("trixie", tmp_path / "cache", offline=True)
    assert (again.digest, again.newest("git")) == (before.digest, before.newest("git"))


@pytest.mark.parametrize(
    "place",
    ["Dir::State/d", "Dir::State::lists/d", "Dir::State::status/f", "Dir::State::extended_states/f",
     "Dir::Cache/d",
     "Dir::Cache::archives/d", "Dir::Cache::pkgcache/f", "Dir::Cache::srcpkgcache/f", "Dir::Log/d",
     "Dir::Etc::sourcelist/f"],
)  # fmt: skip
def test_all_that_apt_writes_lies_in_the_root(index: Index, place: str) -> None:
    done = index.root.run("apt-config", "shell", "place", place)
    path = Path(done.stdout.partition("=")[2].strip().strip("'"))
    assert path.is_relative_to(index.root.folder)


def test_nothing_of_the_hosts_configuration_is_read(index: Index) -> None:
    done = index.root.run("apt-config", "dump")
    assert "DPkg::Post-Invoke" not in done.stdout
    assert 'Dir::Etc::parts "/dev/null"' in done.stdout


def test_the_mirrors_are_those_of_this_machine_with_the_suite_replaced() -> None:
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    try:
        suites = suites_of("debian", "bullseye")
    except InputError as error:
        pytest.skip(str(error))
    assert [suite.name for suite in suites] == ["bullseye", "bullseye-updates", "bullseye-security"]
    assert {suite.uri for suite in suites} <= set(listed.stdout.split())


def test_a_distribution_without_apt_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="alpine"):
        suites_of("alpine", "3.19")
