"""When package lists can be resolved into one set, and the merged candidates worth offering."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from partition.environments.shared import SetMember


class Pins:
    """The version constraints of a growing set of package lists."""

    def __init__(self) -> None:
        self._specifiers: dict[str, SpecifierSet] = {}
        self._exact: dict[str, set[str]] = defaultdict(set)
        self._direct: dict[str, str] = {}

    def admits(self, requirements: Iterable[str]) -> bool:
        """Whether every exact pin, old and new, stays inside every declared range.

        Ranges without an exact pin are not tested for emptiness: that is the resolver's work. Markers
        are taken as true.
        """
        parsed = [item for item in map(_parse, requirements) if item is not None]
        specifiers = dict(self._specifiers)
        exact = defaultdict(set, {name: set(versions) for name, versions in self._exact.items()})
        for name, requirement in parsed:
            if requirement.url and self._direct.get(name, requirement.url) != requirement.url:
                return False
            specifiers[name] = specifiers.get(name, SpecifierSet()) & requirement.specifier
            exact[name] |= _exact(requirement)
        names = {name for name, _ in parsed}
        return all(
            len(exact[name]) <= 1 and all(specifiers[name].contains(v, prereleases=True) for v in exact[name])
            for name in names
        )

    def add(self, requirements: Iterable[str]) -> None:
        """Take the constraints of one list in."""
        for name, requirement in filter(None, map(_parse, requirements)):
            self._specifiers[name] = self._specifiers.get(name, SpecifierSet()) & requirement.specifier
            self._exact[name] |= _exact(requirement)
            if requirement.url:
                self._direct[name] = requirement.url


def agreeing(members: Sequence[SetMember]) -> tuple[SetMember, ...]:
    """Return the longest prefix-greedy subset whose pins agree: each list that fits the ones before it."""
    pins, kept = Pins(), []
    for member in members:
        if pins.admits(member.pip):
            pins.add(member.pip)
            kept.append(member)
    return tuple(kept)


def _parse(text: str) -> tuple[str, Requirement] | None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    return canonicalize_name(requirement.name), requirement


def _exact(requirement: Requirement) -> set[str]:
    return {
        item.version
        for item in requirement.specifier
        if item.operator in {"==", "==="} and "*" not in item.version
    }
