"""Commands that run another command: ``sudo``, ``env``, ``conda run``, ``bash -c``."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.script import Command, Word

SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_VERSIONED = re.compile(r"(python|pip)(\d+(\.\d+)?)?\Z")

_PREFIXES: dict[str, frozenset[str]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "--user", "--group"}),
    "env": frozenset({"-u", "-C", "--unset", "--chdir"}),
    "time": frozenset({"-f", "-o"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "nohup": frozenset(),
    "exec": frozenset(),
    "command": frozenset(),
    "builtin": frozenset(),
    "eatmydata": frozenset(),
    "travis_retry": frozenset(),
    "xargs": frozenset({"-a", "-n", "-P", "-I", "-d", "-L", "-s", "-E"}),
}
"""Prefix commands and their options that take a value."""

_RUNNERS = {
    ("conda", "run"): frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    ("mamba", "run"): frozenset({"-n", "--name", "-p", "--prefix", "--cwd"}),
    ("micromamba", "run"): frozenset({"-n", "--name", "-p", "--prefix", "--cwd", "-r"}),
    ("poetry", "run"): frozenset(),
    ("pipenv", "run"): frozenset(),
    ("pdm", "run"): frozenset(),
    ("uv", "run"): frozenset({"--python", "-p", "--with", "--directory", "--project"}),
}


def unwrap(words: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words of the command that really runs, without ``sudo``, ``env A=1``, ``conda run -n x``."""
    rest = tuple(words)
    while rest:
        name = posixpath.basename(rest[0].text)
        if name in _PREFIXES:
            rest = _behind_options(rest[1:], _PREFIXES[name], assignments=True)
        elif name in {"timeout", "gosu", "su-exec"}:
            rest = _behind_options(rest[1:], frozenset({"-s", "-k"}), assignments=False)[1:]
        elif len(rest) > 2 and (options := _RUNNERS.get((name, rest[1].text))) is not None:
            rest = _behind_options(rest[2:], options, assignments=False)
        else:
            return rest
    return rest


def program(words: Sequence[Word]) -> str:
    """Return the name of the program that `words` call, without its folder; ``pip3.9`` is ``pip``."""
    if not words:
        return ""
    name = posixpath.basename(words[0].text)
    match = _VERSIONED.match(name)
    return match[1] if match else name


def inner_script(command: Command) -> tuple[str, str, int | None] | None:
    """Return what a nested shell is given: (label, text, line), or None where there is none that is known.

    The line is that of the text's first character where the text is a heredoc, else None.
    """
    words = unwrap(command.words)
    name = program(words)
    texts = [word.text for word in words]
    if name == "eval" and len(words) > 1 and all(word.static for word in words[1:]):
        return "eval", " ".join(texts[1:]), None
    if name not in SHELLS and name not in {"su", "runuser"}:
        return None
    for index, text in enumerate(texts[1:], 1):
        is_option = text.startswith("-") and not text.startswith("--") and text.endswith("c")
        if is_option or (text == "--command" and name in {"su", "runuser"}):
            if index + 1 < len(words) and words[index + 1].static:
                return f"{name} -c", texts[index + 1], None
            return None
    if name in SHELLS and all(text.startswith("-") for text in texts[1:]):
        for redirection in command.redirections:
            if redirection.operator == "<<" and (
                redirection.target.static or "$" not in redirection.target.text
            ):
                return f"{name} <<", redirection.target.text, redirection.line
    return None


def _behind_options(words: Sequence[Word], valued: frozenset[str], *, assignments: bool) -> tuple[Word, ...]:
    index = 0
    while index < len(words):
        text = words[index].text
        if text == "--":
            index += 1
            break
        if text in valued:
            index += 2
        elif text.startswith("-") or (assignments and _ASSIGNMENT.match(text)):
            index += 1
        else:
            break
    return tuple(words[index:])
