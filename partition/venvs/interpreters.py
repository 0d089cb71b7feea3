"""Interpreters: which ones uv resolves for and installs, which the user gives by path, what they take."""

from __future__ import annotations

import csv
import json
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.errors import InputError
from partition.shipped import shipped
from partition.venvs.disk import size_of_folder
from partition.venvs.resolver import program

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

UV_BYTES = 121_000_000
"""Mean bytes on disk of an interpreter that ``uv python install`` brings: seven took 0.85 GB."""

_OLDEST_OF_UV = (3, 6)
"""The oldest interpreter that uv resolves for; uv 0.13 refuses others by name."""

_LEFT = (".a", "test", "tests", "idlelib", "site-packages")
"""What a copy of an interpreter leaves behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """One minor version.

    Parameters
    ----------
    minor, full
        ``3.9`` and ``3.9.25``: the newest patch release where none is given by path.
    path
        Its program where it is given; None where it is not.
    installable
        Whether ``uv python install`` has it.
    resolver
        ``uv``, ``pip`` (its own, where it is given), or empty where nothing resolves for it.
    """

    minor: str
    full: str
    path: Path | None
    installable: bool
    resolver: str

    @property
    def bytes(self) -> int:
        """Bytes that it takes in an image: measured where it is given, else a mean over uv's."""
        if self.path is None:
            return UV_BYTES
        size = size_of_folder(self.path.resolve().parents[1], without=_LEFT)
        return size.once + size.each


def interpreter(minor: str, given: Mapping[str, Path] | None = None) -> Interpreter:
    """Return what is known of an interpreter.

    Parameters
    ----------
    minor
        ``3.9``.
    given
        Path of the program of each interpreter that the user has, by minor version.

    Raises
    ------
    InputError
        The given program is not that interpreter.
    """
    path = (given or {}).get(minor)
    served = _served()
    numbers = tuple(map(int, minor.split(".")))
    full = _version_of(path, minor) if path else served.get(minor) or _ended().get(minor) or minor
    known = minor in served or minor in _ended() or path is not None
    resolver = "uv" if known and numbers >= _OLDEST_OF_UV else "pip" if path else ""
    return Interpreter(minor=minor, full=full, path=path, installable=minor in served, resolver=resolver)


def served_by_uv() -> tuple[str, ...]:
    """Return the minor versions that ``uv python install`` has, oldest first."""
    return tuple(sorted(_served(), key=lambda each: tuple(map(int, each.split(".")))))


@lru_cache(maxsize=1)
def _served() -> dict[str, str]:
    """Return the newest final patch release of each minor version, from the list that is part of uv."""
    done = subprocess.run(
        [program(), "python", "list", "--all-versions", "--only-downloads", "--output-format=json",
         "--offline"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise InputError(
            "uv does not list its interpreters", hint=f"pip install -U uv; it said {done.stderr}"
        )
    newest: dict[str, tuple[int, int, int]] = {}
    for row in json.loads(done.stdout):
        parts = row["version_parts"]
        numbers = (parts["major"], parts["minor"], parts["patch"])
        final = row["version"] == ".".join(map(str, numbers))
        if row["implementation"] == "cpython" and row["variant"] == "default" and final:
            minor = f"{numbers[0]}.{numbers[1]}"
            newest[minor] = max(newest.get(minor, numbers), numbers)
    return {minor: ".".join(map(str, numbers)) for minor, numbers in newest.items()}


@lru_cache(maxsize=1)
def _ended() -> dict[str, str]:
    with shipped("venvs", "interpreters.csv").open(encoding="utf-8", newline="") as stream:
        return {row["python"]: row["last"] for row in csv.DictReader(stream)}


@lru_cache(maxsize=64)
def _version_of(path: Path, minor: str) -> str:
    code = "import sys; sys.stdout.write('%d.%d.%d' % sys.version_info[:3])"
    try:
        done = subprocess.run([path, "-I" if minor[0] == "3" else "-E", "-c", code], capture_output=True,
                              text=True, check=True, stdin=subprocess.DEVNULL)  # fmt: skip
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(
            f"{path} does not run as Python {minor}: {error}", hint="give another path"
        ) from error
    if not done.stdout.startswith(f"{minor}."):
        raise InputError(f"{path} is Python {done.stdout}, not {minor}", hint="give another path")
    return done.stdout
