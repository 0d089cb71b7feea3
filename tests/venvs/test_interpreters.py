from __future__ import annotations

import sys
from pathlib import Path

import pytest

from partition.environments.bases import releases_of
from partition.errors import InputError
from partition.venvs.interpreters import UV_BYTES, interpreter, served_by_uv
from partition.venvs.platforms import platform_of

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


def test_uv_serves_what_it_installs_by_its_newest_patch_release() -> None:
    found = interpreter("3.9")
    assert found.resolver == "uv"
    assert found.installable
    assert tuple(map(int, found.full.split("."))) >= (3, 9, 25)
    assert found.bytes == UV_BYTES
    assert "3.12" in served_by_uv()


def test_series_that_uv_no_longer_installs_still_resolve_as_of_their_last_patch() -> None:
    found = interpreter("3.6")
    assert (found.full, found.resolver, found.installable) == ("3.6.15", "uv", False)


@pytest.mark.parametrize("minor", ["2.7", "3.5", "4.1"])
def test_nothing_resolves_for_others_unless_a_program_is_given(minor: str) -> None:
    assert interpreter(minor).resolver == ""


def test_a_given_program_says_its_own_version_and_takes_its_own_bytes() -> None:
    program = Path(sys.base_prefix) / "bin" / f"python{HERE}"
    found = interpreter(HERE, {HERE: program})
    assert found.full == sys.version.split()[0]
    assert found.path == program


def test_a_given_program_that_is_another_is_refused() -> None:
    with pytest.raises(InputError, match=r"not 3\.1\Z"):
        interpreter("3.1", {"3.1": Path(sys.executable)})
    with pytest.raises(InputError, match="does not run"):
        interpreter("2.7", {"2.7": Path("/nowhere/python2.7")})


def test_wheels_follow_the_c_library_of_the_base_image() -> None:
    assert platform_of("debian", "bookworm").uv == "x86_64-manylinux_2_36"
    assert platform_of("debian", "buster").uv == "x86_64-manylinux_2_28"
    assert platform_of("debian", "stretch").uv == "x86_64-manylinux_2_17"
    assert platform_of("debian", "trixie").uv == "x86_64-manylinux_2_40"
    assert platform_of("alpine", "3.19").uv == "x86_64-unknown-linux-musl"
    with pytest.raises(InputError, match="is not known"):
        platform_of("debian", "wheezy")
    with pytest.raises(InputError, match="unknown distribution"):
        platform_of(None, None)


def test_every_debian_release_that_mirrors_still_have_is_known() -> None:
    assert {"bullseye", "bookworm", "trixie"} <= {*releases_of("debian")}
    for release in ("bullseye", "bookworm", "trixie"):
        assert platform_of("debian", release).libc.startswith("glibc 2.")
