"""Options and steps that propose and sweep share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from partition.environments.caps import PRESETS
from partition.plan.problem import read_problem
from partition.plan.standing import read_standing
from partition.tasks.dataset import open_dataset

if TYPE_CHECKING:
    from collections.abc import Callable

    from partition.cli.output import Output
    from partition.plan.problem import Problem
    from partition.plan.standing import Standing

    _Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.argument("dataset"),
    click.option(
        "--preset", type=click.Choice(sorted(PRESETS)), help="Caps of a provider; the stricter cap holds."
    ),
    click.option(
        "--existing",
        type=click.Path(path_type=Path),
        help="Snapshots that the organisation has: a plan (its environments are free to reuse), or names.",
    ),
    click.option("--previous", type=click.Path(path_type=Path), help="A plan to keep what is as good from."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random."),
    click.option("--strict", is_flag=True, help="Stop if one task is at fault."),
)


def planning_options(command: _Command) -> _Command:
    """Add the options that every planning command takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def load(
    output: Output, dataset: str, *, existing: Path | None, previous: Path | None, strict: bool
) -> tuple[Problem, Standing]:
    """Read everything that a plan is made from, with progress; faults are listed on stderr."""
    standing = read_standing(existing, previous)
    source = open_dataset(dataset)
    with output.progress("reading tasks", source.size) as tick:
        problem = read_problem(source, standing, strict=strict, tick=tick)
    output.faults(problem.faults)
    return problem, standing
