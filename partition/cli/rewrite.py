"""``envfold rewrite``: a new dataset whose tasks share the plan's environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from partition.cli.output import Output, json_option
from partition.environments.caps import PRESETS
from partition.plan.document import load_plan
from partition.report.rewrite import rewrite_document, rewrite_table
from partition.rewrite.rewrite import CHANNELS, Options, rewrite

if TYPE_CHECKING:
    from partition.rewrite.manifest import Channel


@click.command("rewrite")
@click.argument("plan")
@click.argument("dataset")
@click.argument("out")
@click.option(
    "--channel",
    type=click.Choice(CHANNELS),
    default="healthcheck",
    show_default=True,
    help="How a task's set-up gets into its container.",
)
@click.option(
    "--max-environments", type=int, metavar="K", help="New snapshots at most. Default: as the plan was made."
)
@click.option("--preset", type=click.Choice(sorted(PRESETS)), help="Caps of a provider. Default: the plan's.")
@click.option(
    "--private/--public",
    "private",
    default=None,
    help="Who sees a new repository on the Hub; one of the two must be said for it.",
)
@click.option("--strict", is_flag=True, help="Stop if one task is at fault.")
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Processes; one a processor by default."
)
@json_option
def command(
    *,
    plan: str,
    dataset: str,
    out: str,
    channel: Channel,
    max_environments: int | None,
    preset: str | None,
    private: bool | None,
    strict: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    """Write DATASET anew to OUT, its tasks in the environments of PLAN.

    OUT is a directory, a .parquet file or hf://datasets/ORG/NAME; nothing may be there yet. An interrupted
    run leaves OUT.partial, and the same command goes on from there.
    """
    output = Output(json=as_json)
    written = rewrite(
        load_plan(plan),
        dataset,
        out,
        Options(
            channel=channel,
            max_environments=max_environments,
            preset=preset,
            private=private,
            strict=strict,
            workers=workers,
            progress=output.progress,
            say=output.say,
        ),
    )
    output.faults(written.faults)
    output.say(f"wrote {written.manifest}")
    if output.json:
        output.document(rewrite_document(written.summary, written.refusals))
    else:
        output.data(rewrite_table(written.summary, written.refusals))
