"""What becomes of a spec: a lock, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from partition.venvs.spec import VenvSpec

Kind: TypeAlias = Literal[
    "unsatisfiable", "vanished", "not-yet", "network", "hostile", "interpreter", "source"
]
"""Why there is no lock.

``unsatisfiable``
    The requirements contradict each other, the interpreter or the platform.
``vanished``
    The index no longer has, or never had, what is asked for.
``not-yet``
    The index has it, from a day after the spec's date.
``network``
    The index could not be reached, or the cache lacks the answer while offline: ask again.
``hostile``
    A requirement is none, or points elsewhere than at an index.
``interpreter``
    Nothing here resolves for the interpreter.
``source``
    It must be built to tell what it needs, and nothing is built here.
"""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Locked:
    """One package of a lock.

    Parameters
    ----------
    hashes
        ``sha256:<hex>`` of the files that an installer may take on the lock's platform, sorted.
    source_only
        Whether it is built when it is installed.
    url
        The source distribution's address, where it is built.
    """

    name: str
    version: str
    hashes: tuple[str, ...] = ()
    url: str | None = None
    source_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A whole environment, version by version.

    Parameters
    ----------
    spec
        What it was made for.
    packages
        Sorted by name.
    python
        Patch release that it was resolved for.
    build
        Upper bounds, as of the spec's date, on what source-only packages are built with: a constraints file
        for ``PIP_CONSTRAINT`` or ``--build-constraint``; empty where the spec has no date. A whole
        environment's is that of its newest package.
    apt
        Debian packages that building its source-only packages needs, sorted.
    notes
        What to warn of: no date, yanked releases, dependencies that are not known.
    """

    spec: VenvSpec
    packages: tuple[Locked, ...]
    python: str
    build: str = ""
    apt: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """A requirements file with hashes, for ``--require-hashes`` and ``--no-deps``."""
        lines = []
        for each in self.packages:
            digests = "".join(f" \\\n    --hash={digest}" for digest in each.hashes)
            lines.append(f"{each.name}=={each.version}{digests}\n")
        return "".join(lines)

    @property
    def versions(self) -> dict[str, str]:
        """Version by package."""
        return {each.name: each.version for each in self.packages}

    @property
    def source_only(self) -> tuple[Locked, ...]:
        """Packages that are built when they are installed."""
        return tuple(each for each in self.packages if each.source_only)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlockable:
    """A spec without a lock; its tasks install at run time.

    Parameters
    ----------
    reason
        The resolver's own words.
    kind
        See `Kind`.
    """

    spec: VenvSpec
    reason: str
    kind: Kind
