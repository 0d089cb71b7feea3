"""Order of Debian versions, and relations between packages (Debian Policy 5.6.12 and 7.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cmp_to_key, lru_cache
from itertools import zip_longest

_DIGITS = re.compile(r"(\d+)")
_ALTERNATIVE = re.compile(
    r"([a-z0-9][a-z0-9+.-]*)(?::(\w+))?\s*(?:\(\s*(<<|<=|=|>=|>>|<|>)\s*([^\s)]+)\s*\))?"
)
_HOLDS = {
    "<<": lambda order: order < 0,
    "<": lambda order: order <= 0,
    "<=": lambda order: order <= 0,
    "=": lambda order: order == 0,
    ">=": lambda order: order >= 0,
    ">": lambda order: order >= 0,
    ">>": lambda order: order > 0,
}


@dataclass(frozen=True, slots=True)
class Relation:
    """One package of a dependency field: ``libc6 (>= 2.36)``; an empty operator allows every version."""

    name: str
    operator: str = ""
    version: str = ""

    def allows(self, version: str | None) -> bool:
        """Whether a version satisfies it; None is a provided name without a version."""
        if not self.operator:
            return True
        return version is not None and _HOLDS[self.operator](compare(version, self.version))

    def __str__(self) -> str:
        """Return it as written in a control file."""
        return f"{self.name} ({self.operator} {self.version})" if self.operator else self.name


@lru_cache(maxsize=65536)
def relations(field: str) -> tuple[tuple[Relation, ...], ...]:
    """Return a dependency field as groups, one of whose alternatives must hold."""
    groups = []
    for group in field.split(","):
        found = (_ALTERNATIVE.match(each.strip()) for each in group.split("|"))
        alternatives = tuple(Relation(each[1], each[3] or "", each[4] or "") for each in found if each)
        if alternatives:
            groups.append(alternatives)
    return tuple(groups)


def compare(left: str, right: str) -> int:
    """Return a number below, at or above zero as `left` is older than, equal to or newer than `right`."""
    (left_epoch, *left_parts), (right_epoch, *right_parts) = _parts(left), _parts(right)
    if left_epoch != right_epoch:
        return int(left_epoch) - int(right_epoch)
    return next((order for a, b in zip(left_parts, right_parts, strict=True) if (order := _order(a, b))), 0)


newest_last = cmp_to_key(compare)
"""Key that sorts versions, oldest first."""


def _parts(version: str) -> tuple[str, str, str]:
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, dash, revision = rest.rpartition("-")
    return (epoch if epoch.isdigit() else "0"), (upstream if dash else rest), (revision if dash else "0")


def _order(left: str, right: str) -> int:
    pieces = zip_longest(_DIGITS.split(left), _DIGITS.split(right), fillvalue="")
    for index, (a, b) in enumerate(pieces):
        if index % 2:
            order = int(a or 0) - int(b or 0)
        else:
            keys = zip_longest(map(_weight, a), map(_weight, b), fillvalue=0)
            order = next((x - y for x, y in keys if x != y), 0)
        if order:
            return order
    return 0


def _weight(character: str) -> int:
    # tilde before the end, the end before letters, letters before the rest
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256
