"""What BuildKit refuses after its grammar has accepted a line.

Source: ``frontend/dockerfile/instructions/parse.go`` and ``bflag.go`` of github.com/moby/buildkit; an
unfinished RUN is BuildKit's to accept and the shell's to refuse.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partition.environments.instruction import Directives
from partition.environments.shell import ends_open
from partition.environments.syntax import heredoc_name
from partition.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partition.environments.instruction import Instruction

_TEXT_FLAGS = {
    "FROM": {"platform"},
    "RUN": {"mount", "network", "security", "device"},
    "COPY": {"chown", "from", "chmod", "exclude"},
    "ADD": {"chown", "chmod", "checksum", "exclude"},
    "HEALTHCHECK": {"interval", "timeout", "start-period", "start-interval", "retries"},
}
_SWITCHES = {"COPY": {"link", "parents"}, "ADD": {"link", "keep-git-dir", "unpack"}}
_REPEATABLE = {"mount", "exclude", "device"}
_STAGE_NAME = re.compile(r"[a-z][a-z0-9-_.]*\Z")
_EXACTLY_ONE = {"WORKDIR", "USER", "STOPSIGNAL", "MAINTAINER"}
_AT_LEAST_ONE = {"ENV", "LABEL", "ARG", "EXPOSE", "VOLUME", "HEALTHCHECK", "ONBUILD", "RUN", "SHELL"}
_OFFICIAL = re.compile(r"(docker\.io/)?docker/dockerfile([:@].*)?\Z")


def refusals(
    instructions: Sequence[Instruction], *, where: str, directives: Directives | None = None
) -> list[Fault]:
    """Return every fault of `instructions` that does not depend on variables, in file order.

    Parameters
    ----------
    directives
        A frontend of another name than ``docker/dockerfile`` may know more flags, so none are refused then.
    """
    syntax = (directives or Directives()).syntax
    official = syntax is None or _OFFICIAL.match(syntax) is not None
    faults = list(_order(instructions, where))
    for instruction in instructions:
        for what, hint in _of_instruction(instruction, official=official):
            faults.append(Fault(where=f"{where}:{instruction.start_line}", what=what, hint=hint))
    return faults


def _order(instructions: Sequence[Instruction], where: str) -> Iterator[Fault]:
    for instruction in instructions:
        if instruction.name == "FROM":
            return
        if instruction.name != "ARG":
            yield Fault(
                where=f"{where}:{instruction.start_line}",
                what=f"{instruction.name} before FROM",
                hint="only ARG may precede the first FROM: move the line below it",
            )
    yield Fault(where=where, what="no FROM", hint="name the base image: FROM python:3.11-slim-bookworm")


def _of_instruction(instruction: Instruction, *, official: bool) -> Iterator[tuple[str, str]]:
    name, args = instruction.name, instruction.args
    if official:
        yield from _flags(instruction)
    if name in _AT_LEAST_ONE and not args and not _defers(instruction):
        yield f"{name} requires at least one argument", "write what it should do, or remove the line"
    elif name in _EXACTLY_ONE and len(args) != 1:
        yield f"{name} requires exactly one argument", "give it one"
    elif name in {"COPY", "ADD"}:
        yield from _copy(instruction)
    elif name == "FROM":
        yield from _from(args)
    elif name in {"ENV", "LABEL"} and any(not key for key, _ in instruction.pairs):
        yield f"{name} names can not be blank", "write name=value"
    elif name == "ARG" and any(arg.startswith("=") for arg in args):
        yield "ARG names can not be blank", "write ARG name=value"
    elif name == "SHELL" and not instruction.json:
        yield "SHELL requires the arguments to be in JSON form", 'write SHELL ["/bin/bash", "-c"]'
    elif name == "VOLUME" and any(not arg.strip() for arg in args):
        yield "VOLUME specified can not be an empty string", "name a path"
    elif name == "HEALTHCHECK":
        yield from _healthcheck(args)
    elif name == "ONBUILD":
        yield from _onbuild(instruction, official=official)
    elif name == "RUN":
        yield from _run(instruction)


def _flags(instruction: Instruction) -> Iterator[tuple[str, str]]:
    texts = _TEXT_FLAGS.get(instruction.name, set())
    switches = _SWITCHES.get(instruction.name, set())
    seen: set[str] = set()
    for flag in instruction.flags:
        key, equals, value = flag[2:].partition("=")
        if key not in texts and key not in switches:
            known = ", ".join(f"--{each}" for each in sorted(texts | switches)) or "none"
            yield f"unknown flag: --{key}", f"flags of {instruction.name}: {known}"
        elif key in seen and key not in _REPEATABLE:
            yield f"duplicate flag: --{key}", "give it once"
        elif (key in texts and not equals) or (equals and not value and key in switches):
            yield f"missing a value on flag: --{key}", f"write --{key}=..."
        elif key in switches and value.lower() not in {"", "true", "false"}:
            yield f"expecting boolean value for flag --{key}, not: {value}", "write true or false"
        seen.add(key)


def _copy(instruction: Instruction) -> Iterator[tuple[str, str]]:
    name, args = instruction.name, instruction.args
    if len(args) < 2:
        count = "only one was provided" if args else "none was provided"
        yield (
            f"{name} requires at least two arguments, but {count}; the destination could not be determined",
            f"write {name} source destination",
        )
    elif not instruction.json and heredoc_name(args[-1]) is not None:
        yield f"{name} cannot accept a heredoc as a destination", "name a path"
    elif "$" in (instruction.flag("from") or ""):
        yield (
            "variable expansion is not supported for --from",
            "define a stage with FROM and an ARG before it, and name that stage",
        )


def _from(args: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if len(args) == 3 and args[1].lower() == "as":
        if _STAGE_NAME.match(args[2].lower()) is None:
            yield (
                f"invalid name for build stage: {args[2]!r}",
                "it must start with a letter and hold letters, digits, '-', '_' and '.' only",
            )
    elif len(args) != 1:
        yield "FROM requires either one or three arguments", "write FROM image, or FROM image AS name"


def _healthcheck(args: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    kind = args[0].upper()
    if kind == "NONE" and len(args) > 1:
        yield "HEALTHCHECK NONE takes no arguments", "remove them"
    elif kind == "CMD" and len(args) == 1:
        yield "missing command after HEALTHCHECK CMD", "write the command"
    elif kind not in {"NONE", "CMD"}:
        yield f"unknown type {args[0]!r} in HEALTHCHECK", "write HEALTHCHECK CMD command"


def _onbuild(instruction: Instruction, *, official: bool) -> Iterator[tuple[str, str]]:
    trigger = instruction.trigger
    if trigger is None:
        return
    if trigger.name in {"ONBUILD", "FROM", "MAINTAINER"}:
        yield f"{trigger.name} isn't allowed as an ONBUILD trigger", "remove it"
    else:
        yield from _of_instruction(trigger, official=official)


def _run(instruction: Instruction) -> Iterator[tuple[str, str]]:
    if instruction.json or not (operator := ends_open(instruction.args[0])):
        return
    yield f"RUN ends in {operator}", "write the command that should follow, or remove the operator"


def _defers(instruction: Instruction) -> bool:
    """Return whether ONBUILD is followed by anything: the parser leaves its arguments out."""
    return instruction.name == "ONBUILD" and len(instruction.original.split()) > 1
