"""Options that every command takes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import click

from solvers.result import MAX_SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    _Command = TypeVar("_Command", bound=Callable[..., Any])

LARGEST_CAP = 2**53


def _a_number(context: click.Context, option: click.Parameter, value: float) -> float:
    if math.isnan(value):
        raise click.BadParameter("nan is no limit", ctx=context, param=option)
    return value


_OPTIONS = (
    click.option(
        "--time-limit",
        type=click.FloatRange(0, 1e9),
        callback=_a_number,  # NaN is in every range
        metavar="S",
        default=60.0,
        show_default=True,
        help="No clock is read: S units of counted work for the proof, about a second each on a slow core, "
        "less on a fast one, so that the same limit gives the same answer everywhere. Reading FILE, reducing "
        "it, the first search and the first bound are always made and not counted. 0: a checked answer with "
        "a bound.",
    ),
    click.option("--seed", type=click.IntRange(0, MAX_SEED), metavar="N", default=0, show_default=True),
    click.option(
        "--json", "as_json", is_flag=True, help="Print the answer as JSON, with all that belongs to it."
    ),
)


def solving_options(command: _Command) -> _Command:
    """Add ``--time-limit``, ``--seed`` and ``--json``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
