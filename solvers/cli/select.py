"""``python -m solvers select``: choose at most K candidates."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from solvers.cli.options import LARGEST_CAP, solving_options
from solvers.cli.output import data, visible
from solvers.cli.reading import read_selection
from solvers.result import Limits
from solvers.selection.document import names_of
from solvers.selection.select import select

if TYPE_CHECKING:
    from solvers.selection.document import SelectionDocument
    from solvers.selection.pmedian import PMedian
    from solvers.selection.result import SelectionResult


@click.command("select")
@click.argument("file")
@click.option(
    "--max-environments",
    "cap",
    type=click.IntRange(0, LARGEST_CAP),
    metavar="K",
    help="At most K candidates that do not exist yet; default: what FILE says.",
)
@solving_options
def command(*, file: str, cap: int | None, time_limit: float, seed: int, as_json: bool) -> None:
    """Choose at most K candidates and assign every class.

    FILE is a selection instance in JSON (see docs/solvers.md) or an OR-Library p-median file; - is stdin.
    `seconds` of the answer is the wall time of solving, without reading FILE.
    """
    document, median = read_selection(file)
    if cap is not None:
        document = replace(document, instance=replace(document.instance, max_new=cap))
    started = time.perf_counter()
    result = select(document.instance, Limits(deterministic_time=time_limit, seed=seed))
    seconds = time.perf_counter() - started
    answer = {**_claims(result, seconds, median), "time_limit": time_limit, "seed": seed}
    if as_json:
        answer |= _answer(document, result)
        data(json.dumps(answer, indent=2, allow_nan=False))
    else:
        lines = [f"{key}: {value}" for key, value in answer.items()]
        data("\n".join([*lines, "", *_table(document, result)]))


def _claims(result: SelectionResult, seconds: float, median: PMedian | None) -> dict[str, Any]:
    claims: dict[str, Any] = {
        "objective": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "status": result.status.value,
        "tie_break": result.tie_break.value,
        "seconds": round(seconds, 3),
        "method": result.method,
    }
    if median is not None and result.chosen:
        claims |= {"median_cost": median.cost(result), "median_bound": median.least_cost(result)}
    return claims


def _answer(document: SelectionDocument, result: SelectionResult) -> dict[str, Any]:
    answer: dict[str, Any] = {"max_new": document.instance.max_new, "max_total": document.instance.max_total}
    answer |= {"chosen": list(result.chosen), "assignment": list(result.assignment)}
    if document.candidates:
        answer["chosen_names"] = [document.candidates[j] for j in result.chosen]
    if document.classes:
        answer["assignment_names"] = {
            name: document.candidates[j] if document.candidates and j >= 0 else (None if j < 0 else j)
            for name, j in zip(document.classes, result.assignment, strict=True)
        }
    return answer


def _table(document: SelectionDocument, result: SelectionResult) -> list[str]:
    """Return one line for each chosen candidate, and one for the classes that none serves."""
    instance = document.instance
    names = names_of(document.candidates, len(instance.sizes))
    lines = [f"{'classes':>8} {'weight':>12} {'objective':>14} {'':8} candidate"]
    for j in (*result.chosen, -1):
        rows = [i for i, served in enumerate(result.assignment) if served == j]
        if j < 0 and not rows:
            continue
        weight = float(instance.weights[rows].sum())
        passes = float(instance.weights[rows] @ instance.probabilities[rows, j]) if j >= 0 else 0.0
        kind = "" if j < 0 else "existing" if instance.existing[j] else "new"
        name = "(served by none)" if j < 0 else visible(names[j])
        lines.append(f"{len(rows):>8} {weight:>12g} {passes:>14.6f} {kind:8} {name}")
    return lines
