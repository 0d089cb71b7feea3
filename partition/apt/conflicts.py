"""Which names cannot be installed together: read from the index, confirmed by apt."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.apt.simulation import EMPTY, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from partition.apt.index import Index, Package
    from partition.apt.names import Request
    from partition.apt.simulation import Base
    from partition.apt.versions import Relation


@dataclass(frozen=True, slots=True, order=True)
class Conflict:
    """Requests that do not install together although fewer of them do.

    Parameters
    ----------
    names
        Sorted; two as a rule, one where a package does not install at all, seldom more.
    because
        The packages that exclude one another, or apt's words.
    """

    names: tuple[str, ...]
    because: str

    def __str__(self) -> str:
        """Return it on one line."""
        return f"{' and '.join(self.names)}: {self.because}"


def read_conflicts(requests: Sequence[Request], index: Index, base: Base = EMPTY) -> tuple[Conflict, ...]:
    """Return the pairs of requests whose unavoidable dependencies exclude one another, by the index alone."""
    needs = Needs(index, base)
    owners: dict[str, set[str]] = defaultdict(set)
    for request in requests:
        for name in needs.unavoidable(request):
            owners[name].add(str(request))
    because: dict[tuple[str, ...], str] = {}
    for left in sorted(owners):
        for right, words in needs.excluded_by(left, owners):
            for a in owners[left]:
                for b in owners[right]:
                    if a not in owners[right] and b not in owners[left]:
                        because.setdefault(tuple(sorted((a, b))), words)
    return tuple(sorted(Conflict(names, words) for names, words in because.items()))


def find_conflict(
    requests: Sequence[Request], index: Index, *, base: Base = EMPTY, recommends: bool = False
) -> Conflict:
    """Return a smallest set of requests that does not install, out of a set that does not.

    Halves the set again and again (QuickXplain: Junker, AAAI 2004), so that n requests with a conflict of k
    cost about k log n simulations.
    """

    def works(some: Sequence[Request]) -> bool:
        return simulate(some, index, base=base, recommends=recommends).works

    found = smallest_failing(sorted(requests), works)
    answer = simulate(found, index, base=base, recommends=recommends)
    words = "; ".join(map(str, answer.unmet)) or answer.words
    return Conflict(tuple(sorted(map(str, found))), words)


def smallest_failing(
    items: Sequence[Request], works: Callable[[Sequence[Request]], bool]
) -> tuple[Request, ...]:
    """Return a subset that fails, all of whose proper subsets work; `items` fails and nothing works."""

    def search(kept: tuple[Request, ...], rest: Sequence[Request], *, grown: bool) -> tuple[Request, ...]:
        if grown and not works(kept):
            return ()
        if len(rest) == 1:
            return tuple(rest)
        half = len(rest) // 2
        left, right = tuple(rest[:half]), tuple(rest[half:])
        second = search(kept + left, right, grown=True)
        first = search(kept + second, left, grown=bool(second))
        return first + second

    return search((), items, grown=False)


class Needs:
    """Dependencies as the index states them, on top of a base."""

    def __init__(self, index: Index, base: Base = EMPTY) -> None:
        self._index = index
        self._base = {package.name: package.version for package in base.packages}
        self._direct: dict[tuple[str, str], tuple[str, ...]] = {}
        self._closed: dict[str, frozenset[str]] = {}

    def unavoidable(self, request: Request) -> frozenset[str]:
        """Return the packages outside the base that every way to install a request installs."""
        key = str(request)
        if key not in self._closed:
            first = self._version(request)
            found = {request.name}
            waiting = [first] if first else []
            while waiting:
                for name in self._only(waiting.pop()):
                    if name not in found:
                        found.add(name)
                        package = self._index.newest(name)
                        waiting += [package] if package else []
            self._closed[key] = frozenset(found)
        return self._closed[key]

    def within(self, request: Request, installed: dict[str, str], *, recommends: bool) -> frozenset[str]:
        """Return which of the installed packages a request needs; the first alternative that is there."""
        found = {request.name} & installed.keys()
        waiting = list(found)
        while waiting:
            name = waiting.pop()
            package = self._index.find(name, installed[name])
            if package is None:
                continue
            groups = package.depends + (package.recommends if recommends else ())
            for group in groups:
                if any(self._held(each, self._base) for each in group):
                    continue
                taken = next((held for each in group if (held := self._held(each, installed))), None)
                if taken and taken not in found:
                    found.add(taken)
                    waiting.append(taken)
        return frozenset(found)

    def excluded_by(self, name: str, others: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield those of `others` that a package cannot be beside, each with the package's words."""
        package = self._index.newest(name)
        for relation in package.excludes if package else ():
            for other in (relation.name, *self._index.providers(relation.name)):
                if other != name and other in others and self._meets(relation, other):
                    yield other, f"{name} excludes {relation}"

    def _version(self, request: Request) -> Package | None:
        if request.version:
            return self._index.find(request.name, request.version)
        return self._index.newest(request.name)

    def _only(self, package: Package) -> tuple[str, ...]:
        """Return the packages that a package cannot do without: groups that one package alone satisfies."""
        key = (package.name, package.version)
        if key not in self._direct:
            names = []
            for group in package.depends:
                if any(self._held(each, self._base) for each in group):
                    continue
                able = {name for each in group for name in self._able(each)}
                if len(able) == 1:
                    names.append(able.pop())
            self._direct[key] = tuple(names)
        return self._direct[key]

    def _able(self, relation: Relation) -> set[str]:
        names = (relation.name, *self._index.providers(relation.name))
        return {name for name in names if self._meets(relation, name)}

    def _meets(self, relation: Relation, name: str) -> bool:
        package = self._index.newest(name)
        return package is not None and _satisfies(package, relation)

    def _held(self, relation: Relation, installed: dict[str, str]) -> str | None:
        """Return the installed package that satisfies a relation, the named one before its providers."""
        for name in (relation.name, *self._index.providers(relation.name)):
            package = self._index.find(name, installed[name]) if name in installed else None
            if package and _satisfies(package, relation):
                return name
        return None


def _satisfies(package: Package, relation: Relation) -> bool:
    if package.name == relation.name and relation.allows(package.version):
        return True
    return any(
        each.name == relation.name and relation.allows(each.version or None) for each in package.provides
    )
