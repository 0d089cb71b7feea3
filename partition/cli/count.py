"""``envfold count``: the number of snapshots that Harbor would build, and what it is made of."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from partition.cli.output import Output, json_option
from partition.environments.caps import PRESETS, CapCheck, check_cap, check_preset, read_existing
from partition.environments.census import Census
from partition.environments.snapshot import Generation
from partition.errors import CapExceededError, ExitStatus, Fault, InputError, UsageError
from partition.report.census import count_document, render_count
from partition.tasks.dataset import open_dataset
from partition.tasks.text import decode


@click.command("count", short_help="Count the snapshots a dataset needs.")
@click.argument("dataset")
@click.option(
    "--key",
    "generation",
    type=click.Choice([each.value for each in Generation]),
    default=Generation.CONTENT.value,
    show_default=True,
    help="Snapshot key: content (Harbor 0.20 and later) or legacy (0.9 to 0.16).",
)
@click.option("--cap", type=int, metavar="N", help="Exit with 4 when more than N snapshots are to be built.")
@click.option(
    "--preset",
    "presets",
    type=click.Choice(sorted(PRESETS)),
    multiple=True,
    help="Exit with 4 when a cap of this preset is exceeded; may be repeated.",
)
@click.option(
    "--existing",
    metavar="FILE",
    help="Snapshots the organisation has, which cost nothing: a plan, a list, or a name a line; - is stdin.",
)
@click.option("--target", metavar="T", help="Provider target that is part of the snapshot names.")
@click.option("--strict", is_flag=True, help="Exit with 1 when any task is at fault.")
@json_option
def command(
    *,
    dataset: str,
    generation: str,
    cap: int | None,
    presets: tuple[str, ...],
    existing: str | None,
    target: str | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Count the snapshots that Harbor would build for DATASET, reading it as a stream."""
    if cap is not None and cap < 1:
        raise UsageError(f"--cap {cap}: a cap is at least 1", hint="give the number of snapshots allowed")
    output = Output(json=as_json)
    names = frozenset[str]() if existing is None else _read_existing(existing)
    census = Census(generation=generation, target=target)
    source = open_dataset(dataset)
    with output.progress("counting tasks", source.size) as tick:
        for item in source.tasks():
            census.add(item)
            tick()
    result = census.result()
    usage = result.usage(names)
    caps: list[CapCheck] = [] if cap is None else [check_cap(cap, usage)]
    for name in presets or sorted(PRESETS):
        caps += check_preset(PRESETS[name], usage, enforced=name in presets)
    if output.json:
        output.document(count_document(result, dataset=dataset, target=target, existing=names, caps=caps))
    else:
        output.data(render_count(result, existing=names, caps=caps))
    output.faults(result.faults)
    _require_caps(caps)
    at_fault = result.faults and (strict or not result.tasks)
    return ExitStatus.INPUT if at_fault else ExitStatus.OK


def _read_existing(path: str) -> frozenset[str]:
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise InputError(f"--existing {path}: {what}", faults=[Fault(where=path, what=what)]) from error
    where = "stdin" if path == "-" else path
    return read_existing(decode(data, where=where), where=where)


def _require_caps(caps: list[CapCheck]) -> None:
    exceeded = [cap for cap in caps if cap.enforced and not cap.holds]
    if not exceeded:
        return
    raise CapExceededError(
        "; ".join(f"{cap.preset}: {cap.value} {cap.cap}, and {cap.limit} are allowed" for cap in exceeded),
        hint="envfold propose finds fewer environments; nothing turns a cap off",
    )
