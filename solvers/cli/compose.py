"""``python -m solvers compose``: pack overlapping sets into the fewest images."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from solvers.cli.options import LARGEST_CAP, solving_options
from solvers.cli.output import data, say
from solvers.cli.reading import read_composition
from solvers.composition.compose import compose
from solvers.result import Limits, Status

if TYPE_CHECKING:
    from solvers.composition.result import CompositionResult

_WITHOUT_ANSWER = (Status.INFEASIBLE, Status.UNKNOWN)


@click.command("compose")
@click.argument("file")
@click.option(
    "--record",
    type=click.IntRange(0, LARGEST_CAP),
    metavar="R",
    default=0,
    show_default=True,
    help="Which record of FILE to solve, from 0.",
)
@click.option(
    "--max-environments",
    "cap",
    type=click.IntRange(0, LARGEST_CAP),
    metavar="K",
    help="At most K images; more are infeasible, with sets named that cannot be together. Default: no limit.",
)
@solving_options
def command(*, file: str, record: int, cap: int | None, time_limit: float, seed: int, as_json: bool) -> int:
    """Pack overlapping sets into as few images as possible.

    FILE holds pagination records in JSON (Grange, Kacem & Martin: tiles, capacity); - is stdin. `seconds` of
    the answer is the wall time of solving, without reading FILE. Exit status 1 also without an answer.
    """
    instance, records = read_composition(file, record)
    if cap is not None:
        instance = replace(instance, max_images=cap)
    started = time.perf_counter()
    result = compose(instance, Limits(deterministic_time=time_limit, seed=seed))
    seconds = time.perf_counter() - started
    found = result.status not in _WITHOUT_ANSWER
    answer: dict[str, Any] = {
        "objective": result.objective if found else None,
        "bound": result.bound,
        "gap": result.gap if found else None,
        "status": result.status.value,
        "seconds": round(seconds, 3),
        "method": result.method,
        "record": record,
        "records": records,
        "time_limit": time_limit,
        "seed": seed,
    }
    if as_json:
        answer |= {"max_images": cap, "images": [asdict(image) for image in result.images]}
        answer |= {"refused": list(result.refused), "conflicting": list(result.conflicting)}
        data(json.dumps(answer, indent=2, allow_nan=False))
    else:
        lines = [f"{key}: {value}" for key, value in answer.items()]
        data("\n".join([*lines, "", *_table(result)]))
    return _status(result)


def _status(result: CompositionResult) -> int:
    for refused in result.refused:
        say(f"refused: {refused}")
    if result.status is Status.INFEASIBLE:
        say(f"error: infeasible: sets that so few images cannot hold: {_joined(result.conflicting)}")
    elif result.status is Status.UNKNOWN:
        say("error: no answer within the limits, and no proof that there is none")
    return int(result.status in _WITHOUT_ANSWER)


def _table(result: CompositionResult) -> list[str]:
    rows = [f"{len(image.venvs):>6} {image.size:>8}  {_joined(image.venvs)}" for image in result.images]
    return [f"{'sets':>6} {'size':>8}  which", *rows]


def _joined(numbers: tuple[int, ...]) -> str:
    return " ".join(map(str, numbers))
