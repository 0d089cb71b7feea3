"""The normal form of an environment: equal for two that differ only in ways that no build can tell."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.environments.dockerfile import parse_dockerfile
from partition.environments.snapshot import IGNORED_NAMES
from partition.errors import InputError
from partition.tasks.text import decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.instruction import Heredoc, Instruction
    from partition.errors import Fault
    from partition.tasks.model import Entry

DOCKERFILE = "Dockerfile"

_SCRIPT_SUFFIXES = frozenset({"sh", "bash", "zsh", "py", "pl", "rb", "js"})
_SCRIPT_NAMES = re.compile(r"(Dockerfile|\.dockerignore|requirements[^/]*\.txt)\Z")
MOST_TEXT = 1 << 20
"""Bytes from which a file is taken for data: it is hashed as it is and never held in memory."""

_SNIFFED = 8000
"""Bytes in which git looks for a zero byte before it takes a file for text (``buffer_is_binary``)."""

_QUOTING = re.compile(r"""["'`\\]""")
_SHELL_FORMS = frozenset({"RUN", "CMD", "ENTRYPOINT"})


class Difference(StrEnum):
    """What alone makes two false duplicates differ; each is removed after those before it."""

    IGNORED = "ignored names"
    """Files that the content key leaves out and the legacy key does not."""
    LINE_ENDINGS = "line endings"
    FINAL_NEWLINE = "final newline"
    COMMENTS = "comments and white space"
    """In the Dockerfile; those of a script are left alone."""


def normal_forms(files: Sequence[tuple[str, Entry]]) -> dict[Difference, bytes]:
    """Return a digest of the environment for each difference, it and all before it removed.

    Parameters
    ----------
    files
        Paths and the files that they stand for, as a snapshot key covers them.

    Returns
    -------
    dict
        16 bytes for each difference. Two environments have the same bytes for `COMMENTS` if they differ
        in nothing else, and for an earlier difference if they do not even need the later ones.

    Raises
    ------
    InputError
        A file cannot be read.

    Notes
    -----
    Line endings are removed from scripts and the Dockerfile; from every text file where a checkout with
    ``core.autocrlf`` shows, which writes CR LF at the end of every line of every text file. In the
    Dockerfile, comments, blank lines, continuations and the case of instructions go too, by BuildKit's
    rules, and so does the width of white space where no quote or backslash is near. Data files stay as
    they are.
    """
    kept = [(path, entry) for path, entry in files if IGNORED_NAMES.isdisjoint(path.split("/"))]
    convert = _is_crlf_checkout(kept)
    forms = [
        (path.encode("utf-8", "surrogateescape"), _file_forms(path, entry, convert=convert))
        for path, entry in kept
    ]
    digests: dict[Difference, bytes] = {}
    for position, difference in enumerate(Difference):
        digest = hashlib.sha256()
        for name, stages in forms:
            digest.update(len(name).to_bytes(4, "big") + name + stages[position])
        digests[difference] = digest.digest()[:16]
    return digests


def _file_forms(path: str, entry: Entry, *, convert: bool) -> tuple[bytes, bytes, bytes, bytes]:
    """Return digests of one file as it is, with LF, with a final newline, and without comments."""
    if entry.size >= MOST_TEXT:
        return (_hash_chunks(entry),) * 4
    data = entry.read()
    raw = _hash(data)
    script = _is_script(path, data)
    if not (script or (convert and _is_text(data))):
        return (raw,) * 4
    lines = data.replace(b"\r\n", b"\n") if b"\r" in data else data
    plain = raw if lines is data else _hash(lines)
    if not script:
        return (raw, plain, plain, plain)
    ended = lines.rstrip(b"\n") + b"\n" if lines else lines
    ends = plain if ended == lines else _hash(ended)
    return (raw, plain, ends, read_dockerfile(ended).form if path == DOCKERFILE else ends)


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a Dockerfile shows.

    Parameters
    ----------
    form
        Digest of what BuildKit makes of it; of the file itself where it cannot be built.
    faults
        Why it cannot be built, at lines of ``Dockerfile``.
    """

    form: bytes
    faults: tuple[Fault, ...] = ()


@lru_cache(maxsize=512)
def read_dockerfile(data: bytes) -> Reading:
    """Parse a Dockerfile; the last ones are remembered, since tasks often share it and not the context.

    Parameters
    ----------
    data
        The file. Line endings inside heredocs are part of what BuildKit makes of it.
    """
    try:
        dockerfile = parse_dockerfile(decode(data, where=DOCKERFILE), where=DOCKERFILE)
    except InputError as error:
        return Reading(_hash(data), error.faults)
    form = (dockerfile.directives, *map(_instruction, dockerfile.instructions))
    return Reading(_hash(repr(form).encode("utf-8", "surrogateescape")))


def _instruction(instruction: Instruction) -> tuple[object, ...]:
    args = instruction.args
    if instruction.trigger is not None:
        return (instruction.name, _instruction(instruction.trigger))
    if instruction.name in _SHELL_FORMS and not instruction.json:
        args = tuple(arg if _QUOTING.search(arg) else " ".join(arg.split()) for arg in args)
    return (instruction.name, instruction.flags, args, instruction.json, *map(_heredoc, instruction.heredocs))


def _heredoc(heredoc: Heredoc) -> tuple[object, ...]:
    return (heredoc.name, heredoc.content, heredoc.expand)


def _is_script(path: str, data: bytes) -> bool:
    name = path.rpartition("/")[2]
    if name.rpartition(".")[2] in _SCRIPT_SUFFIXES and "." in name:
        return True
    return data.startswith(b"#!") or _SCRIPT_NAMES.match(name) is not None


def _is_text(data: bytes) -> bool:
    return b"\0" not in data[:_SNIFFED]


def _is_crlf_checkout(files: Sequence[tuple[str, Entry]]) -> bool:
    """Return whether every line of every text file ends in CR LF, the Dockerfile's first of all."""
    dockerfile = next((entry for path, entry in files if path == DOCKERFILE), None)
    if dockerfile is None or dockerfile.size >= MOST_TEXT or not _has_only_crlf(dockerfile.read()):
        return False
    small = [entry for _, entry in files if entry.size < MOST_TEXT]
    return all(_has_only_crlf(data) or b"\n" not in data for data in map(_text, small))


def _text(entry: Entry) -> bytes:
    data = entry.read()
    return data if _is_text(data) else b""


def _has_only_crlf(data: bytes) -> bool:
    return b"\n" in data and data.count(b"\n") == data.count(b"\r\n")


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _hash_chunks(entry: Entry) -> bytes:
    digest = hashlib.sha256()
    for chunk in entry.chunks():
        digest.update(chunk)
    return digest.digest()
