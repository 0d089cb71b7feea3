"""How a task finds the virtual environment that its image holds for it, whatever way its scripts look for it.

Plain ``python`` and ``pip`` find it through PATH. Scripts that activate a conda environment, or name the
interpreter of one or of a virtual environment by its path, find links and stand-ins at those places.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from partition.rewrite.base_variables import DEFAULT_PATH
from partition.rewrite.program import Program, Put, State
from partition.tasks.model import Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIX = re.compile(
    r"(?<![\w.~-])((?:/[\w.-]+)*/(?:ana|mini|micro)?(?:conda|mamba|forge)3?)/(?:bin|envs|etc|condabin)\b"
)
_NAMED = re.compile(
    r"\b(?:conda|mamba)\s+(?:activate|run\s+(?:-n|--name))\s+([A-Za-z0-9][\w.-]*)|/envs/([\w.-]+)"
)
_VENV = re.compile(
    r"(?<![\w.-])((?:/[\w.-]+)+|(?:\./)?\.?[\w-]+)/bin/(?:python[\d.]*|pip[\d.]*|pytest|activate)\b"
)
_NO_VENV = frozenset({"/bin", "/usr", "/usr/local", "/usr/bin", "/opt"})
_DEFAULT_PREFIX, _DEFAULT_NAME = "/opt/miniconda3", "testbed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a task's scripts look for its environment.

    Parameters
    ----------
    prefixes
        Folders of a conda installation, sorted.
    names
        Names of conda environments, sorted.
    venvs
        Folders of virtual environments, absolute, sorted.
    """

    prefixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    venvs: tuple[str, ...] = ()


def places_in(texts: Iterable[str], workdir: str) -> Places:
    """Return the places that scripts name.

    Parameters
    ----------
    workdir
        What relative paths are relative to.
    """
    prefixes: set[str] = set()
    names: set[str] = set()
    venvs: set[str] = set()
    for text in texts:
        prefixes |= {match[1] for match in _PREFIX.finditer(text)}
        names |= {match[1] or match[2] for match in _NAMED.finditer(text)}
        venvs |= {posixpath.normpath(posixpath.join(workdir, match[1])) for match in _VENV.finditer(text)}
    venvs = {
        each
        for each in venvs - _NO_VENV - prefixes
        if not any(each.startswith(f"{prefix}/") for prefix in prefixes)
    }
    if names and not prefixes:
        prefixes = {_DEFAULT_PREFIX}
    return Places(
        prefixes=tuple(sorted(prefixes)), names=tuple(sorted(names - {"base"})), venvs=tuple(sorted(venvs))
    )


def activated(program: Program, venv: str, places: Places) -> Program:
    """Return the program with the virtual environment at hand, for its steps and in the container.

    Parameters
    ----------
    venv
        Absolute path of it in the image.
    """
    first: list[Put] = []
    for prefix in places.prefixes:
        first += _conda(prefix, venv, places.names or (_DEFAULT_NAME,))
    last = [_link(each, venv) for each in places.venvs if each != venv]
    steps = [replace(step, state=_state(step.state, venv)) for step in program.steps]
    container = _state(State(environment=program.environment), venv).environment
    return replace(program, steps=(*first, *steps, *last), environment=container)


def _state(state: State, venv: str) -> State:
    environment = dict(state.environment)
    path = environment.get("PATH", DEFAULT_PATH)
    folder = f"{venv}/bin"
    environment["PATH"] = path if folder in path.split(":") else f"{folder}:{path}"
    environment["VIRTUAL_ENV"] = venv
    return replace(state, environment=tuple(sorted(environment.items())))


def _conda(prefix: str, venv: str, names: tuple[str, ...]) -> list[Put]:
    def text(name: str) -> str:
        found = _template(name).replace("@VENV@", venv).replace("@PREFIX@", prefix)
        return found.replace("@NAME@", names[0])

    hook = f"{prefix}/etc/profile.d/conda.sh"
    python = f'#!/bin/sh\nexec {shlex.quote(venv)}/bin/python "$@"\n'
    return [
        _file(hook, text("conda.sh"), 0o644),
        _file(f"{prefix}/bin/activate", f'. {hook}\nconda activate "${{1-}}"\n', 0o755),
        _file(f"{prefix}/bin/conda", text("conda_command.sh"), 0o755),
        _file(f"{prefix}/bin/python", python, 0o755),
        _file(f"{prefix}/bin/python3", python, 0o755),
        *(_link(f"{prefix}/envs/{name}", venv) for name in names),
    ]


@lru_cache
def _template(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="ascii")


def _file(path: str, text: str, mode: int) -> Put:
    data = text.encode()
    entry = Entry(path=posixpath.basename(path), source=data, size=len(data))
    return Put(line=0, source="", state=State(), path=path, entry=entry, mode=mode)


def _link(path: str, target: str) -> Put:
    entry = Entry(path=posixpath.basename(path), kind=Kind.LINK, target=target)
    return Put(line=0, source="", state=State(), path=path, entry=entry)
