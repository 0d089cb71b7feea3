"""RUN: the script that the shell gets, by the rules of ``dispatchRun`` in BuildKit's ``convert.go``."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from partition.environments.positions import line_counter
from partition.environments.prefixes import SHELLS, program, unwrap
from partition.environments.script import Command, Script, Unit, Word
from partition.environments.shell import nested_commands, parse_shell
from partition.environments.syntax import heredoc_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.stages import Step

_SHEBANG = re.compile(r"#!\s*(\S+)(?:[ \t]+(\S+))?")


def script_of(step: Step) -> Script:
    """Return the script of a RUN step.

    A heredoc alone is the script itself; beside other text it is the shell's own heredoc. Text for an
    interpreter that is no shell (``SHELL``, ``#!``) becomes one opaque unit.
    """
    instruction = step.instruction
    if instruction.json:
        return exec_form(instruction.args, line=step.line, directory=step.workdir)
    text = instruction.args[0] if instruction.args else ""
    interpreter = _interpreter(step)
    if heredoc_name(text) is not None and instruction.heredocs:
        first = instruction.heredocs[0]
        interpreter = _shebang(first.content) or interpreter
        if interpreter not in SHELLS:
            return _opaque(interpreter, first.content, step, first.line)
        return parse_shell(
            first.content,
            line_at=line_counter(first.content, first.line),
            variables=step.variables,
            directory=step.workdir,
        )
    full = "\n".join([text, *(f"{each.body}{each.name}" for each in instruction.heredocs)])
    if interpreter not in SHELLS:
        return _opaque(interpreter, full, step, step.line)
    start = len(instruction.original.rstrip()) - len(text)
    header = len(text)
    below = line_counter(full[header + 1 :], instruction.heredocs[0].line) if instruction.heredocs else None

    def line_at(offset: int) -> int:
        if below is None or offset <= header:
            return instruction.line_at(start + offset)
        return below(offset - header - 1)

    return parse_shell(
        full,
        line_at=line_at,
        variables=step.variables,
        directory=step.workdir,
    )


def exec_form(arguments: Sequence[str], *, line: int, directory: str | None = "/") -> Script:
    """Return the script of a JSON-form RUN: one command, whose words no shell touches."""
    command = Command(
        words=tuple(Word(text=text, line=line) for text in arguments), line=line, directory=directory
    )
    commands = (command, *nested_commands(command, lambda _: line, {}))
    unit = Unit(operator="", raw="\0".join(arguments), tokens=tuple(arguments), commands=commands, line=line)
    return Script(units=(unit,))


def _interpreter(step: Step) -> str:
    """Return the shell that SHELL names, behind ``conda run`` where that is in front of it."""
    words = unwrap([Word(text=text) for text in step.shell])
    return program(words)


def _shebang(content: str) -> str:
    match = _SHEBANG.match(content)
    if match is None:
        return ""
    name = posixpath.basename(match[1])
    return posixpath.basename(match[2]) if name == "env" and match[2] else name


def _opaque(interpreter: str, text: str, step: Step, line: int) -> Script:
    command = Command(
        words=(Word(text=interpreter, line=line), Word(text=text, line=line)),
        line=line,
        directory=step.workdir,
    )
    tokens = (interpreter, *text.split("\n"))
    return Script(units=(Unit(operator="", raw=text, tokens=tokens, commands=(command,), line=line),))
