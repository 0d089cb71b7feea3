"""conda, mamba and micromamba, and the environment files that they read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partition.environments.commands.findings import Kind, arguments, subcommand
from partition.environments.requirement import canonical_requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call, Finding
    from partition.environments.script import Word

PROGRAMS = frozenset({"conda", "mamba", "micromamba"})

_VALUED = frozenset(
    {
        "-n",
        "--name",
        "-p",
        "--prefix",
        "-c",
        "--channel",
        "-f",
        "--file",
        "--solver",
        "--clone",
        "-r",
        "--root-prefix",
        "--repodata-fn",
        "--platform",
        "--subdir",
    }
)
_PYTHON = re.compile(r"(?:[\w.-]+::)?python\s*(?:=|==|~=|>=|<=)\s*(\d+\.\d+)")
_ITEM = re.compile(r"(\s*)-\s+(.*?)\s*\Z")
_KEY = re.compile(r"(\s*)([\w-]+)\s*:\s*(.*?)\s*\Z")


def read(call: Call) -> Iterator[Finding]:
    """Yield the packages, interpreter and files that a conda command names."""
    name, rest = subcommand(call.words, _VALUED)
    if name == "env" and rest and rest[0].text in {"create", "update"}:
        name, rest = f"env {rest[0].text}", rest[1:]
    if name not in {
        "create",
        "install",
        "update",
        "upgrade",
        "env create",
        "env update",
        "remove",
        "uninstall",
    }:
        return
    for option, word in arguments(rest, _VALUED):
        if option in {"-f", "--file"}:
            yield call.found(Kind.CONDA_FILE, word)
        elif option or name.startswith("env"):
            continue
        elif name in {"remove", "uninstall"}:
            yield call.found(Kind.OTHER, word, f"conda-removed:{word.text}")
        else:
            yield from _package(call, word)


def _package(call: Call, word: Word) -> Iterator[Finding]:
    python = python_of(word.text)
    if python is not None:
        yield call.found(Kind.PYTHON, word, python, detail="conda")
    elif word.text != "python":
        yield call.found(Kind.CONDA, word)


def python_of(package: str) -> str | None:
    """Return the interpreter that a conda package specification pins, ``3.9``, or None."""
    match = _PYTHON.match(package)
    return match[1] if match else None


def environment_file(text: str) -> Iterator[tuple[Kind, str, int]]:
    """Yield (kind, value, line) of the dependencies in an environment.yml.

    Only block lists are read, which is how conda writes them.
    """
    section = ""
    pip_indent: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        item, key = _ITEM.match(bare), _KEY.match(bare)
        if key and not key[1]:
            section, pip_indent = key[2], None
        elif item and section == "dependencies":
            indent, value = len(item[1]), item[2].strip("'\"")
            if pip_indent is not None and indent <= pip_indent:
                pip_indent = None
            if value.rstrip() in {"pip:", "pip :"}:
                pip_indent = indent
            elif pip_indent is not None:
                yield Kind.PIP, canonical_requirement(value), number
            elif (python := python_of(value)) is not None:
                yield Kind.PYTHON, python, number
            elif value != "python":
                yield Kind.CONDA, value, number
