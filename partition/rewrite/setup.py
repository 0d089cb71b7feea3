"""What is left of a program as a POSIX shell script that a started container runs once, before the agent.

The script does what the build would have done from there on: each command with its own words, user, folder
and environment, files with their bytes, modes, owners and links, in order. It stops at the first command
that fails, is a no-op once it is done, and leaves nothing of itself behind (``setup.sh``), nor the later
history of a clone that was taken back to a commit (``checkout.sh``).
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
import zlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from partition.errors import Fault
from partition.rewrite.base_variables import DEFAULT_PATH
from partition.rewrite.carried import READ_FIRST
from partition.rewrite.program import Fixed, Put, Run
from partition.rewrite.refusal import Refused
from partition.rewrite.unpack import UnusableArchiveError, unpacked
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from partition.rewrite.program import Program, State, Step

_INTRODUCTION = """\
#!/bin/sh
# Set-up of this task's container: what is left of its Dockerfile. Run it once, as root, before anything else.
"""
_LEVEL = 4
_GZIP_WBITS = 31
"""Of zlib: with the header of RFC 1952, its MTIME zero."""
_SCRIPTS = "/var/lib/envfold/scripts"
_PLAIN = re.compile(rb"[\t\n -~]*\Z")
"""Bytes that every shell hands on from a heredoc as they are."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The set-up of one task.

    Parameters
    ----------
    script
        Shell text; bytes that are not UTF-8 are escaped as ``surrogateescape`` does.
    digest
        What the done marker holds: set-ups with equal digests do the same.
    later
        The variables that it leaves in a file for the commands that come after it.
    """

    script: str
    digest: str
    later: tuple[tuple[str, str], ...] = ()

    @cached_property
    def payload(self) -> bytes:
        """The script's bytes."""
        return self.script.encode("utf-8", "surrogateescape")

    @cached_property
    def packed(self) -> str:
        """The script's bytes for ``base64 -d | gzip -dc``."""
        done, packed, begun = _packed_head()
        compressor = begun.copy()
        rest = compressor.compress(self.payload[done:]) + compressor.flush()
        return base64.b64encode(packed + rest).decode("ascii")


def setup_of(
    program: Program,
    folders: Sequence[str] = (),
    *,
    hidden: Collection[str] = (),
    remove: Sequence[str] = (),
    keep: Mapping[str, Collection[str]] = MappingProxyType({}),
    later: Sequence[tuple[str, str]] = (),
    origin: str = "Dockerfile",
) -> Setup | Refused:
    """Return the script that does what is left of a program.

    Parameters
    ----------
    program
        Its `environment` without `later` is what the container has; a step sees of that what was set by then.
    folders
        Absolute paths; those that the image lists in ``/var/lib/envfold/folders`` are there only for the
        container to start in, and are removed first where they are empty.
    hidden
        Names of further variables that the container has and no step may see.
    remove
        Absolute paths that are removed last: what other tasks of the same image use.
    keep
        For folders of the image, by absolute path, the names in them that stay; all others are removed last.
        Names without spaces.
    later
        Variables that only commands after the set-up find set, by `partition.rewrite.carried`.
    origin
        What the steps' lines count, as the script's messages say it: a plain word.

    Returns
    -------
    Setup | Refused
        Refused with every step that only a build can do.
    """
    late = {name for name, _ in program.environment} - {name for name, _ in later} | set(hidden)
    faults: list[Fault] = []
    lines: list[str] = []
    if later:
        late.add(READ_FIRST)
        lines.append(_words("later", *(f"{name}={value}" for name, value in later)))
    number = 0
    for step in program.steps:
        try:
            for each in _parts(step):
                lines += _written(each, number, late)
                number += 2 if isinstance(each, Run) and each.caches else 1
        except (UnusableArchiveError, _CannotError) as error:
            faults.append(
                Fault(
                    where=f"{program.where}:{step.line}",
                    what=f"cannot be done in a started container: {error}",
                    hint="the task keeps its own environment",
                )
            )
    if faults:
        return Refused(reasons=tuple(faults))
    lines += [_words("only", folder, *sorted(set(names))) for folder, names in sorted(keep.items())]
    last = _words("finish", *sorted(set(remove)))
    first = sorted(set(folders), key=lambda path: (-path.count("/"), path))
    body = "\n".join([*lines, last]) + "\n"
    digest = hashlib.sha256(f"{_words(*first)}\n{body}".encode("utf-8", "surrogateescape")).hexdigest()
    said = "" if origin == "Dockerfile" else f"origin={origin}\n"
    script = f"{_head()}{said}{_words('begin', digest, *first)}\n{body}"
    return Setup(script=script, digest=digest, later=tuple(later))


class _CannotError(Exception):
    """Why a step cannot be done, as a sentence's end."""


@lru_cache(maxsize=1)
def _head() -> str:
    """Return what every script begins with."""
    folder = Path(__file__).parent
    functions = ((folder / name).read_text(encoding="ascii") for name in ("setup.sh", "checkout.sh"))
    return "\n".join((_INTRODUCTION, *functions, ""))


@lru_cache(maxsize=1)
def _packed_head() -> tuple[int, bytes, zlib._Compress]:
    """Return how many bytes every script begins with, what gzip makes of them, and gzip behind them."""
    head = _head().encode("ascii")
    compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP_WBITS)
    return len(head), compressor.compress(head), compressor


def _words(*words: str) -> str:
    return " ".join(map(shlex.quote, words))


def _parts(step: Step) -> Iterable[Step]:
    return unpacked(step) if isinstance(step, Put) and step.unpack else (step,)


def _written(step: Step, number: int, late: Collection[str]) -> Iterator[str]:
    if isinstance(step, Run):
        caches = [(str(step.line), path, f"{number}-{index}") for index, path in enumerate(step.caches)]
        yield from (_words("aside", str(number), *each) for each in caches)
        yield _run(step, number, late)
        yield from (_words("back", str(number + 1), *each) for each in reversed(caches))
        return
    if isinstance(step, Put):
        yield _put(step, number)
        return
    if isinstance(step, Fixed):
        raise _CannotError(step.why)
    raise _CannotError(f"it is of an unknown kind, {type(step).__name__}")


def _run(step: Run, number: int, late: Collection[str]) -> str:
    if any("\0" in word for word in step.argv):
        raise _CannotError("a word of the command holds a NUL byte")
    head = ("run", str(number), str(step.line), step.state.user or "-", step.state.workdir)
    if step.script is None:
        return _words(*head, *_variables(step.state, late), "--", *step.argv)
    name = f"{_SCRIPTS}/{number}"
    data = step.script.encode("utf-8", "surrogateescape")
    form, body = _heredoc(data)
    return "\n".join(
        [
            _words("put", str(number), str(step.line), name, "755", "0:0", str(number), form) + body,
            _words(*head, *_variables(step.state, late), "--", name),
        ]
    )


def _variables(state: State, late: Collection[str]) -> Iterator[str]:
    """Yield what env(1) takes to turn the container's environment into that of `state`."""
    known = dict(state.environment)
    if "PATH" in late:
        known.setdefault("PATH", DEFAULT_PATH)
    for name in sorted(set(late) - known.keys() - {"HOME", "PATH"}):
        yield "-u"
        yield name
    for name, value in sorted(known.items()):
        yield f"{name}={value}"


def _put(step: Put, number: int) -> str:
    owner = step.owner or "0:0"
    head = (str(number), str(step.line), step.path)
    if "\0" in step.path:
        raise _CannotError("the path holds a NUL byte")
    if step.entry.kind is Kind.DIRECTORY:
        return _words("folder", *head, "-" if step.mode is None else f"{step.mode:o}", owner)
    if step.entry.kind is Kind.LINK:
        return _words("link", *head, step.entry.target, owner)
    mode = f"{0o644 if step.mode is None else step.mode:o}"
    form, body = _heredoc(step.entry.read())
    return _words("put", *head, mode, owner, step.entry.path.rpartition("/")[2], form) + body


def _heredoc(data: bytes) -> tuple[str, str]:
    """Return the form that `data` is written in, and the redirection that hands it over."""
    if not data:
        return "text", " </dev/null"
    if _PLAIN.match(data) is None:
        form, text = "base64", base64.encodebytes(data).decode("ascii")
    else:
        text = data.decode("ascii")
        form = "text" if text.endswith("\n") else str(len(data))
        text = text if text.endswith("\n") else text + "\n"
    word = _unused("END", text.splitlines().__contains__)
    return form, f" <<'{word}'\n{text}{word}"


def _unused(word: str, is_used: Callable[[str], bool]) -> str:
    while is_used(word):
        word += "_"
    return word
