"""``envfold sweep``: the curve of predicted yield against K."""

from __future__ import annotations

from pathlib import Path

import click

from partition.cli.output import Output, json_option
from partition.cli.planning import load, planning_options
from partition.environments.caps import PRESETS
from partition.errors import CapExceededError, UsageError
from partition.plan.document import dump
from partition.plan.limits import limits_for
from partition.plan.sweep import steps, sweep
from partition.report.curve import curve_csv, curve_png, curve_table
from partition.writing import write_new


@click.command("sweep")
@planning_options
@click.option("--max", "largest", type=int, default=40, show_default=True, help="Largest K.")
@click.option("--min", "smallest", type=int, default=1, show_default=True, help="Smallest K.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for curve.json, curve.csv and curve.png. Default: DATASET-sweep here.",
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
    largest: int,
    smallest: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Draw the curve of predicted oracle yield against K for DATASET."""
    output = Output(json=as_json)
    if smallest < 1 or largest < smallest:
        raise UsageError(
            f"K from {smallest} to {largest} is no range", hint="K starts at 1: --min 1 --max 40"
        )
    problem, standing = load(output, dataset, existing=existing, previous=previous, strict=strict)
    caps = PRESETS[preset] if preset else None
    limits = limits_for(largest, preset=caps, existing=len(standing.names), seed=seed)
    if smallest > limits.max_new:
        raise CapExceededError(
            f"--min {smallest}: the caps allow {limits.max_new} new snapshots", hint="start the sweep below"
        )
    ks = range(smallest, limits.max_new + 1)
    with output.progress("choosing environments", steps(ks)) as tick:
        curve = sweep(problem, limits, ks, tick=tick)
    folder = out or Path(f"{_file_name(dataset)}-sweep")
    files = {"curve.json": dump(curve), "curve.csv": curve_csv(curve), "curve.png": curve_png(curve)}
    for name, data in files.items():
        write_new(folder / name, data)
    output.say(f"wrote {', '.join(str(folder / name) for name in files)}")
    if output.json:
        output.document(curve.model_dump(mode="json"))
    else:
        output.data(curve_table(curve))


def _file_name(dataset: str) -> str:
    name = dataset.removeprefix("hf://datasets/").rstrip("/").rpartition("/")[2] or "dataset"
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
