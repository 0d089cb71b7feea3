"""A Dockerfile after parsing: instructions as written, with the line that every character came from."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from partition.errors import InputError

_LEADING_TABS = re.compile(r"^\t+", re.MULTILINE)


class DockerfileError(InputError):
    """A Dockerfile that BuildKit would refuse; carries every fault with its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heredoc:
    """One ``<<NAME`` of an instruction with its body.

    Parameters
    ----------
    name
        The terminator, quotes removed.
    body
        Lines as written, each with its newline.
    expand
        Whether variables in the body are expanded: the terminator was not quoted.
    chomp
        Whether leading tabs are removed (``<<-``).
    line
        Line of the file that the body starts on.
    """

    name: str
    body: str
    expand: bool
    chomp: bool
    line: int

    @property
    def content(self) -> str:
        """Return the body as it is used, leading tabs removed where `chomp` says so."""
        return _LEADING_TABS.sub("", self.body) if self.chomp else self.body


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction.

    Parameters
    ----------
    name
        In capitals.
    original
        The logical line: continuations joined, comments inside them removed, heredoc bodies left out.
    flags
        ``--name=value``, quotes removed.
    args
        What follows the flags, split as the instruction wants it and not yet expanded. ENV and LABEL have
        a name, a value and ``=`` (nothing in the old form ``ENV name value``) for each variable.
    json
        Whether the arguments were a JSON array (exec form).
    heredocs
        In the order of their markers.
    start_line, end_line
        First and last line of the file, heredoc bodies included, counted from 1.
    pieces
        (offset in `original`, line) of each physical line that contributed to it, ascending.
    trigger
        The instruction that ONBUILD defers; None for every other.
    """

    name: str
    original: str
    flags: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    json: bool = False
    heredocs: tuple[Heredoc, ...] = ()
    start_line: int
    end_line: int
    pieces: tuple[tuple[int, int], ...]
    trigger: Instruction | None = None

    def line_at(self, offset: int) -> int:
        """Return the line of the file that holds the character at `offset` of `original`."""
        return self.pieces[max(bisect_right(self.pieces, (offset, 1 << 60)) - 1, 0)][1]

    def flag(self, name: str) -> str | None:
        """Return the value of ``--name=value``, the empty string for a bare ``--name``, None without it."""
        for flag in self.flags:
            key, _, value = flag[2:].partition("=")
            if key == name:
                return value
        return None

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Return the (name, value) pairs of ENV and LABEL as written."""
        return tuple(zip(self.args[::3], self.args[1::3], strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """Parser directives at the head of a file.

    Parameters
    ----------
    escape
        The escape character, a backslash or a backtick.
    syntax
        The frontend image of ``# syntax=``; None where nothing is said.
    """

    escape: str = "\\"
    syntax: str | None = None
