"""``envfold propose``: choose at most K environments and assign every task."""

from __future__ import annotations

from pathlib import Path

import click

from partition.cli.output import Output, json_option
from partition.cli.planning import load, planning_options
from partition.environments.caps import PRESETS
from partition.plan.document import dump
from partition.plan.limits import limits_for
from partition.plan.propose import propose
from partition.report.plan import plan_table
from partition.writing import write_new


@click.command("propose")
@planning_options
@click.option("--cap", type=int, help="K: new environments at most. Default: the preset's, else 8.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the plan to this file.")
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
    as_json: bool,
) -> None:
    """Choose at most K shared environments for DATASET and assign every task."""
    output = Output(json=as_json)
    caps = PRESETS[preset] if preset else None
    limits_for(cap, preset=caps, existing=0)
    problem, standing = load(output, dataset, existing=existing, previous=previous, strict=strict)
    limits = limits_for(cap, preset=caps, existing=len(standing.names), seed=seed)
    with output.progress("choosing environments"):
        plan = propose(problem, limits)
    if out is not None:
        write_new(out, dump(plan))
        output.say(f"wrote {out}")
    if output.json:
        output.document(plan.model_dump(mode="json"))
    else:
        output.data(plan_table(plan))
