"""What is left of a program as a POSIX shell script that a started container runs once, before the agent.

The script does what the build would have done from there on: each command with its own words, user, folder
and environment, files with their bytes, modes, owners and links, in order. It stops at the first command
that fails, is a no-op once it is done, and leaves nothing of itself behind (``setup.sh``), nor the later
history of a clone that was taken back to a commit (``checkout.sh``).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import shlex
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from partition.errors import Fault
from partition.rewrite.program import Fixed, Put, Run
from partition.rewrite.refusal import Refused
from partition.rewrite.unpack import UnusableArchiveError, unpacked
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from partition.rewrite.program import Program, State, Step

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""PATH of a build whose base image sets none (BuildKit, ``util/system/path.go``)."""

_INTRODUCTION = """\
#!/bin/sh
# Set-up of this task's container: what is left of its Dockerfile. Run it once, as root, before anything else.
"""
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
    """

    script: str
    digest: str

    @cached_property
    def payload(self) -> bytes:
        """The script's bytes."""
        return self.script.encode("utf-8", "surrogateescape")

    @cached_property
    def packed(self) -> str:
        """The script's bytes for ``base64 -d | gzip -dc``."""
        return base64.b64encode(gzip.compress(self.payload, compresslevel=6, mtime=0)).decode("ascii")


def setup_of(
    program: Program,
    folders: Sequence[str] = (),
    *,
    hidden: Collection[str] = (),
    remove: Sequence[str] = (),
) -> Setup | Refused:
    """Return the script that does what is left of a program.

    Parameters
    ----------
    program
        Its `environment` is what the container has; a step sees of that what was set by then.
    folders
        Absolute paths; those that the image lists in ``/var/lib/envfold/folders`` are there only for the
        container to start in, and are removed first where they are empty.
    hidden
        Names of further variables that the container has and no step may see.
    remove
        Absolute paths that are removed last: what other tasks of the same image use.

    Returns
    -------
    Setup | Refused
        Refused with every step that only a build can do.
    """
    late = {name for name, _ in program.environment} | set(hidden)
    faults: list[Fault] = []
    lines: list[str] = []
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
    last = _words("finish", *sorted(set(remove)))
    first = sorted(set(folders), key=lambda path: (-path.count("/"), path))
    body = "\n".join([*lines, last]) + "\n"
    digest = hashlib.sha256(f"{_words(*first)}\n{body}".encode("utf-8", "surrogateescape")).hexdigest()
    script = f"{_INTRODUCTION}\n{_functions()}\n{_words('begin', digest, *first)}\n{body}"
    return Setup(script=script, digest=digest)


class _CannotError(Exception):
    """Why a step cannot be done, as a sentence's end."""


@lru_cache(maxsize=1)
def _functions() -> str:
    folder = Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="ascii") for name in ("setup.sh", "checkout.sh"))


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
