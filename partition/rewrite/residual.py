"""What of a program the shared environment has already, and what it must have been installed with."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from partition.environments.commands import calls_of
from partition.environments.commands.findings import arguments, subcommand
from partition.environments.default_bases import is_official_python
from partition.environments.prefixes import SHELLS
from partition.environments.shell import parse_shell
from partition.rewrite.cutting import in_pieces
from partition.rewrite.program import Put, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.commands.findings import Call
    from partition.environments.script import Script, Unit
    from partition.plan.document import Environment
    from partition.rewrite.program import Program, Step

_LISTS = frozenset({"/var/lib/apt/lists/*", "/var/lib/apt/lists", "/var/lib/apt/lists/"})
_APT = frozenset({"apt-get", "apt", "aptitude", "dpkg"})
_PLAIN_APT = frozenset({"-y", "-yq", "-qy", "-yqq", "-qqy", "-q", "-qq", "--yes", "--assume-yes", "--quiet"})
_LEAN = "--no-install-recommends"
_PLAIN_PIP = frozenset(
    {
        "-q", "-qq", "--quiet", "--no-cache-dir", "--no-input", "--disable-pip-version-check",
        "--break-system-packages", "--prefer-binary", "--root-user-action",
    }
)  # fmt: skip
_VALUED = frozenset({"-o", "--option", "--root-user-action"})
_NEW_SOURCES = re.compile(
    r"/etc/apt|sources\.list|add-apt-repository|apt-key|\|\s*(sudo\s+(-\S+\s+)*)?(ba|da|z)?sh\b|<\("
)
"""After this a package of the same name may be another one: a script from elsewhere may add sources too."""
_OTHER_PYTHON = re.compile(r"activate|PATH=|\bsource\b|\bconda\b|\bpyenv\b|\balias\b")
_NEUTRAL = frozenset({"", "cd", "export", "set", "true", ":", "unset", "shopt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AptNeeds:
    """What tasks need of an apt installation that a plan's image leaves out.

    Parameters
    ----------
    recommends
        Packages are installed with those that they recommend.
    lists
        The package lists stay in the image, so that ``apt-get install`` works without ``update``.
    """

    recommends: bool = False
    lists: bool = False

    def __or__(self, other: AptNeeds) -> AptNeeds:
        """Return the needs of both."""
        return AptNeeds(
            recommends=self.recommends or other.recommends,
            lists=self.lists or other.lists,
        )


class _Role(Enum):
    """What a unit of a script does with packages."""

    INSTALL = "installs with apt"
    PIP = "installs with pip"
    UPDATE = "updates apt's lists"
    TIDY = "removes apt's lists or archives"
    REMOVE = "removes packages"
    APT = "does something else with apt"
    NEUTRAL = "means nothing alone"
    OTHER = "anything else"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A unit's role, and the packages where it installs some in a way that is fully understood."""

    role: _Role
    packages: tuple[str, ...] | None = None
    lean: bool = False


def without_baked(program: Program, environment: Environment) -> Program:
    """Return `program` without the installations that `environment` is known to hold.

    A unit of a script is dropped where every package that it names is in the environment; ``apt-get update``
    and the tidying up go where nothing is left that needs them. Everything else stays as it is, each RUN in
    pieces (see `cutting`), so that tasks can share its beginning.
    """
    readings = {index: found for index, step in enumerate(program.steps) if (found := _read(step))}
    dropped: dict[int, set[int]] = {index: set() for index in readings}
    apt = frozenset(environment.apt)
    pip = _baked_pip(environment)
    removed = left = False
    for index, step in enumerate(program.steps):
        removed = removed or _changes_sources(step)
        units = readings.get(index, ())
        for number, unit in enumerate(units):
            removed = removed or unit.role is _Role.REMOVE
            has = apt if unit.role is _Role.INSTALL else pip if _is_plain_python(step) else frozenset()
            packages = unit.packages
            if packages and not removed and all(_is_held(each, has) for each in packages):
                dropped[index].add(number)
            elif unit.role in {_Role.INSTALL, _Role.APT, _Role.REMOVE}:
                left = True
    if not left and any(dropped.values()):
        for index, units in readings.items():
            tidying = (n for n, unit in enumerate(units) if unit.role in {_Role.UPDATE, _Role.TIDY})
            dropped[index].update(tidying)
    steps: list[Step] = []
    for index, step in enumerate(program.steps):
        if not dropped.get(index) or not isinstance(step, Run):
            steps.append(step)
        elif (shorter := _without(step, readings[index], dropped[index])) is not None:
            steps.append(shorter)
    return replace(program, steps=in_pieces(steps))


def apt_needs(program: Program) -> AptNeeds:
    """Return what the program's apt installations leave in an image beside the packages they name."""
    recommends = lists = False
    for step in program.steps:
        for unit in _read(step) or ():
            recommends = recommends or (unit.role is _Role.INSTALL and not unit.lean)
            if unit.role is _Role.UPDATE:
                lists = True
            elif unit.role is _Role.TIDY and unit.lean:
                lists = False
    return AptNeeds(recommends=recommends, lists=lists)


def _changes_sources(step: Step) -> bool:
    if isinstance(step, Put):
        return step.path.startswith("/etc/apt")
    return isinstance(step, Run) and _NEW_SOURCES.search(step.script or step.argv[-1]) is not None


def _read(step: Step) -> tuple[_Reading, ...] | None:
    """Return what the units of a RUN do with packages; None where there are none or it cannot be cut."""
    if not isinstance(step, Run) or step.script is not None or len(step.argv) < 3:
        return None
    if step.argv[0].rpartition("/")[2] not in SHELLS or not step.argv[-2].endswith("c"):
        return None
    text = step.argv[-1]
    if not any(word in text for word in ("apt", "pip", "dpkg")):
        return None
    return _read_script(text, step.state.environment)


@lru_cache(maxsize=1024)
def _parsed(text: str, variables: tuple[tuple[str, str], ...]) -> Script:
    return parse_shell(text, variables=dict(variables))


@lru_cache(maxsize=1024)
def _read_script(text: str, variables: tuple[tuple[str, str], ...]) -> tuple[_Reading, ...] | None:
    script = _parsed(text, variables)
    if script.problems or "<<" in text or any(not unit.end for unit in script.units):
        return None
    readings = tuple(map(_reading, script.units))
    if _OTHER_PYTHON.search(text) is None:
        return readings
    return tuple(replace(each, packages=None) if each.role is _Role.PIP else each for each in readings)


def _reading(unit: Unit) -> _Reading:
    calls = list(calls_of(unit.commands))
    if len(calls) != 1 or calls[0].command.nesting or calls[0].command.redirections:
        texts = {call.program for call in calls}
        return _Reading(role=_Role.APT if texts & _APT else _Role.OTHER)
    call = calls[0]
    if call.program == "rm" and any(word.text.startswith("/var/lib/apt") for word in call.words):
        targets = [word.text for _, word in arguments(call.words[1:], ()) if not word.text.startswith("-")]
        only_lists = all(target in _LISTS for target in targets)
        return _Reading(role=_Role.TIDY if only_lists else _Role.OTHER, lean=True)
    if call.program in _APT:
        return _apt(call)
    if call.program in {"pip", "python"}:
        return _Reading(role=_Role.PIP, packages=_pip(call))
    return _Reading(role=_Role.NEUTRAL if call.program in _NEUTRAL else _Role.OTHER)


def _apt(call: Call) -> _Reading:
    if call.program == "dpkg":
        return _Reading(role=_Role.APT)
    name, rest = subcommand(call.words, _VALUED)
    if name == "update":
        return _Reading(role=_Role.UPDATE)
    if name in {"clean", "autoclean"}:
        return _Reading(role=_Role.TIDY)
    if name in {"remove", "purge", "autoremove", "autopurge"}:
        return _Reading(role=_Role.REMOVE)
    if name != "install":
        return _Reading(role=_Role.APT)
    before = call.words[1 : len(call.words) - len(rest) - 1]
    packages: list[str] = []
    lean = known = False
    options = []
    for option, word in arguments((*before, *rest), _VALUED):
        if option:
            options.append(option)
        elif word.static:
            packages.append(word.text)
        else:
            options.append("$")
    lean = _LEAN in options
    known = all(option in _PLAIN_APT or option in {_LEAN, "-o", "--option"} for option in options)
    return _Reading(role=_Role.INSTALL, packages=tuple(packages) if known else None, lean=lean)


def _pip(call: Call) -> tuple[str, ...] | None:
    """Return the requirements of a plain ``pip install``; None for anything else."""
    words = call.words
    if "/" in words[0].text:
        return None
    if call.program == "python":
        if [word.text for word in words[1:3]] != ["-m", "pip"]:
            return None
        words = words[2:]
    name, rest = subcommand(words, _VALUED)
    if name != "install" or len(words) - len(rest) != 2:
        return None
    found = []
    for option, word in arguments(rest, _VALUED):
        if not word.static or (option and option not in _PLAIN_PIP):
            return None
        if not option:
            found.append(word.text)
    return tuple(found)


def _is_held(package: str, has: frozenset[str]) -> bool:
    """Return whether a package is there as named: a name without a pin is served by any pin."""
    return package in has or any(each.partition("=")[0] == package for each in has if "==" not in each)


def _baked_pip(environment: Environment) -> frozenset[str]:
    """Return the requirements that the base image's own interpreter was given."""
    if len(environment.venvs) != 1 or not is_official_python(environment.base):
        return frozenset()
    lists = environment.venvs[0].lists
    if any(each.conda for each in lists):
        return frozenset()
    return frozenset(requirement for each in lists for requirement in each.pip)


def _is_plain_python(step: Step) -> bool:
    """Return whether ``pip`` is the base image's own."""
    names = {name for name, _ in step.state.environment}
    return step.state.user is None and names.isdisjoint({"PATH", "VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH"})


def _without(step: Run, readings: Sequence[_Reading], dropped: set[int]) -> Run | None:
    """Return the RUN without some units, which are known to succeed; None where nothing is left."""
    kept = [number for number in range(len(readings)) if number not in dropped]
    if all(readings[number].role is _Role.NEUTRAL for number in kept):
        return None
    text = step.argv[-1]
    units = _parsed(text, step.state.environment).units
    operators = [*(following.operator for _, following in pairwise(units)), ""]
    cut = text
    for number in sorted(dropped, reverse=True):
        unit, following = units[number], operators[number]
        if following == "&&" and unit.operator in {"", "&&"}:
            # true && x is x
            cut = cut[: unit.start] + cut[units[number + 1].start :]
        elif number + 1 == len(units) and unit.operator == "&&":
            cut = cut[: units[number - 1].end] + cut[unit.end :]
        else:
            cut = cut[: unit.start] + "true" + cut[unit.end :]
    return replace(step, argv=(*step.argv[:-1], cut), source=f"RUN {cut}")
