"""The Plan and the Curve as documents: versioned, validated when read, stable when written."""

from __future__ import annotations

import difflib
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from partition.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = "1"
Status = Literal["OPTIMAL", "FEASIBLE", "INFEASIBLE", "UNKNOWN"]


class _Document(BaseModel):
    # JSON has no NaN, and pydantic would write null for it
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class PackageList(_Document):
    """One family's package list that a venv serves."""

    family: str
    version: str
    repo: str | None = None
    commit: str | None = Field(default=None, description="commit at which the requirement files are read")
    pip: list[str] = []
    conda: list[str] = []
    requirement_files: list[str] = []


class Venv(_Document):
    """One interpreter with one set of packages baked into an environment."""

    name: str
    python: str | None = Field(description="minor version; null where the packages' own files decide")
    lists: list[PackageList]


class Environment(_Document):
    """One shared environment."""

    name: str
    snapshot: str = Field(description="name of the snapshot that Harbor builds from the Dockerfile")
    exists: bool = Field(description="the organisation has it already: reusing it is free")
    origin: str = Field(description="interpreter, own, merged, cluster, previous or existing")
    base: str
    distribution: str | None
    release: str | None
    python: str | None
    apt: list[str]
    venvs: list[Venv]
    dockerfile: str
    tasks: int = Field(description="tasks assigned to it")
    families: dict[str, int] = Field(description="tasks by repository family, most first")
    predicted_yield: float = Field(description="mean over its tasks")
    predicted_size_bytes: int = Field(description="rough: within a factor of two")


class Assignment(_Document):
    """Where one task goes, and what it does at run time before the agent starts."""

    environment: str
    repo: str | None = Field(default=None, description="owner/name; null where nothing says")
    version: str | None = Field(default=None, description="release series; null where nothing says")
    venv: str | None = Field(description="baked venv that serves it; null where it installs its own")
    setup: list[dict[str, Any]] = Field(description="steps at run time, in order")
    predicted_yield: float
    low: float
    high: float


class Refusal(_Document):
    """A task that the plan does not fold, and why; it still takes what snapshot it took before."""

    task: str
    reason: str
    repo: str | None = Field(default=None, description="owner/name; null where nothing says")
    version: str | None = Field(default=None, description="release series; null where nothing says")


class Prediction(_Document):
    """Predicted oracle yield over the foldable tasks, with a 95 % interval over the priors."""

    predicted_yield: float
    low: float
    high: float
    ceiling: float = Field(description="predicted yield of every task in its own environment")
    tasks: int = Field(description="foldable tasks: what the yield is a share of")


class PlanLimits(_Document):
    """The caps that the plan was made for."""

    max_environments: int = Field(description="K: new snapshots")
    max_new: int = Field(description="new snapshots that every cap leaves room for")
    preset: str | None
    organisation: int | None = Field(description="snapshots that may exist in all")
    existing: int = Field(description="snapshots that exist already")
    disk_bytes: int | None
    deterministic_time: float


class Inputs(_Document):
    """Digests of everything that the plan was made from."""

    dataset: str
    kind: str
    revision: str | None
    tasks: int
    digest: str = Field(description="SHA-256 over the tasks' ids and digests")
    existing: str | None = Field(description="SHA-256 of the --existing file")
    previous: str | None = Field(description="SHA-256 of the --previous plan")
    faults: list[str] = Field(description="tasks that could not be read, and why")


class PseudoCount(_Document):
    """The prior of one hazard."""

    hazard: str
    failures: float
    passes: float
    unit: str


class YieldModel(_Document):
    """What the predictions rest on."""

    name: str
    hazards: list[PseudoCount]


class Plan(_Document):
    """Chosen environments, the assignment of every task, predictions and their bounds."""

    schema_version: str = SCHEMA_VERSION
    envfold_version: str
    objective: float = Field(description="expected oracle passes")
    bound: float = Field(description="no choice among the candidates within the limits expects more")
    gap: float
    status: Status
    method: str
    seed: int
    limits: PlanLimits
    inputs: Inputs
    candidates: int
    classes: int
    prediction: Prediction
    yield_model: YieldModel
    environments: list[Environment]
    assignment: dict[str, Assignment]
    refused: list[Refusal]

    def assigned(self, task_id: str) -> Assignment:
        """Return where a task goes.

        Raises
        ------
        InputError
            The plan does not fold such a task; ids that are close are named.
        """
        if task_id in self.assignment:
            return self.assignment[task_id]
        refused = next((each.reason for each in self.refused if each.task == task_id), None)
        if refused is not None:
            raise InputError(f"{task_id} is not folded: {refused}", hint="it keeps its own environment")
        close = difflib.get_close_matches(task_id, self.assignment, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "name a task of the plan's dataset"
        raise InputError(f"the plan has no task {task_id!r}", hint=hint)

    def environment_of(self, task_id: str) -> Environment:
        """Return a task's shared environment; see `assigned`."""
        name = self.assigned(task_id).environment
        return next(each for each in self.environments if each.name == name)

    def dockerfile_for(self, task_id: str) -> str:
        """Return the Dockerfile of a task's shared environment; see `assigned`."""
        return self.environment_of(task_id).dockerfile


class CurvePoint(_Document):
    """The best plan with at most k new environments."""

    k: int
    predicted_yield: float
    low: float
    high: float
    bound: float = Field(description="as a yield: no choice among the candidates predicts more")
    gap: float
    status: Status
    environments: int = Field(description="environments used, existing ones included")
    baked: int = Field(description="of these, environments that bake a package set")
    names: list[str]


class ComparisonPoint(_Document):
    """What a simple rule reaches with k environments, on the same predictions."""

    k: int
    predicted_yield: float
    low: float
    high: float
    environments: int


class Curve(_Document):
    """Predicted oracle yield against the number of shared environments."""

    schema_version: str = SCHEMA_VERSION
    envfold_version: str
    points: list[CurvePoint]
    comparisons: dict[str, list[ComparisonPoint]]
    ceiling: float
    tasks: int
    classes: int
    candidates: int
    seed: int
    inputs: Inputs
    yield_model: YieldModel


def digest_of(digests: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a dataset, from (id, digest) of each of its tasks in any order."""
    return hashlib.sha256(repr(sorted(digests)).encode()).hexdigest()


def dump(document: BaseModel) -> bytes:
    """Return the document as UTF-8 JSON; the same document gives the same bytes."""
    return document.model_dump_json(indent=1).encode() + b"\n"


def load_plan(path: str | Path) -> Plan:
    """Read a Plan document.

    Raises
    ------
    InputError
        The file is missing, is not JSON, or does not fit the schema; every misfit is named.
    """
    path = Path(path)
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}", hint="name a plan that `envfold propose` wrote"
        ) from error
    except ValueError as error:
        raise InputError(
            f"{path}: not JSON: {error}", hint="name a plan that `envfold propose` wrote"
        ) from error
    return parse_plan(raw, where=str(path))


def parse_plan(raw: object, *, where: str) -> Plan:
    """Validate a decoded Plan document; see `load_plan`."""
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{where}: schema_version is {version!r}, not {SCHEMA_VERSION!r}",
            hint="propose again with this version of envfold",
        )
    try:
        return Plan.model_validate(raw)
    except ValidationError as error:
        faults = [
            Fault(where=f"{where}: {'.'.join(map(str, item['loc']))}", what=item["msg"])
            for item in error.errors()
        ]
        raise InputError(f"{where}: not a plan", faults=faults, hint="propose again") from error
