"""Heredocs of a shell script, taken out before the grammar sees it (it knows one a line at most)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARKER = re.compile(r"<<(-?)[ \t]*((?:'[^'\n]*'|\"[^\"\n]*\"|\\.|[^\s'\"\\;&|<>()`])+)")
_QUOTING = re.compile(r"['\"]|\\(?=.)")
_TABS = re.compile(r"^\t+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Body:
    """One heredoc body.

    Parameters
    ----------
    text
        The lines, leading tabs removed for ``<<-``.
    start
        Offset of the body in the script.
    quoted
        Whether the terminator was quoted, so that the shell expands nothing in it.
    """

    text: str
    start: int
    quoted: bool


def extract_heredocs(text: str) -> tuple[str, dict[int, Body]]:
    """Return `text` with every heredoc blanked out, and the bodies by the offset of their marker.

    The text keeps its length and its lines: a marker becomes a redirection from a file of some name, body
    and terminator become spaces. A heredoc without its terminator runs to the end, as in a shell.
    """
    if "<<" not in text:
        return text, {}
    characters = list(text)
    bodies: dict[int, Body] = {}
    pending: list[re.Match[str]] = []
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\n" and pending:
            position = _take_bodies(text, position + 1, pending, characters, bodies)
            pending = []
            continue
        if (
            character == "<"
            and (match := _MARKER.match(text, position))
            and text[position - 1 : position] != "<"
        ):
            characters[position : match.end()] = "<" + "x" * (match.end() - position - 1)
            pending.append(match)
            position = match.end()
            continue
        position = _skip(text, position)
    if pending:
        _take_bodies(text, len(text), pending, characters, bodies)
    return "".join(characters), bodies


def _take_bodies(
    text: str, start: int, pending: list[re.Match[str]], characters: list[str], bodies: dict[int, Body]
) -> int:
    for match in pending:
        chomp = bool(match[1])
        name = _QUOTING.sub("", match[2])
        end = start
        after = len(text)
        while end < len(text):
            newline = text.find("\n", end)
            stop = len(text) if newline < 0 else newline
            line = text[end:stop]
            if (line.lstrip("\t") if chomp else line).rstrip("\r") == name:
                after = stop
                break
            end = min(stop + 1, len(text))
        body = text[start:end]
        bodies[match.start()] = Body(_TABS.sub("", body) if chomp else body, start, name != match[2])
        for index in range(start, after):
            if characters[index] != "\n":
                characters[index] = " "
        start = min(after + 1, len(text))
    return start


def _skip(text: str, position: int) -> int:
    """Return the position behind what starts here and cannot hold a heredoc marker."""
    character = text[position]
    if character == "\\":
        return position + 2
    if character == "'":
        end = text.find("'", position + 1)
        return len(text) if end < 0 else end + 1
    if character == '"':
        position += 1
        while position < len(text) and text[position] != '"':
            position += 2 if text[position] == "\\" else 1
        return position + 1
    if character == "#" and (position == 0 or text[position - 1].isspace() or text[position - 1] in ";&|("):
        end = text.find("\n", position)
        return len(text) if end < 0 else end
    if text.startswith("((", position):
        end = text.find("))", position)
        return position + 2 if end < 0 else end + 2
    if text.startswith("<<<", position):
        return position + 3
    return position + 1
