"""What a command tells about the environment it runs in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from partition.environments.script import Command, Word


class Kind(StrEnum):
    """Kinds of finding; the value is what `Finding.value` holds."""

    APT = "apt"
    """``name``, ``name=version`` or ``name/release``."""
    APT_REMOVED = "apt removed"
    PIP = "pip"
    """A canonical requirement, or the argument as written (a URL)."""
    PIP_REMOVED = "pip removed"
    PROJECT = "project"
    """A source tree installed by pip: ``-e .[dev]``, ``.``."""
    REQUIREMENT_FILE = "requirement file"
    CONSTRAINT_FILE = "constraint file"
    CONDA = "conda"
    CONDA_FILE = "conda file"
    PYTHON = "python"
    """``3.9``; `detail` says who provides it."""
    OTHER = "other"
    """``npm:typescript``, ``cargo:ripgrep``, ``apk:git``."""
    CLONE = "clone"
    """A URL; `detail` is the destination as written, empty for git's own choice."""
    CHECKOUT = "checkout"
    """A commit, tag or branch; `detail` is the folder that ``-C`` names."""
    PIPED_SCRIPT = "piped script"
    """What is downloaded and run at once."""
    UNCHECKED_DOWNLOAD = "unchecked download"
    """A URL saved although the server may have answered with an error page."""
    UNRESOLVED = "unresolved"
    """A word that only a running shell could tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact with the line that it came from.

    Parameters
    ----------
    kind, value, detail
        See `Kind`.
    line
        Line of the Dockerfile.
    directory
        Where the command ran; None where that is not known.
    conditional
        Whether the command may be left out.
    """

    kind: Kind
    value: str
    line: int
    detail: str = ""
    directory: str | None = None
    conditional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A command without the prefixes (``sudo``, ``env``) that run it.

    Parameters
    ----------
    program
        Name without folder and version: ``pip`` for ``/usr/bin/pip3.9``.
    words
        Program and arguments.
    command
        The command as it stands in the script.
    following
        Program that it pipes its output into; empty without a pipe.
    """

    program: str
    words: tuple[Word, ...]
    command: Command
    following: str = ""

    def found(self, kind: Kind, word: Word, value: str | None = None, *, detail: str = "") -> Finding:
        """Return a finding at `word`; an unresolved one where only a shell could tell its text."""
        return Finding(
            kind=kind if word.static else Kind.UNRESOLVED,
            value=word.text if value is None or not word.static else value,
            line=word.line,
            detail=detail if word.static else kind.value,
            directory=self.command.directory,
            conditional=self.command.conditional,
        )


def arguments(words: Sequence[Word], valued: Collection[str]) -> Iterator[tuple[str, Word]]:
    """Yield (option, value) and ("", argument) pairs of a command line in order.

    Parameters
    ----------
    words
        What follows the subcommand.
    valued
        Options that take the next word as their value. A switch yields itself as its value. In a cluster of
        short options the first that takes a value has the rest of the cluster, or the next word.
    """
    index = 0
    only_arguments = False
    while index < len(words):
        word = words[index]
        text = word.text
        index += 1
        if only_arguments or not text.startswith("-") or text == "-":
            yield "", word
        elif text == "--":
            only_arguments = True
        elif text in valued and index < len(words):
            yield text, words[index]
            index += 1
        elif text.startswith("--"):
            option, equals, value = text.partition("=")
            yield option, _with_text(word, value) if equals else word
        elif position := next((n for n in range(1, len(text)) if f"-{text[n]}" in valued), 0):
            if position > 1:
                yield text[:position], word
            value = text[position + 1 :].removeprefix("=")
            if value or index >= len(words):
                yield f"-{text[position]}", _with_text(word, value)
            else:
                yield f"-{text[position]}", words[index]
                index += 1
        else:
            yield text, word


def subcommand(words: Sequence[Word], valued: Collection[str] = ()) -> tuple[str, tuple[Word, ...]]:
    """Return the first argument that is no option, and the words behind it; words[0] is the program."""
    index = 1
    while index < len(words):
        text = words[index].text
        if not text.startswith("-"):
            return text, tuple(words[index + 1 :])
        index += 2 if text in valued else 1
    return "", ()


def _with_text(word: Word, text: str) -> Word:
    return type(word)(text=text, static=word.static, line=word.line)
