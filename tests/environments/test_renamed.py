"""What a release no longer has is known with its successor there."""

from __future__ import annotations

import pytest

from partition.environments.renamed import as_named_on, gone_packages, there_on
from partition.environments.render import render
from partition.environments.shared import SharedEnvironment


@pytest.mark.parametrize(
    ("package", "release", "successor"),
    [
        ("libgl1-mesa-glx", "trixie", "libgl1"),
        ("libssl1.1", "bookworm", "libssl3"),
        ("libssl1.1", "trixie", "libssl3"),
        ("openjdk-11-jdk", "bookworm", "openjdk-17-jdk"),
        ("openjdk-11-jdk", "trixie", "openjdk-21-jdk"),
        ("libicu67", "trixie", "libicu76"),
        ("netcat", "bookworm", "netcat-openbsd"),
        ("python-dev", "trixie", "python3-dev"),
        ("python3-distutils", "trixie", "python3-setuptools"),
    ],
)
def test_a_successor_is_one_that_the_release_has(package: str, release: str, successor: str) -> None:
    gone = gone_packages("debian", release)
    assert gone[package] == successor
    assert successor not in gone


@pytest.mark.parametrize(
    ("package", "release"),
    [
        ("libgl1-mesa-glx", "bookworm"),
        ("libssl1.1", "bullseye"),
        ("git", "trixie"),
        # apt takes libasound2t64 by itself
        ("libasound2", "trixie"),
        ("python3-distutils", "bookworm"),
    ],
)
def test_what_a_release_has_or_finds_by_itself_is_not_gone(package: str, release: str) -> None:
    assert package not in gone_packages("debian", release)


def test_nothing_is_known_of_a_release_that_is_not_known() -> None:
    assert gone_packages("debian", None) == gone_packages(None, None) == gone_packages("alpine", "3.20") == {}


def test_packages_are_installed_by_the_names_of_the_base() -> None:
    wanted = ("jq", "libssl1.1=1.1.1n-0", "netcat", "netcat-openbsd")
    assert as_named_on("debian:bookworm", wanted) == ("jq", "libssl3", "netcat-openbsd")
    assert as_named_on("debian:bullseye", wanted) == wanted
    made = render(SharedEnvironment(name="e", origin="own", base="python:3.11-slim-bookworm", apt=wanted))
    assert "        jq \\\n        libssl3 \\\n        netcat-openbsd \\\n" in made


def test_another_version_of_a_program_does_not_stand_in_for_it() -> None:
    wanted = ("jq", "libicu67", "openjdk-11-jdk", "python2")
    assert as_named_on("debian:bookworm", wanted) == ("jq", "libicu72", "openjdk-11-jdk", "python2")
    assert there_on("debian:bookworm", wanted) == ("jq", "libicu72")
    assert there_on("debian:bullseye", wanted) == wanted
