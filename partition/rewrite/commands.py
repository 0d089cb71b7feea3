"""The simple commands of a program's RUN steps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partition.environments.commands import calls_of
from partition.environments.prefixes import SHELLS
from partition.environments.runs import exec_form
from partition.environments.shell import parse_shell
from partition.rewrite.program import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call
    from partition.environments.script import Script
    from partition.rewrite.program import Program

_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:\S*/)?(\S+)")


def script_of(step: Run) -> Script:
    """Return what a RUN step executes; nothing is known of a script for an interpreter that is no shell."""
    if step.script is None:
        # a byte that is not UTF-8 is one that no command name holds
        words = tuple(word.encode("utf-8", "replace").decode() for word in step.argv)
        return exec_form(words, line=step.line, directory=step.state.workdir)
    match = _SHEBANG.match(step.script)
    if match is None or match[1] not in SHELLS:
        return exec_form((match[1] if match else "",), line=step.line, directory=step.state.workdir)
    return parse_shell(
        step.script,
        line_at=lambda _: step.line,
        variables=dict(step.state.environment),
        directory=step.state.workdir,
    )


def calls_in(program: Program) -> Iterator[tuple[Run, Call]]:
    """Yield each command of each RUN step, without the prefixes (``sudo``, ``env``) that run it."""
    for step in program.steps:
        if isinstance(step, Run):
            for call in calls_of(script_of(step).commands):
                yield step, call
