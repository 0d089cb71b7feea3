"""A RUN cut where the next command starts afresh, so that tasks can share its beginning.

``git clone URL /r && cd /r && git checkout ID`` is the same as a RUN for each side of the first ``&&``: when
the left fails the build stops either way, and a new shell starts as the old one stood. Behind a ``cd`` it
would not, so nothing is cut there.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from partition.environments.prefixes import SHELLS, program, unwrap
from partition.environments.shell import parse_shell
from partition.rewrite.program import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.script import Unit
    from partition.rewrite.program import Step

_FLAG = re.compile(r"-[a-z]*c")
_OWN_SHELL = frozenset({"(", "substitution"})
_CHANGING = frozenset(
    {
        "", ".", "alias", "builtin", "cd", "command", "declare", "eval", "exec", "exit", "export", "hash",
        "local", "popd", "pushd", "read", "readonly", "return", "set", "shift", "shopt", "source", "trap",
        "typeset", "ulimit", "umask", "unalias", "unset", "wait",
    }
)  # fmt: skip
"""What the commands after it can tell; the empty name is an assignment."""


def in_pieces(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with every RUN cut as far as that changes nothing."""
    return tuple(piece for step in steps for piece in _pieces(step))


def first_run(steps: Sequence[Step]) -> tuple[Run, int]:
    """Return the RUN whose pieces `steps` begin with, and how many these are.

    Raises
    ------
    TypeError
        The first step is no RUN.
    """
    whole = steps[0]
    if not isinstance(whole, Run):
        raise TypeError(f"{type(whole).__name__} is no RUN")
    count = 1
    for step in steps[1:]:
        if not isinstance(step, Run) or not _are_pieces(whole, step):
            break
        whole = replace(whole, argv=(*whole.argv[:-1], f"{whole.argv[-1]} && {step.argv[-1]}"))
        count += 1
    return whole, count


def joined(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps with neighbouring pieces of one RUN put together again."""
    found: list[Step] = []
    index = 0
    while index < len(steps):
        step, count = first_run(steps[index:]) if isinstance(steps[index], Run) else (steps[index], 1)
        found.append(step)
        index += count
    return tuple(found)


def _are_pieces(left: Run, right: Run) -> bool:
    same = (left.line, left.source, left.state, left.argv[:-1])
    return bool(left.line) and same == (right.line, right.source, right.state, right.argv[:-1])


def _pieces(step: Step) -> tuple[Step, ...]:
    if not isinstance(step, Run) or step.script is not None or step.caches or len(step.argv) < 3:
        return (step,)
    text = step.argv[-1]
    is_shell = step.argv[0].rpartition("/")[2] in SHELLS and _FLAG.fullmatch(step.argv[-2]) is not None
    if not is_shell or "&&" not in text or "<<" in text:
        return (step,)
    return tuple(replace(step, argv=(*step.argv[:-1], each)) for each in _cut(text))


@lru_cache(maxsize=1024)
def _cut(text: str) -> tuple[str, ...]:
    script = parse_shell(text)
    units = script.units
    if script.problems or "#" in text or not units:
        return (text,)
    if any(unit.operator != "&&" for unit in units[1:]) or not all(unit.end for unit in units):
        return (text,)
    between = (text[left.end : right.start].strip() for left, right in pairwise(units))
    if (
        any(each != "&&" for each in between)
        or text[units[-1].end :].strip()
        or text[: units[0].start].strip()
    ):
        return (text,)
    found: list[str] = []
    for number, unit in enumerate(units):
        if number + 1 == len(units) or _changes_the_shell(unit):
            found.append(text[unit.start : units[-1].end])
            break
        found.append(text[unit.start : unit.end])
    return tuple(found)


def _changes_the_shell(unit: Unit) -> bool:
    """Return whether the rest of the script could tell that it runs in another shell."""
    return any(
        "function" in command.nesting or program(unwrap(command.words)) in _CHANGING
        for command in unit.commands
        if _OWN_SHELL.isdisjoint(command.nesting)
    )
