"""``envfold export``: a plan in the form that people's own patchers read."""

from __future__ import annotations

from pathlib import Path

import click

from partition.cli.output import Output
from partition.plan.document import load_plan
from partition.rewrite.export import get_specs_module
from partition.writing import write_new


@click.command("export")
@click.argument("plan")
@click.option("--format", "form", type=click.Choice(["get-specs"]), default="get-specs", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here, not to stdout.")
def command(*, plan: str, form: str, out: Path | None) -> None:  # noqa: ARG001 - there is one form
    """Write PLAN as one Python module without dependencies: get_specs, dockerfile_for, setup_for."""
    output = Output()
    module = get_specs_module(load_plan(plan))
    if out is None:
        output.data(module.decode())
    else:
        write_new(out, module)
        output.say(f"wrote {out}")
