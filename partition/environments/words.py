"""Words of a shell command: quotes removed, known variables expanded, fields split as a shell does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partition.environments.script import Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r"\\([$`\"\\\n])")
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_DEFAULTS = {":-", "-", ":=", "="}


LONGEST_VALUE = 1 << 15
"""Characters of a value that is still remembered: assignments to themselves could double it each time."""


@dataclass(slots=True)
class Scope:
    """Variables whose value is known, and the names that were asked for since the last look."""

    variables: dict[str, str]
    used: set[str] = field(default_factory=set)

    def get(self, name: str) -> str | None:
        """Return the value of `name`, or None where it is not known."""
        self.used.add(name)
        return self.variables.get(name)

    def take_used(self) -> set[str]:
        """Return the names asked for, and forget them."""
        used, self.used = self.used, set()
        return used


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    static: bool = True
    splits: bool = False
    """Whether white space in it separates fields: it came from an unquoted variable."""


def fields(node: Node, data: bytes, scope: Scope, *, line: int, split: bool = True) -> list[Word]:
    """Return the words that `node` stands for: one, or several where an unquoted variable holds white space.

    Parameters
    ----------
    node
        A word-like node of the syntax tree over `data`.
    line
        Line that the words get.
    split
        Whether fields are split (not in assignments).
    """
    parts = list(_parts(node, data, scope))
    if not split or not any(part.splits and any(map(str.isspace, part.text)) for part in parts):
        text = "".join(part.text for part in parts)
        if not text and any(part.splits for part in parts) and split:
            return []
        return [Word(text=text, static=all(part.static for part in parts), line=line)]
    words: list[tuple[str, bool]] = []
    opened = False
    for part in parts:
        pieces = part.text.split() if part.splits else [part.text]
        if part.splits and part.text[:1].isspace():
            opened = False
        for index, piece in enumerate(pieces):
            if opened and index == 0:
                words[-1] = (words[-1][0] + piece, words[-1][1] and part.static)
            else:
                words.append((piece, part.static))
            opened = True
        if part.splits and part.text[-1:].isspace():
            opened = False
    return [Word(text=text, static=static, line=line) for text, static in words]


def _parts(node: Node, data: bytes, scope: Scope) -> Iterator[_Part]:
    text = data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")
    match node.type:
        case "raw_string":
            yield _Part(text[1:-1])
        case "ansi_c_string":
            yield _Part(_ESCAPE.sub(lambda match: _ANSI.get(match[1], match[0]), text[2:-1]))
        case "string":
            yield from _quoted(node, data, scope)
        case "concatenation" | "command_name":
            for child in node.children:
                yield from _parts(child, data, scope)
        case "simple_expansion":
            value = scope.get(text[1:])
            yield _Part(text, static=False) if value is None else _Part(value, splits=True)
        case "expansion":
            yield _expansion(node, text, data, scope)
        case (
            "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "brace_expression"
            | "translated_string"
        ):
            yield _Part(text, static=False)
        case _:
            yield _Part(_ESCAPE.sub(lambda match: "" if match[1] == "\n" else match[1], text))


def _quoted(node: Node, data: bytes, scope: Scope) -> Iterator[_Part]:
    position = node.start_byte + 1
    last = node.children[-1]
    closed = len(node.children) > 1 and last.type == '"' and not last.is_missing
    for child in node.children[1 : -1 if closed else None]:
        if child.type == "string_content" or child.is_missing:
            continue
        yield _literal(data[position : child.start_byte])
        for part in _parts(child, data, scope):
            yield _Part(part.text, part.static)
        position = child.end_byte
    yield _literal(data[position : last.start_byte if closed else node.end_byte])


def _literal(data: bytes) -> _Part:
    text = data.decode("utf-8", "surrogatepass")
    return _Part(_ESCAPE_IN_QUOTES.sub(lambda match: "" if match[1] == "\n" else match[1], text))


def _expansion(node: Node, text: str, data: bytes, scope: Scope) -> _Part:
    """Expand ``${NAME}`` and its forms with a default; leave the others as written."""
    names = [child for child in node.children if child.type == "variable_name"]
    if not names or node.children[1] != names[0]:
        return _Part(text, static=False)
    value = scope.get(data[names[0].start_byte : names[0].end_byte].decode())
    rest = data[names[0].end_byte : node.end_byte - 1].decode("utf-8", "surrogatepass")
    if not rest:
        return _Part(text, static=False) if value is None else _Part(value, splits=True)
    operator = next(
        (each for each in sorted(_DEFAULTS, key=len, reverse=True) if rest.startswith(each)), None
    )
    if operator is None or value is None:
        return _Part(text, static=False)
    if value or not operator.startswith(":"):
        return _Part(value, splits=True)
    default = rest[len(operator) :]
    plain = not any(each in default for each in "$`'\"\\")
    return _Part(default, splits=True) if plain else _Part(text, static=False)
