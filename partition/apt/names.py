"""What a Dockerfile or a spec table calls a system package, read so that apt can only take it for a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from partition.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")
_VERSION = re.compile(r"[A-Za-z0-9.+:~*?-]+")
_LONGEST = 200


@dataclass(frozen=True, slots=True, order=True)
class Request:
    """A package by name, at a version where one is pinned.

    Parameters
    ----------
    name
        As Debian Policy 5.6.1 allows it.
    version
        Exact, or with the wildcards that apt knows (``15*``); empty where none is pinned.
    """

    name: str
    version: str = ""

    def __str__(self) -> str:
        """Return it as apt's command line takes it."""
        return f"{self.name}={self.version}" if self.version else self.name

    def allows(self, version: str) -> bool:
        """Whether a version is the pinned one."""
        return not self.version or fnmatchcase(version, self.version)


def read_requests(
    names: Iterable[str], *, architecture: str = "amd64", where: str = "apt"
) -> tuple[tuple[Request, ...], tuple[Fault, ...]]:
    """Return the packages that `names` mean, sorted, each once, and a fault for each that means none."""
    requests: set[Request] = set()
    faults: list[Fault] = []
    for written in sorted(set(names)):
        found = _read(written, architecture)
        if isinstance(found, Request):
            requests.add(found)
        else:
            what, hint = found
            faults.append(Fault(where=where, what=f"{_shown(written)} {what}", hint=hint))
    return tuple(sorted(requests)), tuple(faults)


def _read(written: str, architecture: str) -> Request | tuple[str, str]:
    name, equals, version = written.partition("=")
    if written.startswith("-"):
        return "is an option of apt, not a package", "leave it out"
    if "/" in written:
        if written.startswith((".", "/")) or written.endswith(".deb"):
            return (
                "is a file, not a package of the release",
                "bake the file, or leave it to the task's set-up",
            )
        return "names another release", "name the package alone, or choose a base image of that release"
    name, colon, foreign = name.partition(":")
    if colon and foreign not in {architecture, "all", "any", "native"}:
        return f"is of another architecture than {architecture}", "leave it to the task's set-up"
    if len(written) > _LONGEST or not _NAME.fullmatch(name):
        return "is not the name of a package", "names have lower-case letters, digits, +, - and . only"
    if equals and not _VERSION.fullmatch(version):
        return "has no version after the =", "write name=version, or the name alone"
    return Request(name, version)


def _shown(written: str) -> str:
    text = repr(written)
    return text if len(text) <= 80 else f"{text[:76]}...'"
