"""From a dataset to the numbers that a plan is made of: read once, shared by propose and sweep."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from partition.candidates.generate import Candidates, generate
from partition.candidates.sizes import predicted_size
from partition.environments.replacing import why_not
from partition.errors import EnvfoldError, Fault, InputError
from partition.features.classes import classes_of
from partition.features.extract import features_of
from partition.plan.document import Inputs, PseudoCount, Refusal, YieldModel, digest_of
from partition.yields.hazards import HAZARDS
from partition.yields.structural import StructuralYields
from partition.yields.table import ClassTable
from solvers.selection.instance import SelectionInstance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from partition.environments.shared import SharedEnvironment
    from partition.features.model import TaskFeatures
    from partition.plan.limits import Limits
    from partition.plan.standing import Standing
    from partition.tasks.dataset import Dataset
    from partition.yields.structural import Predictions


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """Everything that does not depend on K.

    Parameters
    ----------
    features
        Of every task that can be folded, by id.
    table
        Their n classes.
    candidates, environments
        The generated candidates come first among the m environments; then those that stand already.
    predictions
        Shapes (n, m).
    sizes
        Shape (m,), bytes.
    previous
        Shape (n,), index of the environment that served each class in the previous plan, -1 for none.
    """

    inputs: Inputs
    faults: tuple[Fault, ...]
    refused: tuple[Refusal, ...]
    features: dict[str, TaskFeatures]
    table: ClassTable
    candidates: Candidates
    environments: tuple[SharedEnvironment, ...]
    yields: StructuralYields
    predictions: Predictions
    sizes: NDArray[np.int64]
    previous: NDArray[np.int64]

    @property
    def tasks(self) -> int:
        """Return the number of foldable tasks."""
        return len(self.features)

    @property
    def ceiling(self) -> float:
        """Return the predicted yield of every task in its own environment."""
        share = self.yields.ceiling[:, 0] / self.yields.ceiling.sum(axis=1)
        return float(share @ self.table.weights) / self.tasks

    def instance(self, limits: Limits) -> SelectionInstance:
        """Return the selection instance for a set of limits.

        Candidates above the disk cap are allowed to nobody: such a snapshot can never start.
        """
        fits = np.ones(len(self.environments), dtype=bool)
        if limits.disk_bytes is not None:
            fits = self.sizes <= limits.disk_bytes
        allowed = self.predictions.allowed & fits[None, :]
        return SelectionInstance(
            weights=self.table.weights,
            probabilities=np.where(allowed, self.predictions.mean, 0.0),
            allowed=allowed,
            existing=np.array([item.exists for item in self.environments], dtype=bool),
            sizes=self.sizes,
            max_new=limits.max_new,
            max_total=limits.max_total,
            previous=self.previous,
        )


def read_problem(
    dataset: Dataset,
    standing: Standing,
    *,
    strict: bool = False,
    refused: Mapping[str, str] = MappingProxyType({}),
    tick: Callable[[], None] = lambda: None,
) -> Problem:
    """Read a dataset and predict every class in every candidate.

    Parameters
    ----------
    refused
        Tasks that are not to be folded, whatever their features say, and why.

    Raises
    ------
    InputError
        No task can be folded, or `strict` and at least one task is at fault; carries every fault.
    """
    features, refusals, faults, digest = _read_features(dataset, refused, tick)
    if faults and strict:
        raise InputError(f"{dataset.source}: {len(faults)} fault{'s' * (len(faults) > 1)}", faults=faults)
    if not features:
        raise InputError(
            f"{dataset.source}: no task can be folded",
            hint="`envfold count` says what the tasks are",
            faults=faults,
        )
    table = ClassTable(classes_of(features.values()))
    candidates = generate(table, _commits(features.values()))
    environments = (*candidates.environments, *standing.environments(candidates.environments))
    yields = StructuralYields(table)
    return Problem(
        inputs=Inputs(
            dataset=dataset.source,
            kind=str(dataset.kind),
            revision=dataset.revision,
            tasks=len(features) + len(refusals),
            digest=digest,
            existing=standing.existing_digest,
            previous=standing.previous_digest,
            faults=[str(fault) for fault in faults],
        ),
        faults=tuple(faults),
        refused=tuple(sorted(refusals, key=lambda item: item.task)),
        features=features,
        table=table,
        candidates=candidates,
        environments=environments,
        yields=yields,
        predictions=_replayable(yields.predict(environments), table, environments),
        sizes=np.array([predicted_size(item) for item in environments], dtype=np.int64),
        previous=standing.previous_assignment(table, environments),
    )


def _replayable(
    predictions: Predictions, table: ClassTable, environments: Sequence[SharedEnvironment]
) -> Predictions:
    """Allow a task with a Dockerfile only where its base has a stand-in: there alone it can be rewritten."""
    bases = [item.base for item in table.features]
    shared = [item.base for item in environments]
    known = {base: [not why_not(base, name) for name in shared] for base in {*bases} if base is not None}
    fits = np.ones_like(predictions.allowed)
    for row, base in enumerate(bases):
        if base is not None:
            fits[row] = known[base]
    return replace(
        predictions, mean=np.where(fits, predictions.mean, 0.0), allowed=predictions.allowed & fits
    )


def yield_model() -> YieldModel:
    """Return the structural model's pseudo-counts as part of a document."""
    return YieldModel(
        name="structural",
        hazards=[
            PseudoCount(hazard=item.name, failures=item.failures, passes=item.passes, unit=item.unit)
            for item in HAZARDS
        ],
    )


def _read_features(
    dataset: Dataset, known: Mapping[str, str], tick: Callable[[], None]
) -> tuple[dict[str, TaskFeatures], list[Refusal], list[Fault], str]:
    features: dict[str, TaskFeatures] = {}
    refused: list[Refusal] = []
    faults: list[Fault] = []
    digests: list[tuple[str, str]] = []
    for item in dataset.tasks():
        tick()
        if isinstance(item, Fault):
            faults.append(item)
            continue
        digests.append((item.id, item.digest))
        if item.id in known:
            refused.append(Refusal(task=item.id, reason=known[item.id]))
            continue
        try:
            found = features_of(item)
        except EnvfoldError as error:
            faults += error.faults or (Fault(where=item.where, what=error.message, task=item.id),)
            refused.append(Refusal(task=item.id, reason=f"at fault: {error.message}"))
            continue
        if found.refusal:
            refused.append(
                Refusal(task=item.id, reason=found.refusal, repo=found.repo, version=found.version or None)
            )
        else:
            # where each came from is for `explain --features`; here it would outweigh all the rest
            features[item.id] = replace(found, sources=())
    digest = digest_of(digests)
    return dict(sorted(features.items())), refused, faults, digest


def _commits(features: Iterable[TaskFeatures]) -> dict[tuple[str, str], str]:
    """Return one recorded commit for each (repo, version): the latest dated, then the greatest task id."""
    known: dict[tuple[str, str], list[tuple[str, str, str]]] = defaultdict(list)
    for item in features:
        if item.repo and item.commit:
            known[item.repo, item.version].append((item.created_at or "", item.task, item.commit))
    return {key: max(entries)[2] for key, entries in known.items()}
