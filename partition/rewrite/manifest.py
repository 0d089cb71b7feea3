"""The manifest of a rewritten dataset: what became of every task, and what was counted afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from partition.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCHEMA_VERSION = "1"
Channel = Literal["healthcheck", "scripts", "setup-files"]


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Keys(_Document):
    """Snapshot keys of one task: the agent's container first, then each separate verifier's."""

    content: list[str | None] = Field(
        description="64 hexadecimal digits each, Harbor 0.20 and later; null where no snapshot is built"
    )
    legacy: list[str | None] = Field(
        description="likewise, Harbor 0.9 to 0.16; empty where that Harbor cannot hash it"
    )


class Reason(_Document):
    """One thing that cannot be done faithfully."""

    where: str
    what: str
    hint: str = ""


class TaskRecord(_Document):
    """What became of one task."""

    task: str
    environment: str | None = Field(description="shared environment; null where it keeps its own")
    channel: Channel | None = Field(description="how its set-up gets into the container; null without one")
    old: Keys
    new: Keys = Field(description="of what was written, read back")
    refused: list[Reason] = Field(description="why it keeps its own environment; empty where it is folded")
    notes: list[str] = Field(description="what a reader should know")


class WrittenEnvironment(_Document):
    """One shared environment as it was written."""

    name: str
    planned_snapshot: str = Field(description="name that the plan gives")
    snapshot: str = Field(description="name of the environment as written; it bakes more than was planned")
    legacy_snapshot: str
    tasks: int
    baked_steps: int = Field(description="build steps that all its tasks begin with, baked")
    payload_bytes: int = Field(description="set-ups too large for a command, held by the image")
    resources: dict[str, float | None] | None = Field(
        description="what every task now asks for, where they asked for different things"
    )


class Counts(_Document):
    """Distinct snapshots, by their content key."""

    snapshots: int
    of_environments: int
    of_verifiers: int = Field(description="those that only separate verifiers run in")
    legacy: int = Field(description="distinct snapshots by the legacy key")


class Source(_Document):
    """What the dataset was made from."""

    dataset: str
    kind: str
    revision: str | None
    tasks: int
    digest: str = Field(description="SHA-256 over the tasks' ids and digests")
    plan: str = Field(description="SHA-256 of the plan given")
    faults: list[str] = Field(description="tasks that cannot be read and are left out, and why")


class Summary(_Document):
    """Everything but the tasks."""

    schema_version: str = SCHEMA_VERSION
    envfold_version: str
    output: str
    channel: Channel
    source: Source
    cap: int = Field(description="snapshots that were allowed")
    preset: str | None
    before: Counts
    after: Counts = Field(description="of what was written, read back")
    tasks_written: int
    folded: int
    refused: int
    resolved_again: int = Field(description="how often the plan was solved again because of refusals")
    changes_of_plan: list[str] = Field(description="in what the plan as used differs from the one given")
    notes: list[str]
    environments: list[WrittenEnvironment]


class Manifest(Summary):
    """The whole document."""

    tasks: list[TaskRecord]


def manifest_lines(summary: Summary, tasks: Iterable[TaskRecord]) -> Iterator[bytes]:
    """Yield the manifest as UTF-8 JSON, a task a line; the tasks are never all in memory."""
    head = json.dumps(summary.model_dump(mode="json"), ensure_ascii=False, indent=1, allow_nan=False)
    yield head.removesuffix("\n}").encode() + b',\n "tasks": ['
    separator = b"\n  "
    for record in tasks:
        yield separator + line(record)
        separator = b",\n  "
    yield b"\n ]\n}\n"


def line(document: BaseModel) -> bytes:
    """Return a document as one line of JSON."""
    return json.dumps(document.model_dump(mode="json"), ensure_ascii=False, allow_nan=False).encode()


def load_manifest(path: str | Path) -> Manifest:
    """Read a manifest.

    Raises
    ------
    InputError
        The file is missing, is not JSON, or does not fit the schema; every misfit is named.
    """
    path = Path(path)
    hint = "name a manifest that `envfold rewrite` wrote"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint=hint) from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}", hint=hint) from error
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise InputError(f"{path}: schema_version is {version!r}, not {SCHEMA_VERSION!r}", hint=hint)
    try:
        return Manifest.model_validate(raw)
    except ValidationError as error:
        faults = [
            Fault(where=f"{path}: {'.'.join(map(str, item['loc']))}", what=item["msg"])
            for item in error.errors()
        ]
        raise InputError(f"{path}: not a manifest", faults=faults, hint=hint) from error
