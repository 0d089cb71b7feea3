"""``envfold explain``: why a dataset needs that many snapshots, and what one task needs."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

from partition.cli.output import Output, json_option
from partition.environments.against import compare
from partition.environments.drivers import explain
from partition.errors import ExitStatus, Fault, InputError, UsageError
from partition.features.extract import facts_of, features_of
from partition.report.explain import (
    comparison_document,
    explanation_document,
    features_document,
    render_comparison,
    render_explanation,
    render_features,
)
from partition.tasks.dataset import open_dataset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partition.tasks.dataset import Dataset
    from partition.tasks.model import Task


@click.command("explain", short_help="Say why a dataset needs that many.")
@click.argument("dataset")
@click.option(
    "--features", "task", metavar="TASK", help="Show what one task needs, and the line that says so."
)
@click.option(
    "--against",
    metavar="OTHER",
    help="Compare with a fresh rendering, or a sample of one, task by task: stale, or the patcher?",
)
@click.option("--strict", is_flag=True, help="Exit with 1 when any task is at fault.")
@json_option
def command(*, dataset: str, task: str | None, against: str | None, strict: bool, as_json: bool) -> int:
    """Say which Dockerfile instructions and context files make the snapshots of DATASET differ.

    For each driver, in a fixed order: how many snapshots would be left if it alone were folded, and if all
    before it were too.
    """
    output = Output(json=as_json)
    if task is not None and against is not None:
        raise UsageError("--features and --against exclude each other", hint="ask for one of them")
    source = open_dataset(dataset)
    if task is not None:
        return _features(output, source, task)
    if against is not None:
        return _against(output, source, against, strict=strict)
    explanation = explain(_progress(output, source, "explaining tasks"))
    if output.json:
        output.document(explanation_document(explanation, dataset=dataset))
    else:
        output.data(render_explanation(explanation))
    return _finish(
        output, explanation.faults, strict=strict, nothing=not (explanation.explained or explanation.apart)
    )


def _against(output: Output, source: Dataset, against: str, *, strict: bool) -> int:
    other = open_dataset(against)
    comparison = compare(
        _progress(output, source, "reading the artifact"), _progress(output, other, "reading the other")
    )
    if output.json:
        output.document(comparison_document(comparison, dataset=source.source, against=against))
    else:
        output.data(render_comparison(comparison))
    return _finish(output, comparison.faults, strict=strict, nothing=not comparison.common)


def _features(output: Output, source: Dataset, identifier: str) -> int:
    task = _find(_progress(output, source, "looking for the task"), identifier)
    features = features_of(task)
    facts = facts_of(task) if task.spec is None else None
    notes = facts.notes if facts is not None else ()
    if output.json:
        output.document(features_document(features, notes))
    else:
        output.data(render_features(features, notes))
    return ExitStatus.OK


def _find(items: Iterator[Task | Fault], identifier: str) -> Task:
    """Return the task called `identifier`.

    Raises
    ------
    InputError
        There is none, or it cannot be read.
    """
    known = []
    for item in items:
        if isinstance(item, Fault):
            if item.task == identifier:
                raise InputError(f"{identifier} cannot be read", faults=[item])
        elif item.id == identifier:
            return item
        else:
            known.append(item.id)
    near = difflib.get_close_matches(identifier, known, n=3)
    raise InputError(
        f"no task is called {identifier!r}",
        hint=f"did you mean {' or '.join(near)}?" if near else "ids are paths below the dataset's root",
    )


def _progress(output: Output, source: Dataset, description: str) -> Iterator[Task | Fault]:
    with output.progress(description, source.size) as tick:
        for item in source.tasks():
            yield item
            tick()


def _finish(output: Output, faults: Sequence[Fault], *, strict: bool, nothing: bool) -> int:
    output.faults(faults)
    return ExitStatus.INPUT if faults and (strict or nothing) else ExitStatus.OK
