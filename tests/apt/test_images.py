"""What is predicted for a set of system packages is what a container engine makes of it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from images import DEBIAN, make_debian

from partition.apt.bases import base_with
from partition.apt.closure import closure, conflicts_of, survey
from partition.apt.index import Index, open_index

if TYPE_CHECKING:
    from pathlib import Path

    from partition.apt.simulation import Base

pytestmark = [
    pytest.mark.containers,
    pytest.mark.usefixtures("podman"),
]

BUILD = ("--isolation=chroot", "--network=host", "--pull=never", "--format=docker")
TAG = "localhost/envfold-test-apt-sizes"
NAMES = ["g++", "graphviz", "libpq-dev", "libxml2-dev", "make", "python3-docutils"]


def podman(*arguments: str | Path) -> str:
    done = subprocess.run(["podman", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def installed(image: str) -> dict[str, str]:
    lines = podman("run", "--rm", image, "dpkg-query", "-W", "-f", "${Package}\t${Version}\n").splitlines()
    return dict(line.split("\t") for line in lines)


def bytes_of(image: str) -> int:
    return int(podman("image", "inspect", image, "--format", "{{.Size}}"))


@pytest.fixture(scope="module")
def bookworm(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return open_index("bookworm", tmp_path_factory.mktemp("apt"))


@pytest.fixture(scope="module")
def base(bookworm: Index) -> Base:
    make_debian()
    return base_with(installed(DEBIAN).items(), bookworm)


def test_packages_and_bytes_are_those_of_a_built_image(bookworm: Index, base: Base, tmp_path: Path) -> None:
    lines = [
        f"FROM {DEBIAN}",
        "RUN apt-get update && apt-get install -y --no-install-recommends \\",
        f"    {' '.join(NAMES)} && apt-get clean && rm -rf /var/lib/apt/lists/*",
    ]
    (tmp_path / "Dockerfile").write_text("\n".join(lines) + "\n")
    podman("build", *BUILD, f"--tag={TAG}", tmp_path)
    found = closure(NAMES, bookworm, base=base)
    assert found.works
    before, after = installed(DEBIAN), installed(TAG)
    assert {package.name for package in found.packages} == after.keys() - before.keys()
    layer = bytes_of(TAG) - bytes_of(DEBIAN)
    assert found.bytes == pytest.approx(layer, rel=0.10)
    assert base.bytes + found.bytes == pytest.approx(bytes_of(TAG), rel=0.10)


def test_the_releases_that_mirrors_serve_are_known_with_their_conflicts(bookworm: Index, base: Base) -> None:
    pairs = conflicts_of(["git", "libcurl4-gnutls-dev", "libcurl4-openssl-dev"], bookworm, base=base)
    assert [pair.names for pair in pairs] == [("libcurl4-gnutls-dev", "libcurl4-openssl-dev")]


def test_a_survey_says_of_each_name_what_apt_says(bookworm: Index, base: Base) -> None:
    found = survey(NAMES, bookworm, base=base)
    for name in NAMES:
        alone = closure([name], bookworm, base=base)
        assert sum(found.needs[name].values()) == pytest.approx(alone.bytes, rel=0.02)
