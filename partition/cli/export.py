"""``envfold export``: a plan in the form that people's own patchers read."""

from __future__ import annotations

from pathlib import Path

import click

from partition.cli.output import Output
from partition.plan.document import load_plan
from partition.report.wording import plural
from partition.rewrite.export import get_specs_module, with_set_ups
from partition.writing import write_new


@click.command("export")
@click.argument("plan")
@click.option("--format", "form", type=click.Choice(["get-specs"]), default="get-specs", show_default=True)
@click.option(
    "--dataset", metavar="DATASET", help="What PLAN was made from; needed where its tasks have Dockerfiles."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here, not to stdout.")
def command(*, plan: str, form: str, dataset: str | None, out: Path | None) -> None:  # noqa: ARG001 - one form
    """Write PLAN as one Python module without dependencies: get_specs, dockerfile_for, setup_for."""
    output = Output()
    answering = with_set_ups(load_plan(plan), dataset, progress=output.progress)
    module = get_specs_module(answering)
    output.faults(answering.faults)
    if answering.not_folded:
        output.say(
            f"{plural(len(answering.not_folded), 'task')} not folded: NOT_FOLDED of the module says why"
        )
    if not any(entry.repo for entry in answering.assignment.values()):
        output.say("the plan records the repository of no task: get_specs(repo, version) knows no pair")
    if out is None:
        output.data(module.decode())
    else:
        write_new(out, module)
        output.say(f"wrote {out}")
