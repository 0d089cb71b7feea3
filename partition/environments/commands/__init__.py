"""Commands that say something about an environment: one module a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.commands import apt, conda, downloads, git, other, pip, python
from partition.environments.commands.findings import Call
from partition.environments.prefixes import program, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partition.environments.commands.findings import Finding
    from partition.environments.script import Command

_READERS: dict[str, Callable[[Call], Iterator[Finding]]] = {
    name: module.read
    for module in (apt, conda, downloads, git, other, pip, python)
    for name in module.PROGRAMS
}


def calls_of(commands: Sequence[Command]) -> Iterator[Call]:
    """Yield each command without its prefixes, and what its output goes to."""
    outer = ""
    for index, command in enumerate(commands):
        words = unwrap(command.words)
        name = program(words)
        following = ""
        if index + 1 < len(commands) and commands[index + 1].operator == "|":
            following = program(unwrap(commands[index + 1].words))
        elif "substitution" in command.nesting:
            following = outer
        else:
            outer = name
        yield Call(program=name, words=words, command=command, following=following)


def findings_of(call: Call) -> Iterator[Finding]:
    """Yield what `call` says; nothing for a program that no module knows."""
    reader = _READERS.get(call.program)
    if reader is not None:
        yield from reader(call)
