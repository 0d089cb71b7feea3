"""Drivers: to which reason for having many environments each instruction and each command belongs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from partition.environments.commands import apt, calls_of, conda, git, pip
from partition.environments.prefixes import SHELLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.commands.findings import Call
    from partition.environments.script import Unit


class Driver(StrEnum):
    """Reasons for two environments to differ, in the order in which folding takes them."""

    BASE = "base image"
    CLONE = "clone or checkout"
    FILES = "copied files"
    APT = "apt"
    PIP = "pip"
    RUN = "other RUN"
    SETTINGS = "env, arg, workdir, user"
    LAYOUT = "comments and whitespace only"


_INSTRUCTIONS = {"FROM": Driver.BASE, "COPY": Driver.FILES, "ADD": Driver.FILES}
_NEUTRAL = frozenset(
    {
        "",
        "cd",
        "pushd",
        "popd",
        "set",
        "true",
        ":",
        "export",
        "unset",
        "shopt",
        "umask",
        "source",
        ".",
        "read",
    }
)
_PIP_VERBS = {
    "uv": frozenset({"pip", "sync", "add", "venv", "python", "tool"}),
    "python": frozenset({"-m", "setup.py"}),
}
_PRODUCERS = frozenset({"yes", "echo", "printf"})
"""What answers the questions of the command behind the pipe."""

_RUNNING = SHELLS | {"eval", "su", "runuser"}
_PIP_MODULES = frozenset({"pip", "venv", "virtualenv", "ensurepip"})


def driver_of_instruction(name: str) -> Driver:
    """Return the driver of an instruction other than RUN, ARG and ENV."""
    return _INSTRUCTIONS.get(name, Driver.SETTINGS)


def drivers_of_units(units: Sequence[Unit]) -> list[Driver]:
    """Return the driver of each unit of a script.

    A unit whose commands all belong to one driver has that one; mixed ones, and what no driver claims, are
    "other RUN". ``cd``, ``set`` and assignments go with the unit that follows them, the last ones with the
    one before, since they mean nothing alone.
    """
    own = [_driver_of_unit(unit) for unit in units]
    result: list[Driver] = []
    following: Driver | None = None
    for driver in reversed(own):
        following = driver or following
        result.append(following or Driver.RUN)
    result.reverse()
    last = next((driver for driver in reversed(own) if driver is not None), Driver.RUN)
    for index in range(len(own) - 1, -1, -1):
        if own[index] is not None:
            break
        result[index] = last
    return result


def _driver_of_unit(unit: Unit) -> Driver | None:
    drivers = {
        driver_of_call(call) for call in calls_of(unit.commands) if "substitution" not in call.command.nesting
    } - {None}
    if not drivers:
        return None
    return drivers.pop() if len(drivers) == 1 else Driver.RUN


def driver_of_call(call: Call) -> Driver | None:
    """Return the driver of one command; None where it means nothing alone."""
    name = call.program
    texts = [word.text for word in call.words]
    if name in _NEUTRAL or (name in _RUNNING and _holds_script(call)):
        return None
    if name in git.PROGRAMS:
        return Driver.CLONE
    if name in apt.PROGRAMS or (name == "rm" and any(text.startswith(apt.LISTS) for text in texts)):
        return Driver.APT
    if name in pip.PROGRAMS or name in conda.PROGRAMS or name in {"uvx", "pyenv", "virtualenv"}:
        return Driver.PIP
    verbs = _PIP_VERBS.get(name)
    if verbs is not None and texts[1:2] and texts[1] in verbs:
        module = texts[2] if texts[1] == "-m" and len(texts) > 2 else "pip"
        return Driver.PIP if module in _PIP_MODULES else Driver.RUN
    if name in _PRODUCERS and call.following:
        return None
    if name in {"echo", "test", "["} and not call.command.redirections and call.command.nesting:
        return None
    return Driver.RUN


def _holds_script(call: Call) -> bool:
    """Return whether the shell's own script is among the commands that follow it."""
    if call.program == "eval":
        return len(call.words) > 1 and all(word.static for word in call.words)
    return any(word.text.startswith("-") and word.text.endswith("c") for word in call.words[1:]) or any(
        each.operator == "<<" for each in call.command.redirections
    )
