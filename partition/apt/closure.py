"""Sets of system packages on a release: what they install, its bytes, what is missing, what excludes what."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.apt.conflicts import Conflict, Needs, find_conflict, read_conflicts
from partition.apt.settling import settle
from partition.apt.simulation import EMPTY, simulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partition.apt.index import Index
    from partition.apt.names import Request
    from partition.apt.settling import Renaming, Settled
    from partition.apt.simulation import Base, Installed
    from partition.errors import Fault


@dataclass(frozen=True, slots=True)
class Closure:
    """A set of names on a release and base.

    Parameters
    ----------
    settled
        The names as the release has them, and those it does not have.
    packages
        What gets installed on top of the base, sorted by name; none where the set does not install.
    removed
        What of the base has to go.
    conflicts
        Why the set does not install; none where it does.
    """

    settled: Settled
    packages: tuple[Installed, ...]
    removed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]

    @property
    def works(self) -> bool:
        """Whether every name exists in the release, under whatever name, and all install together."""
        return not self.conflicts and not self.settled.faults

    @property
    def bytes(self) -> int:
        """Sum of the packages' sizes."""
        return sum(package.bytes for package in self.packages)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Names that the release does not have."""
        return self.settled.faults

    @property
    def renamed(self) -> tuple[Renaming, ...]:
        """Names that others stand in for."""
        return self.settled.renamed


@dataclass(frozen=True, slots=True)
class Survey:
    """Many names at once, as a solver takes them.

    Parameters
    ----------
    settled
        The names as the release has them, and those it does not have.
    needs
        For each name as written the packages that it brings, itself included, with their bytes. A name that
        cannot be installed by itself is missing.
    conflicts
        Requests that exclude one another, sorted.
    groups
        The requests in as few parts as a greedy colouring finds; apt installs each part as a whole.
    """

    settled: Settled
    needs: Mapping[str, Mapping[str, int]]
    conflicts: tuple[Conflict, ...]
    groups: tuple[tuple[Request, ...], ...]


def closure(
    names: Iterable[str], index: Index, *, base: Base = EMPTY, recommends: bool = False, where: str = "apt"
) -> Closure:
    """Return what a set of names installs, as apt itself decides it.

    Raises
    ------
    InputError
        apt is not installed, or the cached index is damaged.
    """
    settled = settle(names, index, where=where)
    found = simulate(settled.requests, index, base=base, recommends=recommends)
    if found.works:
        return Closure(settled, found.packages, found.removed, ())
    _, conflicts = _grouped(settled.requests, index, base, recommends=recommends)
    return Closure(settled, (), (), conflicts)


def packages_of(
    names: Iterable[str], index: Index, *, base: Base = EMPTY, recommends: bool = False
) -> dict[str, int]:
    """Return the packages that a set of names installs on top of a base, each with its bytes.

    Names that the release does not have bring nothing, nor does a set that does not install: `closure` tells.
    """
    return {
        each.name: each.bytes for each in closure(names, index, base=base, recommends=recommends).packages
    }


def conflicts_of(
    names: Iterable[str], index: Index, *, base: Base = EMPTY, recommends: bool = False
) -> tuple[Conflict, ...]:
    """Return which of the names exclude one another, each confirmed by apt and sorted.

    Pairs whose unavoidable dependencies exclude one another are all among them. A pair that only fails with
    alternatives that apt chooses is found where the two come together in one part of the survey; that a
    planned set installs is for `closure` to prove.
    """
    return survey(names, index, base=base, recommends=recommends).conflicts


def survey(
    names: Iterable[str], index: Index, *, base: Base = EMPTY, recommends: bool = False, where: str = "apt"
) -> Survey:
    """Return needs and conflicts of any number of names, at the cost of a few runs of apt.

    Where several packages satisfy a dependency, the name brings the one that is there when all names of its
    part are installed, in the order in which the dependency lists them.
    """
    settled = settle(names, index, where=where)
    groups, conflicts = _grouped(settled.requests, index, base, recommends=recommends)
    needs = Needs(index, base)
    brought: dict[Request, dict[str, int]] = {}
    for group in groups:
        packages = simulate(group, index, base=base, recommends=recommends).packages
        installed = {package.name: package.version for package in packages}
        bytes_of = {package.name: package.bytes for package in packages}
        for request in group:
            within = sorted(needs.within(request, installed, recommends=recommends))
            brought[request] = {name: bytes_of[name] for name in within}
    served = {written: brought[request] for written, request in settled.of.items() if request in brought}
    return Survey(settled, served, conflicts, groups)


def _grouped(
    requests: Sequence[Request], index: Index, base: Base, *, recommends: bool
) -> tuple[tuple[tuple[Request, ...], ...], tuple[Conflict, ...]]:
    """Return parts that install, and the conflicts that kept them apart."""
    named = {str(request): request for request in requests}
    conflicts = [
        conflict
        for conflict in read_conflicts(requests, index, base)
        if not simulate(
            [named[name] for name in conflict.names], index, base=base, recommends=recommends
        ).works
    ]
    waiting = [_parts(requests, conflicts)]
    proven: list[tuple[Request, ...]] = []
    while waiting:
        parts = waiting.pop()
        proven = []
        for part in parts:
            if simulate(part, index, base=base, recommends=recommends).works:
                proven.append(part)
                continue
            conflicts.append(find_conflict(part, index, base=base, recommends=recommends))
            alone = {name for conflict in conflicts if len(conflict.names) == 1 for name in conflict.names}
            waiting = [_parts([each for each in requests if str(each) not in alone], conflicts)]
            break
    return tuple(proven), tuple(sorted(conflicts))


def _parts(requests: Sequence[Request], conflicts: Sequence[Conflict]) -> list[tuple[Request, ...]]:
    """Return a greedy colouring: each request in the first part where it completes no conflict."""
    of = defaultdict[str, list[frozenset[str]]](list)
    for conflict in conflicts:
        for name in conflict.names:
            of[name].append(frozenset(conflict.names) - {name})
    parts: list[dict[str, Request]] = []
    for request in sorted(requests, key=lambda each: (-len(of[str(each)]), each)):
        rest = of[str(request)]
        fitting = (part for part in parts if not any(others <= part.keys() for others in rest))
        part = next(fitting, None)
        if part is None:
            part = {}
            parts.append(part)
        part[str(request)] = request
    return [tuple(sorted(part.values())) for part in parts]
