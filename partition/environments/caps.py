"""What providers allow and datasets aim at, as numbers; checking them is never skipped."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from partition.errors import Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """The caps of one provider, or the targets of one kind of dataset; None where there is none.

    Parameters
    ----------
    name
        What ``--preset`` calls it.
    snapshots
        Snapshots of the dataset, those that exist already included.
    new_snapshots
        Snapshots built in one launch; one that exists already under its name costs nothing.
    organisation_snapshots
        Snapshots of the organisation at one time, other datasets' included.
    disk_mb
        Disk that a task may ask for, in the unit of ``storage_mb`` in task.toml (1024 to the GB).
    snapshot_bytes
        Size of a snapshot, in bytes; a larger one can never start.
    ideal_snapshots
        Snapshots of the dataset that people like to see; going over it is no error.
    """

    name: str
    snapshots: int | None = None
    new_snapshots: int | None = None
    organisation_snapshots: int | None = None
    disk_mb: int | None = None
    snapshot_bytes: int | None = None
    ideal_snapshots: int | None = None


_DAYTONA = Preset(
    name="daytona",
    new_snapshots=10,
    organisation_snapshots=40,
    disk_mb=10 * 1024,
    # decimal: the provider refuses "10.04 GB" against "10 GB"
    snapshot_bytes=10 * 10**9,
)

PRESETS = {
    preset.name: preset
    for preset in (
        _DAYTONA,
        replace(_DAYTONA, name="daytona-60", organisation_snapshots=60),
        Preset(name="dataset", snapshots=9, ideal_snapshots=8),
    )
}
"""Presets by name. ``dataset`` is the ceiling "below 10, ideally at most 8" that datasets are held to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a dataset takes of what is capped.

    Parameters
    ----------
    snapshots
        Names of its snapshots.
    existing
        Names of the organisation's snapshots.
    disk_mb
        Largest disk that a task asks for, in MiB; None where none does.
    """

    snapshots: frozenset[str]
    existing: frozenset[str] = frozenset()
    disk_mb: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CapCheck:
    """Whether one cap holds.

    Parameters
    ----------
    preset
        Name of the preset, or ``--cap``.
    cap
        What is capped, in words.
    limit, value
        What is allowed, and what is needed.
    enforced
        Whether going over is an error: the cap was asked for.
    """

    preset: str
    cap: str
    limit: int
    value: int
    enforced: bool

    @property
    def holds(self) -> bool:
        """Whether the value is within the limit."""
        return self.value <= self.limit


def check_preset(preset: Preset, usage: Usage, *, enforced: bool) -> tuple[CapCheck, ...]:
    """Return one check for every cap that `preset` has."""
    new = len(usage.snapshots - usage.existing)
    rows = (
        ("new snapshots in one launch", preset.new_snapshots, new, enforced),
        (
            "snapshots of the organisation",
            preset.organisation_snapshots,
            len(usage.snapshots | usage.existing),
            enforced,
        ),
        ("snapshots of the dataset", preset.snapshots, len(usage.snapshots), enforced),
        ("ideal snapshots of the dataset", preset.ideal_snapshots, len(usage.snapshots), False),
        ("disk asked for by a task (MiB)", preset.disk_mb, usage.disk_mb or 0, enforced),
    )
    return tuple(
        CapCheck(preset=preset.name, cap=cap, limit=limit, value=value, enforced=is_enforced)
        for cap, limit, value, is_enforced in rows
        if limit is not None
    )


def check_cap(limit: int, usage: Usage) -> CapCheck:
    """Return the check of a plain ``--cap``: snapshots that do not exist yet.

    Raises
    ------
    UsageError
        The limit is not at least 1.
    """
    if limit < 1:
        raise UsageError(f"--cap {limit}: a cap is at least 1", hint="give the number of snapshots allowed")
    new = len(usage.snapshots - usage.existing)
    return CapCheck(preset="--cap", cap="snapshots to build", limit=limit, value=new, enforced=True)


def read_existing(text: str, *, where: str) -> frozenset[str]:
    """Read the names of an organisation's snapshots.

    Parameters
    ----------
    text
        A JSON list of names, or of objects with a ``name``, or such a list under ``items`` (the provider's
        answer); a plan, whose environments have a ``snapshot``; or one name a line, blank lines and lines
        that start with ``#`` left out.
    where
        The file's name in messages.

    Raises
    ------
    InputError
        The JSON does not parse or holds something else; one fault for each item.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith(("[", "{")):
        lines = (line.strip() for line in text.removeprefix("\ufeff").splitlines())
        return frozenset(line for line in lines if line and not line.startswith("#"))
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        fault = Fault(where=f"{where}:{line}", what=f"not JSON: {error}", hint="give a JSON list of names")
        raise InputError(f"{where}: not a list of snapshots", faults=[fault]) from error
    items = document
    if isinstance(document, dict):
        items = document.get("items", document.get("environments"))
    if not isinstance(items, list):
        fault = Fault(where=where, what="not a list of names", hint="give a JSON list of names")
        raise InputError(f"{where}: not a list of snapshots", faults=[fault])
    return frozenset(_names(items, where))


def _names(items: Iterable[object], where: str) -> list[str]:
    names = []
    faults = []
    for index, item in enumerate(items):
        name = item.get("snapshot", item.get("name")) if isinstance(item, dict) else item
        if isinstance(name, str) and name.strip():
            names.append(name.strip())
        else:
            faults.append(Fault(where=f"{where}[{index}]", what="neither a name nor an object with one"))
    if faults:
        raise InputError(f"{where}: {len(faults)} items are not snapshots", faults=faults)
    return names
