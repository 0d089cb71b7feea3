"""Interpreters: python itself, venvs, uv, pyenv, and the installers of conda."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partition.environments.commands import pip
from partition.environments.commands.findings import Kind, arguments, subcommand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call, Finding
    from partition.environments.script import Word

PROGRAMS = frozenset({"python", "uv", "uvx", "pyenv", "virtualenv"})

_VERSION = re.compile(r"(?:cpython-?|python-?)?(\d+\.\d+)(?:[\d.]|rc|a|b|-|$|:)")
_PACKAGE = re.compile(r"python(3\.\d+)(?:-(?:dev|venv|full|distutils|minimal|tk))?(?:=.*)?\Z")
_INSTALLER = re.compile(r"Mini(?:conda|forge|mamba)\d?-py(\d)(\d+)_")


def read(call: Call) -> Iterator[Finding]:
    """Yield interpreters, and what ``uv pip`` or ``python -m pip`` installs."""
    match call.program:
        case "python":
            yield from _python(call)
        case "uv":
            yield from _uv(call)
        case "uvx":
            return
        case "pyenv":
            name, rest = subcommand(call.words)
            if name in {"install", "global", "local"}:
                yield from _versions(call, [w for o, w in arguments(rest, ()) if not o], f"pyenv {name}")
        case _:
            options = [
                word
                for option, word in arguments(call.words[1:], ("-p", "--python"))
                if option in {"-p", "--python"}
            ]
            yield from _versions(call, options, "virtualenv")


def version_of_package(package: str) -> str | None:
    """Return the interpreter that an apt package ``python3.9`` or ``python3.9-venv`` brings, or None."""
    match = _PACKAGE.match(package)
    return match[1] if match else None


def version_of_installer(url: str) -> str | None:
    """Return the interpreter in the name of a conda installer, ``Miniconda3-py39_4.12.0-Linux-x86_64.sh``."""
    match = _INSTALLER.search(url)
    return f"{match[1]}.{match[2]}" if match else None


def _python(call: Call) -> Iterator[Finding]:
    texts = [word.text for word in call.words]
    if texts[1:2] == ["-m"] and len(texts) > 2:
        if texts[2] == "pip":
            name, rest = subcommand(call.words[2:], pip.VALUED)
            yield from pip.read_install(call, name, rest)
        elif texts[2] in {"venv", "virtualenv"}:
            yield from _versions(call, [call.words[0]], "venv")
    elif texts[1:2] == ["setup.py"] and len(texts) > 2 and texts[2] in {"install", "develop"}:
        yield call.found(Kind.PROJECT, call.words[1], f"setup.py {texts[2]}")


def _uv(call: Call) -> Iterator[Finding]:
    name, rest = subcommand(call.words, pip.VALUED | {"--directory", "--project"})
    if name in {"pip", "tool", "python"}:
        inner, words = subcommand((call.words[0], *rest))
        if name == "pip":
            yield from pip.read_install(call, inner, words)
            yield from _wanted(call, words, "uv pip")
        elif name == "tool" and inner == "install":
            tools = [word for option, word in arguments(words, pip.VALUED) if not option]
            yield from (call.found(Kind.OTHER, each, f"uv-tool:{each.text}") for each in tools)
        elif name == "python" and inner in {"install", "pin"}:
            yield from _versions(call, [w for o, w in arguments(words, ("-i",)) if not o], "uv python")
    elif name == "venv":
        yield from _wanted(call, rest, "uv venv")
    elif name == "sync":
        yield call.found(Kind.PROJECT, call.words[0], "uv sync")
        yield from _wanted(call, rest, "uv sync")
    elif name == "add":
        for option, word in arguments(rest, pip.VALUED):
            if not option:
                kind, value = pip.classify(word.text)
                yield call.found(kind, word, value)


def _wanted(call: Call, words: tuple[Word, ...], detail: str) -> Iterator[Finding]:
    """Yield the interpreter that ``--python`` names, where it is a version and not the path of a venv."""
    named = [word for option, word in arguments(words, pip.VALUED) if option in {"-p", "--python"}]
    yield from _versions(call, [word for word in named if not word.text.endswith("/python")], detail)


def _versions(call: Call, words: list[Word], detail: str) -> Iterator[Finding]:
    for word in words:
        match = _VERSION.match(word.text.rpartition("/")[2])
        if match:
            yield call.found(Kind.PYTHON, word, match[1], detail=detail)
