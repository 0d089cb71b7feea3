"""Names against a release: which it has, which others stand in for, and which are gone."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.apt.names import Request, read_requests
from partition.environments.renamed import gone_packages, successors
from partition.errors import Fault
from partition.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.apt.index import Index


@dataclass(frozen=True, slots=True, order=True)
class Renaming:
    """A name that the release does not have, and the package that stands in for it.

    Parameters
    ----------
    old, new
        Names.
    source
        How that is known: ``provides it in bookworm``, or the table of renamed packages and its source.
    """

    old: str
    new: str
    source: str

    def __str__(self) -> str:
        """Return it on one line."""
        return f"{self.old} -> {self.new} ({self.source})"


@dataclass(frozen=True, slots=True)
class Settled:
    """Names that apt can be asked for.

    Parameters
    ----------
    requests
        Sorted; each exists in the release, pins as whole versions.
    renamed
        What was replaced on the way, sorted.
    faults
        One for each name that is left out.
    """

    requests: tuple[Request, ...]
    renamed: tuple[Renaming, ...]
    faults: tuple[Fault, ...]
    of: dict[str, Request]
    """For each name as written the request that serves it."""


def settle(names: Iterable[str], index: Index, *, where: str = "apt") -> Settled:
    """Return what `names` are in the release of an index."""
    place = f"{index.distribution} {index.release}"
    of: dict[str, Request] = {}
    renamed: list[Renaming] = []
    faults: list[Fault] = []
    for written in sorted(set(names)):
        (requests, wrong) = read_requests((written,), architecture=index.architecture, where=where)
        faults += wrong
        for request in requests:
            found, hint = _find(request, index)
            if found is None:
                faults.append(Fault(where=where, what=f"{place} has no package {written}", hint=hint))
                continue
            if hint:
                renamed.append(Renaming(request.name, found.name, hint))
            pinned = _pinned(request if not hint else found, index)
            if isinstance(pinned, Request):
                of[written] = pinned
            else:
                faults.append(Fault(where=where, what=f"{place} does not have {written}", hint=pinned))
    return Settled(tuple(sorted(set(of.values()))), tuple(sorted(set(renamed))), tuple(faults), of)


def _find(request: Request, index: Index) -> tuple[Request | None, str]:
    """Return the package with how it stands in for the name, or None with what to do."""
    name = request.name
    if index.versions(name):
        return request, ""
    providers = index.providers(name)
    if len(providers) == 1:
        return Request(providers[0]), f"provides it in {index.release}"
    new = successors(index.distribution, index.release).get(name)
    if new and index.versions(new):
        how = _known_by().get((index.distribution, name), "")
        return Request(new), f"data/bases/renamed.csv: {how}".removesuffix(": ")
    if providers:
        return None, f"several packages stand in for it: name one of {', '.join(providers[:8])}"
    later = gone_packages(index.distribution, index.release).get(name)
    if later:
        return None, f"there it is {later}, which is another version"
    for sign, meaning in (("-", "removal"), ("+", "installation")):
        if name.endswith(sign) and index.versions(name[:-1]):
            return None, f"apt would read it as the {meaning} of {name[:-1]}"
    return None, "name a package that the release has, or leave it to the task's set-up"


@lru_cache(maxsize=1)
def _known_by() -> dict[tuple[str, str], str]:
    """Return for each renamed package how the table knows of it."""
    text = shipped("bases", "renamed.csv").read_text(encoding="utf-8")
    return {
        (row["distribution"], row["old"]): row.get("source", "") for row in csv.DictReader(text.splitlines())
    }


def _pinned(request: Request, index: Index) -> Request | str:
    if not request.version:
        return request
    versions = [package.version for package in index.versions(request.name)]
    fitting = [version for version in versions if request.allows(version)]
    if fitting:
        return Request(request.name, fitting[-1])
    return f"it has {', '.join(versions)}; pins of a package break when its release is updated"
