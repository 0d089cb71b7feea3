"""``python -m solvers compose``: which overlapping sets to put together into images."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from solvers.cli.options import LARGEST_CAP, solving_options
from solvers.cli.output import data, say, visible
from solvers.cli.reading import read_composition
from solvers.composition.compose import compose
from solvers.result import Limits, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solvers.composition.document import CompositionDocument
    from solvers.composition.result import CompositionResult

_WITHOUT_ANSWER = (Status.INFEASIBLE, Status.UNKNOWN)
_NUMBERED = re.compile(r"\b(class|venv|base|package)s? (\d+(?:(?:, | and )\d+)*)")
"""Parts of an instance in a sentence of the solvers."""


@click.command("compose")
@click.argument("file")
@click.option(
    "--record",
    type=click.IntRange(0, LARGEST_CAP),
    metavar="R",
    help="Which record of a pagination file to solve, from 0; default: the first.",
)
@click.option(
    "--max-environments",
    "cap",
    type=click.IntRange(0, LARGEST_CAP),
    metavar="K",
    help="At most K images; default: what FILE says. Where K images cannot hold all that must be served, the "
    "answer is infeasible, with venvs named that they cannot hold.",
)
@solving_options
def command(
    *, file: str, record: int | None, cap: int | None, time_limit: float, seed: int, as_json: bool
) -> int:
    """Compose images from venvs that share packages.

    FILE is a composition instance in JSON (see docs/solvers.md) or a pagination file (Grange, Kacem & Martin:
    records with tiles and capacity); - is stdin. `seconds` of the answer is the wall time of solving, without
    reading FILE. Exit status 1 also without an answer.
    """
    document, records = read_composition(file, record)
    if cap is not None:
        document = replace(document, instance=replace(document.instance, max_images=cap))
    started = time.perf_counter()
    result = compose(document.instance, Limits(deterministic_time=time_limit, seed=seed))
    seconds = time.perf_counter() - started
    found = result.status not in _WITHOUT_ANSWER
    answer: dict[str, Any] = {
        "goal": result.goal.value,
        "objective": result.objective if found else None,
        "bound": result.bound,
        "gap": result.gap if found else None,
        "status": result.status.value,
        "seconds": round(seconds, 3),
        "method": result.method,
    }
    if records:
        answer |= {"record": record or 0, "records": records}
    answer |= {"time_limit": time_limit, "seed": seed}
    if as_json:
        data(json.dumps(answer | _answer(document, result), indent=2, allow_nan=False))
    else:
        lines = [f"{key}: {value}" for key, value in answer.items()]
        data("\n".join([*lines, "", *_table(document, result)]))
    return _status(document, result)


def _answer(document: CompositionDocument, result: CompositionResult) -> dict[str, Any]:
    images = []
    for image in result.images:
        named: dict[str, Any] = asdict(image)
        if document.base_names:
            named["base_name"] = document.base_names[image.base]
        if document.venv_names:
            named["venv_names"] = [document.venv_names[v] for v in image.venvs]
        if document.package_names:
            named["package_names"] = [document.package_names[p] for p in image.packages]
        images.append(named)
    answer: dict[str, Any] = {"max_images": document.instance.max_images, "images": images}
    answer["assignment"] = list(result.assignment)
    if document.class_names:
        answer["assignment_names"] = {
            name: k if k >= 0 else None
            for name, k in zip(document.class_names, result.assignment, strict=True)
        }
    answer["refused"] = [_in_names(document, sentence) for sentence in result.refused]
    answer["conflicting"] = list(result.conflicting)
    if document.venv_names:
        answer["conflicting_names"] = [document.venv_names[v] for v in result.conflicting]
    return answer


def _status(document: CompositionDocument, result: CompositionResult) -> int:
    for sentence in result.refused:
        say(f"refused: {_in_names(document, sentence)}")
    if result.status is Status.INFEASIBLE:
        limit = document.instance.max_images
        named = _listed(document.venv_names, result.conflicting)
        say(f"error: infeasible: at most {limit} images cannot hold all of these venvs: {named}")
    elif result.status is Status.UNKNOWN:
        say("error: no answer within the limits, and no proof that there is none")
    return int(result.status in _WITHOUT_ANSWER)


def _table(document: CompositionDocument, result: CompositionResult) -> list[str]:
    """Return one line for each image, and one for the classes that none serves."""
    lines = [f"{'venvs':>6} {'classes':>8} {'size':>14}  base: which"]
    for k, image in enumerate(result.images):
        served = result.assignment.count(k)
        which = f"{_listed(document.base_names, [image.base])}: {_listed(document.venv_names, image.venvs)}"
        lines.append(f"{len(image.venvs):>6} {served:>8} {image.size:>14}  {which}")
    if -1 in result.assignment:
        lines.append(f"{'':>6} {result.assignment.count(-1):>8} {'':>14}  (served by none)")
    return lines


def _listed(names: tuple[str, ...], numbers: Iterable[int]) -> str:
    """Return what the numbers stand for: names where there are any."""
    return visible(", ".join(names[number] for number in numbers) if names else " ".join(map(str, numbers)))


def _in_names(document: CompositionDocument, sentence: str) -> str:
    """Return a sentence of the solvers with the names of what it numbers behind it."""
    names = {
        "class": document.class_names,
        "venv": document.venv_names,
        "base": document.base_names,
        "package": document.package_names,
    }

    def with_names(match: re.Match[str]) -> str:
        called = names[match[1]]
        numbers = map(int, re.findall(r"\d+", match[2]))
        return f"{match[0]} ({', '.join(called[number] for number in numbers)})" if called else match[0]

    return _NUMBERED.sub(with_names, sentence)
