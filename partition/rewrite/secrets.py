"""What a build copies or writes and removes again, so that nobody finds it in the image."""

from __future__ import annotations

import posixpath
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from partition.environments.commands.findings import arguments
from partition.errors import Fault
from partition.rewrite.commands import calls_in
from partition.rewrite.program import Put
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call
    from partition.rewrite.program import Program

_REMOVERS = frozenset({"rm", "unlink", "shred"})
_WRITING = (">", ">>", "1>", "1>>", ">|")


def removed_again(program: Program) -> tuple[Fault, ...]:
    """Return a fault for each command that removes a file which a step before it copied or wrote."""
    made: dict[str, int] = {}
    faults: list[Fault] = []
    at = 0
    puts = [each for each in program.steps if isinstance(each, Put) and each.entry.kind is not Kind.DIRECTORY]
    order = {id(step): index for index, step in enumerate(program.steps)}
    for step, call in calls_in(program):
        while at < len(puts) and order[id(puts[at])] < order[id(step)]:
            made.setdefault(puts[at].path, puts[at].line)
            at += 1
        for target in _removed(call):
            found = next((path for path in made if _covers(target, path)), None)
            if found is not None:
                faults.append(
                    Fault(
                        where=f"{program.where}:{step.line}",
                        what=f"removes {found}, which line {made[found]} makes: nobody is to read it",
                        hint="set it up before the agent starts",
                    )
                )
        for target in _written(call):
            made.setdefault(target, step.line)
    return tuple(dict.fromkeys(faults))


def _removed(call: Call) -> Iterator[str]:
    if call.program in _REMOVERS:
        for option, word in arguments(call.words[1:], ("-n", "-s")):
            if not option:
                yield _absolute(call, word.text)
    elif call.program == "find" and any(
        word.text in {"-delete", "rm", "/bin/rm", "unlink"} for word in call.words
    ):
        for word in call.words[1:]:
            if word.text.startswith(("-", "(", "!")):
                return
            yield _absolute(call, word.text)


def _written(call: Call) -> Iterator[str]:
    for each in call.command.redirections:
        if each.operator in _WRITING and each.target.static:
            yield _absolute(call, each.target.text)
    if call.program == "tee":
        for option, word in arguments(call.words[1:], ()):
            if not option and word.static:
                yield _absolute(call, word.text)


def _absolute(call: Call, path: str) -> str:
    return posixpath.normpath(posixpath.join(call.command.directory or "/", path))


def _covers(target: str, path: str) -> bool:
    """Return whether removing `target`, which may hold wildcards, removes `path` or a folder above it."""
    while path != "/":
        if path == target or fnmatchcase(path, target):
            return True
        path = posixpath.dirname(path)
    return target == "/"
