"""What is wrong with a build context beside its key: files no image sees, scripts that cannot run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.syntax import ignore_matcher
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.tasks.model import Entry, Tree

_IGNORE_FILES = ("Dockerfile.dockerignore", ".dockerignore")
"""The first that exists counts (BuildKit, ``frontend/dockerui/config.go``)."""

_ALWAYS_SENT = frozenset({"Dockerfile", *_IGNORE_FILES})
_SHELL_SUFFIXES = ("sh", "bash")


def unseen_files(files: Sequence[tuple[str, Entry]]) -> list[tuple[str, Entry]]:
    """Return the files that ``.dockerignore`` keeps from the image, although Harbor's key covers them.

    Parameters
    ----------
    files
        Paths and the files that they stand for, as a snapshot key covers them.

    Raises
    ------
    ValueError
        ``.dockerignore`` holds a pattern that Docker refuses.
    InputError
        It cannot be read.
    """
    by_path = dict(files)
    ignore = next((by_path[name] for name in _IGNORE_FILES if name in by_path), None)
    if ignore is None:
        return []
    text = ignore.read().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    matcher = ignore_matcher([line.rstrip("\r") for line in text.split("\n")])
    return [(path, entry) for path, entry in files if path not in _ALWAYS_SENT and matcher.matches(path)]


def broken_scripts(tree: Tree) -> list[str]:
    """Return the paths of scripts that a CR breaks: in the ``#!`` line, or at any line's end in a shell's.

    Raises
    ------
    InputError
        A file cannot be read.
    """
    return [
        entry.path for entry in tree.entries if entry.kind is Kind.FILE and entry.size and _is_broken(entry)
    ]


def _is_broken(entry: Entry) -> bool:
    name = entry.path.rpartition("/")[2]
    suffix = name.rpartition(".")[2] if "." in name else ""
    if suffix in _SHELL_SUFFIXES:
        return any(b"\r\n" in chunk for chunk in entry.chunks())
    if suffix and suffix != "py":
        return False
    head = next(entry.chunks(), b"")[:256]
    return head.startswith(b"#!") and head.partition(b"\n")[0].endswith(b"\r")
