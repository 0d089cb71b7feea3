"""The commands as functions on plain objects; ``import partition`` offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.caps import PRESETS
from partition.environments.census import Census
from partition.environments.drivers import explain as explain_tasks
from partition.plan import propose as proposing
from partition.plan import sweep as sweeping
from partition.plan.limits import limits_for
from partition.plan.problem import read_problem
from partition.plan.standing import Standing, read_standing
from partition.rewrite.command import rewrite_dataset as rewrite
from partition.rewrite.export import read_plan as load_plan
from partition.tasks.dataset import open_dataset, read_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from partition.environments.count import CountResult
    from partition.environments.drivers import Explanation
    from partition.plan.document import Curve, Plan
    from partition.tasks.model import Task

__all__ = ["count", "explain", "load_plan", "load_tasks", "propose", "rewrite", "sweep"]


def load_tasks(source: str, *, strict: bool = False) -> list[Task]:
    """Read every task of a dataset; tasks at fault are left out, or raise where `strict`.

    Parameters
    ----------
    source
        Anything that ``envfold count`` takes.

    Raises
    ------
    InputError
        The dataset cannot be read; with `strict`, also where one task is at fault. Carries every fault.
    """
    return read_all(open_dataset(source), strict=strict)[0]


def count(source: str, *, key: str = "content", target: str | None = None) -> CountResult:
    """Count the snapshots that Harbor would build for a dataset, reading it as a stream.

    Parameters
    ----------
    key
        ``content`` (Harbor 0.20 and later) or ``legacy`` (0.9 to 0.16).
    target
        Provider target that is part of the snapshot names.

    Raises
    ------
    InputError
        The dataset cannot be read; tasks at fault are in the result.
    """
    census = Census(generation=key, target=target)
    for item in open_dataset(source).tasks():
        census.add(item)
    return census.result()


def explain(source: str) -> Explanation:
    """Say which drivers keep the environments of a dataset apart.

    Raises
    ------
    InputError
        The dataset cannot be read; tasks at fault are in the result.
    """
    return explain_tasks(open_dataset(source).tasks())


def propose(
    source: str,
    *,
    cap: int | None = None,
    preset: str | None = None,
    existing: Path | None = None,
    previous: Path | None = None,
    seed: int = 0,
    strict: bool = False,
) -> Plan:
    """Choose at most `cap` shared environments for a dataset and assign every task.

    Raises
    ------
    EnvfoldError
        As ``envfold propose``: input at fault, a cap exceeded, nothing feasible.
    """
    standing = read_standing(existing, previous)
    caps = PRESETS[preset] if preset else None
    limits = limits_for(cap, preset=caps, existing=len(standing.names), seed=seed)
    return proposing.propose(read_problem(open_dataset(source), standing, strict=strict), limits)


def sweep(source: str, *, ks: Sequence[int] = range(1, 41), seed: int = 0, strict: bool = False) -> Curve:
    """Return the curve of predicted oracle yield over `ks`, beside the rules in use today.

    Raises
    ------
    EnvfoldError
        As ``envfold sweep``.
    """
    limits = limits_for(max(ks), preset=None, existing=0, seed=seed)
    return sweeping.sweep(read_problem(open_dataset(source), Standing(), strict=strict), limits, ks)
