"""Which environments may be one.

Equal specs are one by definition. Two locks are one where that is proved:

* They agree on every package that both hold. Each is closed under its packages' requirements, so that all
  packages of both, at the same versions, satisfy both specs: no resolver is asked.
* Else a resolver finds one lock for both specs' requirements, and in it every package that either spec names
  has the version that it has in that spec's own lock. What nobody names may move, as far as its dependents'
  own requirements allow.

No task's tests may depend on the difference. So a package that one of the two does not hold must neither
be forbidden to it nor be one that acts by being installed: a plugin, or a hook at start. Both rules are on
names, as locks know no contents; `plugin` says which. Where an environment must not gain anything, allow no
gain: then locks merge that are equal package by package, as those of one spec at two dates often are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from partition.environments.requirement import requirement_name
from partition.venvs.locked import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from partition.venvs.spec import VenvSpec

_PLUGIN = re.compile(
    r"pytest|(^|-)(plugin|plugins)(-|$)|^(anyio|hypothesis|typeguard|jaxtyping|coverage-enable-subprocess"
    r"|sphinxcontrib-.*|flake8-.*|pylint-.*|mypy-.*|setuptools-.*|tox-.*)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """One environment and the specs that it serves, sorted."""

    lock: Lock
    specs: tuple[VenvSpec, ...]


def plugin(name: str) -> bool:
    """Return whether a package of that name changes what others do merely by being installed."""
    return bool(_PLUGIN.search(name))


def merge(
    locks: Iterable[Lock],
    *,
    gain: int = 0,
    forbidden: Mapping[VenvSpec, frozenset[str]] | None = None,
    resolve: Callable[[VenvSpec], Lock | None] | None = None,
) -> tuple[Merged, ...]:
    """Return environments that serve the same specs, each by a lock that is proved to satisfy it.

    Every lock joins the first environment that it may, largest locks first: the result depends on the locks
    alone.

    Parameters
    ----------
    gain
        How many packages an environment may hold beyond those of any spec that it serves.
    forbidden
        Names of packages that the environment of a spec must not hold.
    resolve
        Returns a lock for a spec, or None: asked where two locks differ in a package that neither spec names.
        It is not asked where it is None itself.

    Returns
    -------
    Sorted by interpreter, then by their first spec.
    """
    rules = _Rules(gain=gain, forbidden=forbidden or {}, resolve=resolve)
    ordered = sorted(locks, key=lambda each: (each.python, each.spec.exact, -len(each.packages), each.spec))
    merged: list[Merged] = []
    for _, group in groupby(ordered, key=lambda each: (each.python, each.spec.exact)):
        merged += rules.fold(group)
    return tuple(sorted(merged, key=lambda each: each.specs))


@dataclass(frozen=True, kw_only=True)
class _Rules:
    gain: int
    forbidden: Mapping[VenvSpec, frozenset[str]]
    resolve: Callable[[VenvSpec], Lock | None] | None

    def fold(self, locks: Iterable[Lock]) -> list[Merged]:
        groups: list[tuple[Lock, list[Lock]]] = []
        for lock in locks:
            for place, (whole, members) in enumerate(groups):
                both = self._both(whole, lock)
                if both is not None and all(self._serves(both, each) for each in (*members, lock)):
                    groups[place] = (both, [*members, lock])
                    break
            else:
                groups.append((lock, [lock]))
        return [
            Merged(lock=whole, specs=tuple(sorted({each.spec for each in members})))
            for whole, members in groups
        ]

    def _both(self, first: Lock, second: Lock) -> Lock | None:
        """Return a lock that satisfies both, or None where there is no proof of one."""
        if first.versions == second.versions:
            # the earlier date is safe for both: nothing of a later day is in it
            return min(first, second, key=lambda each: (each.spec.as_of is None, each.spec))
        spec = _union(first.spec, second.spec)
        if len(first.versions.keys() ^ second.versions.keys()) > 2 * self.gain:
            return None
        if _agree(first.versions, second.versions):
            packages = {each.name: each for each in (*first.packages, *second.packages)}
            return Lock(
                spec=spec,
                packages=tuple(packages[name] for name in sorted(packages)),
                python=first.python,
                build=first.build if first.build == second.build else "",
                apt=tuple(sorted({*first.apt, *second.apt})),
                notes=tuple(sorted({*first.notes, *second.notes})),
            )
        return self.resolve(spec) if self.resolve and not spec.exact else None

    def _serves(self, whole: Lock, lock: Lock) -> bool:
        """Return whether tests of a spec see in `whole` what they see in its own lock."""
        versions = whole.versions
        own = lock.versions
        if own.keys() - versions.keys():
            return False
        gained = versions.keys() - own.keys()
        named = {requirement_name(each) for each in lock.spec.requirements}
        return (
            len(gained) <= self.gain
            and not any(plugin(each) for each in gained)
            and gained.isdisjoint(self.forbidden.get(lock.spec, frozenset()))
            and all(versions[name] == version for name, version in own.items() if name in named)
        )


def _agree(first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    return all(second.get(name, version) == version for name, version in first.items())


def _union(first: VenvSpec, second: VenvSpec) -> VenvSpec:
    requirements = tuple(sorted({*first.requirements, *second.requirements}))
    dates = [each.as_of for each in (first, second) if each.as_of]
    return replace(first, requirements=requirements, as_of=min(dates, default=None))
