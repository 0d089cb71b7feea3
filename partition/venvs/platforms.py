"""Which wheels a base image can run: its C library decides (PEP 600, PEP 656)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache

from partition.errors import InputError
from partition.shipped import shipped

_GLIBC = (17, 28, *range(31, 41))
"""Minor versions of glibc 2 that uv has a platform for."""


@dataclass(frozen=True, slots=True, order=True)
class Platform:
    """What wheels are chosen for.

    Parameters
    ----------
    uv
        As ``uv pip compile --python-platform`` names it.
    libc
        ``glibc 2.36``, ``musl 1.2``.
    """

    uv: str
    libc: str


def platform_of(distribution: str | None, release: str | None) -> Platform:
    """Return the platform of a base image's release, for x86-64.

    Raises
    ------
    InputError
        Its C library is not known.
    """
    for key in ((distribution, release), (distribution, "")):
        libc = _libcs().get(key)
        if libc is not None:
            return _platform(libc)
    raise InputError(
        f"the C library of {distribution or 'an unknown distribution'} {release or ''} is not known".rstrip(),
        hint="write the release into the base image's tag, or add it to data/venvs/libc.csv",
    )


def _platform(libc: str) -> Platform:
    kind, _, version = libc.partition(" ")
    if kind == "musl":
        return Platform("x86_64-unknown-linux-musl", libc)
    minor = int(version.partition(".")[2])
    served = max((each for each in _GLIBC if each <= minor), default=17)
    return Platform(f"x86_64-manylinux_2_{served}", libc)


@lru_cache(maxsize=1)
def _libcs() -> dict[tuple[str | None, str | None], str]:
    with shipped("venvs", "libc.csv").open(encoding="utf-8", newline="") as stream:
        return {(row["distribution"], row["release"]): row["libc"] for row in csv.DictReader(stream)}
