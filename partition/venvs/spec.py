"""What a task asks of a virtual environment: interpreter, requirements, date."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from partition.environments.requirement import canonical_requirement, requirement_name
from partition.errors import Fault
from partition.venvs.conda import python_requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from partition.features.model import TaskFeatures

_MINOR = re.compile(r"(\d{1,2}\.\d{1,3})(?:\.\d{1,3})?\Z")
_SEEDS = ("pip", "setuptools", "wheel")
_LAST_WITH_SETUPTOOLS = (3, 11)
"""The last interpreter whose own ``venv`` brings setuptools (CPython's What's New in 3.12, ensurepip)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VenvSpec:
    """One virtual environment that a task asks for; equal specs are one environment.

    Parameters
    ----------
    python
        Minor version, ``3.9``.
    requirements
        Canonical PEP 508 requirements, sorted, each once.
    exact
        Whether they are a whole environment already: nothing is added to them.
    as_of
        The last day whose releases count; None where the task has no date.
    """

    python: str
    requirements: tuple[str, ...]
    exact: bool = False
    as_of: dt.date | None = None

    @property
    def key(self) -> str:
        """SHA-256 of what it asks for, hexadecimal."""
        asked = [self.python, self.requirements, self.exact, self.as_of and self.as_of.isoformat()]
        return hashlib.sha256(json.dumps(asked, ensure_ascii=True).encode()).hexdigest()

    def __lt__(self, other: VenvSpec) -> bool:
        """Order by interpreter, requirements, exactness and date; no date goes first."""
        return _order(self) < _order(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A spec, and what of a task's needs is not in it.

    Parameters
    ----------
    spec
        None where nothing says which interpreter.
    faults
        One for everything left out, with the line that asked for it.
    """

    spec: VenvSpec | None
    faults: tuple[Fault, ...] = ()


def spec_of(features: TaskFeatures) -> Derived:
    """Return the environment that a task's features ask for.

    Copied requirement files count by what they say. pip, setuptools and wheel are added where the task does
    not name them, as an environment of its date would have had them: set-up installs the task's own project
    with them. Direct references (URLs, version control), files that only the repository has, and conda
    packages without a counterpart on the index stay with run-time set-up: a fault names each.
    """
    faults: list[Fault] = []

    def leave(feature: str, value: str, what: str, hint: str) -> None:
        faults.append(Fault(where=_place(features, feature, value), what=what, hint=hint, task=features.task))

    wanted: dict[str, None] = {}
    for value in features.pip:
        problem = unlockable(value)
        if problem:
            leave("pip", value, f"{value!r} {problem}", "it is installed at run time, as the task writes it")
        else:
            wanted[canonical_requirement(value)] = None
    for value in features.conda:
        found = python_requirement(value)
        if found is None:
            hint = "it is installed at run time; data/venvs/conda_names.csv has the names"
            leave("conda", value, f"nothing on the package index is known to be conda's {value!r}", hint)
        elif found:
            wanted[found] = None
    for value in features.requirement_files:
        leave("requirement_files", value, f"{value} is not in the task's tree", "it is read at run time")
    names = {requirement_name(each) for each in wanted}
    for value in features.other:
        constraint = value.removeprefix("constraint:")
        if constraint != value and requirement_name(constraint) in names and not unlockable(constraint):
            wanted[canonical_requirement(constraint)] = None
    python = minor_version(features.python or "")
    if python is None:
        what = (
            f"{features.python!r} is no interpreter" if features.python else "nothing says which interpreter"
        )
        leave("python", features.python or "", what, "write it as 3.9")
        return Derived(spec=None, faults=tuple(faults))
    wanted |= dict.fromkeys(_missing_seeds(python, names))
    spec = VenvSpec(python=python, requirements=tuple(sorted(wanted)), as_of=_date(features.created_at))
    return Derived(spec=spec, faults=tuple(faults))


def exact_spec(
    *, python: str, pip: Iterable[str], conda: Iterable[str] = (), as_of: dt.date | None = None
) -> Derived:
    """Return the environment that lists of installed packages describe, version by version.

    Parameters
    ----------
    python
        ``3.9`` or ``3.9.20``.
    pip
        ``name==version``, as ``pip freeze`` writes it.
    conda
        ``name=version=build``, as ``conda env export`` writes it; what is not Python is left out.
    """
    faults: list[Fault] = []
    wanted: dict[str, str] = {}
    for value in sorted({*conda}):
        found = python_requirement(value)
        if found is None:
            what = f"nothing on the package index is known to be conda's {value!r}"
            hint = "it is left out; data/venvs/conda_names.csv has the names"
            faults.append(Fault(where="conda", what=what, hint=hint))
        elif found:
            wanted[requirement_name(found) or found] = found
    pins: dict[str, set[str]] = {}
    for value in sorted({*pip}):
        problem = unlockable(value)
        if problem:
            faults.append(Fault(where="pip", what=f"{value!r} {problem}", hint="install it at run time"))
        else:
            pins.setdefault(requirement_name(value) or value, set()).add(canonical_requirement(value))
    # pip installs over what conda brought
    requirements = {value for name, value in wanted.items() if name not in pins}.union(*pins.values())
    minor = minor_version(python)
    if minor is None:
        faults.append(Fault(where="python", what=f"{python!r} is no interpreter", hint="write it as 3.9"))
        return Derived(spec=None, faults=tuple(faults))
    spec = VenvSpec(python=minor, requirements=tuple(sorted(requirements)), exact=True, as_of=as_of)
    return Derived(spec=spec, faults=tuple(faults))


def minor_version(text: str) -> str | None:
    """Return ``3.9`` of ``3.9`` or ``3.9.20``; None of anything else."""
    match = _MINOR.match(text)
    return match[1] if match else None


def unlockable(requirement: str) -> str:
    """Say why a requirement cannot be part of a lock; empty where it can."""
    if any(ord(each) < 32 or ord(each) == 127 for each in requirement):
        return "holds control characters"
    try:
        parsed = Requirement(requirement)
    except InvalidRequirement:
        return "is no requirement (PEP 508)"
    return "is a direct reference, which no index can vouch for" if parsed.url else ""


def _missing_seeds(python: str, names: set[str | None]) -> Iterator[str]:
    major, minor = map(int, python.split("."))
    seeds = _SEEDS if (major, minor) <= _LAST_WITH_SETUPTOOLS else _SEEDS[:1]
    return (each for each in seeds if each not in names)


def _date(text: str | None) -> dt.date | None:
    try:
        return dt.date.fromisoformat((text or "")[:10])
    except ValueError:
        return None


def _place(features: TaskFeatures, feature: str, value: str) -> str:
    places = (place for name, said, place in features.sources if (name, said) == (feature, value))
    return next(places, features.task)


def _order(spec: VenvSpec) -> tuple[tuple[int, ...], tuple[str, ...], bool, str]:
    python = tuple(map(int, re.findall(r"\d+", spec.python)))
    return python, spec.requirements, spec.exact, spec.as_of.isoformat() if spec.as_of else ""
