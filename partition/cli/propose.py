"""``envfold propose``: choose at most K environments and assign every task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from partition.cli.output import Output, json_option
from partition.cli.planning import load, planning_options
from partition.environments.caps import PRESETS
from partition.plan.document import dump
from partition.plan.limits import limits_for
from partition.plan.propose import propose
from partition.report.plan import plan_table
from partition.writing import write_new
from solvers.selection.document import SelectionDocument
from solvers.selection.document import dump as dump_instance

if TYPE_CHECKING:
    from partition.plan.limits import Limits
    from partition.plan.problem import Problem


@click.command("propose")
@planning_options
@click.option("--cap", type=int, help="K: new environments at most. Default: the preset's, else 8.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the plan to this file.")
@click.option(
    "--dump-instance",
    "instance_file",
    type=click.Path(path_type=Path),
    help="Also write what the solver is given, for `python -m solvers select`.",
)
@json_option
def command(
    *,
    dataset: str,
    preset: str | None,
    existing: Path | None,
    previous: Path | None,
    seed: int,
    strict: bool,
    cap: int | None,
    out: Path | None,
    instance_file: Path | None,
    as_json: bool,
) -> None:
    """Choose at most K shared environments for DATASET and assign every task."""
    output = Output(json=as_json)
    caps = PRESETS[preset] if preset else None
    limits_for(cap, preset=caps, existing=0)
    problem, standing = load(output, dataset, existing=existing, previous=previous, strict=strict)
    limits = limits_for(cap, preset=caps, existing=len(standing.names), seed=seed)
    if instance_file is not None:
        write_new(instance_file, _instance(problem, limits))
        output.say(f"wrote {instance_file}")
    with output.progress("choosing environments"):
        plan = propose(problem, limits)
    if out is not None:
        write_new(out, dump(plan))
        output.say(f"wrote {out}")
    if output.json:
        output.document(plan.model_dump(mode="json"))
    else:
        output.data(plan_table(plan))


def _instance(problem: Problem, limits: Limits) -> bytes:
    """Return the selection instance; a class goes by the first of its tasks."""
    return dump_instance(
        SelectionDocument(
            instance=problem.instance(limits),
            classes=tuple(task_class.tasks[0] for task_class in problem.table.classes),
            candidates=tuple(environment.name for environment in problem.environments),
        )
    )
