"""Read a directory of Harbor tasks, nested at any depth, without following a link.

Names are read as bytes and decoded as UTF-8, so that no locale changes a task's id or its key.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from partition.errors import Fault, InputError
from partition.tasks.assembly import INSTRUCTION, assemble, belonging_to, marks_task
from partition.tasks.model import Entry, Kind, Task, Tree
from partition.tasks.paths import CONTROL

if TYPE_CHECKING:
    from collections.abc import Iterator

_SKIPPED = frozenset({b".git"})


@dataclass(frozen=True, slots=True)
class Found:
    """A task directory, or a directory that cannot be looked into.

    Parameters
    ----------
    path
        Relative to the dataset's root, as the system's bytes; empty for the root itself.
    fault, hint
        Why it cannot be read, and what to do; empty for a task.
    """

    path: bytes
    fault: str = ""
    hint: str = ""


def find_tasks(root: Path) -> list[Found]:
    """Return the task directories at or below `root`, sorted by path.

    `marks_task` says what a task is; nothing below one is searched. A link to a task directory is
    reported, not followed.
    """
    found: list[Found] = []
    pending = [b""]
    while pending:
        relative = pending.pop()
        try:
            with os.scandir(os.fsencode(root) + b"/" + relative) as scan:
                children = list(scan)
        except OSError as error:
            found.append(Found(relative, f"cannot be listed: {error.strerror}", "give the permission"))
            continue
        folders = [child for child in children if child.is_dir(follow_symlinks=False)]
        others = [child for child in children if not child.is_dir(follow_symlinks=False)]
        if marks_task({_shown(each.name) for each in others}, {_shown(each.name) for each in folders}):
            found.append(Found(relative))
            continue
        beside = relative + b"/" if relative else b""
        pending.extend(beside + folder.name for folder in folders if folder.name not in _SKIPPED)
        found.extend(
            Found(beside + link.name, "is a link to a task and is not followed", "put the task itself there")
            for link in others
            if link.is_symlink() and Path(os.fsdecode(link.path), INSTRUCTION).is_file()
        )
    return sorted(found, key=lambda each: each.path)


def find_files(root: Path, suffix: str) -> list[Path]:
    """Return the files at or below `root` whose names end in `suffix`, sorted; no link is followed."""
    found: list[Path] = []
    for directory, folders, names in os.walk(root):
        folders.sort()
        found.extend(Path(directory, name) for name in names if name.lower().endswith(suffix))
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


@dataclass(frozen=True, slots=True)
class Folder:
    """What `find_tasks` found at one place below `root`, not looked into yet."""

    root: Path
    found: Found

    @property
    def size(self) -> int:
        """Return 0: its files stay on disk."""
        return 0

    @property
    def name(self) -> str | None:
        """Return None: it is no row of a table."""
        return None

    def read(self) -> Iterator[Task | Fault]:
        """Yield the task, or its faults.

        The files' bytes stay on disk until they are asked for. The id of a task is its path below `root`
        with ``/`` between the parts; a single task given as `root` is called by its name.
        """
        found = self.found
        identifier = _shown(found.path) or _name(self.root)
        where = str(self.root / _shown(found.path))
        if found.fault:
            yield Fault(where=where, what=found.fault, hint=found.hint, task=identifier)
            return
        try:
            if CONTROL.search(_as_utf8(found.path, where)):
                raise _refused(where, "its name holds a control character", "rename it")
            files = read_tree(Path(self.root, os.fsdecode(found.path)), where=where)
        except InputError as error:
            yield from belonging_to(identifier, error)
            return
        yield from assemble(identifier, where, files)


def read_directory(root: Path, found: list[Found]) -> Iterator[Task | Fault]:
    """Yield, in order, the tasks that `find_tasks` found below `root`, and their faults."""
    return chain.from_iterable(Folder(root, each).read() for each in found)


def read_tree(folder: Path, *, where: str | None = None) -> Tree:
    """Return everything below `folder`; links stay links.

    Raises
    ------
    InputError
        With a fault for each path that is not UTF-8, is not readable, or is neither a file, a
        directory nor a link.
    """
    where = str(folder) if where is None else where
    entries: list[Entry] = []
    faults: list[Fault] = []
    pending: list[tuple[str, str]] = [("", os.fspath(folder))]
    while pending:
        prefix, directory = pending.pop()
        try:
            with os.scandir(os.fsencode(directory)) as scan:
                children = list(scan)
        except OSError as error:
            faults.append(Fault(where=f"{where}/{prefix}", what=f"cannot be listed: {error.strerror}"))
            continue
        for child in children:
            place = f"{where}/{prefix}{_shown(child.name)}"
            try:
                path = prefix + _as_utf8(child.name, place)
                entry = _entry(path, child, place)
            except InputError as error:
                faults.extend(error.faults)
                continue
            entries.append(entry)
            if entry.kind is Kind.DIRECTORY:
                pending.append((f"{path}/", os.fsdecode(child.path)))
    if faults:
        faults.sort(key=lambda fault: fault.where)
        raise InputError(f"{where} cannot be read", faults=faults)
    entries.sort(key=lambda entry: entry.path)
    return Tree(tuple(entries), name=_name(folder))


def _entry(path: str, child: os.DirEntry[bytes], place: str) -> Entry:
    try:
        status = child.stat(follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISLNK(status.st_mode):
            target = _as_utf8(os.readlink(child.path), place)  # noqa: PTH115 - Path would tidy the target
            return Entry(path=path, kind=Kind.LINK, mode=mode, target=target)
    except OSError as error:
        raise _refused(place, f"cannot be read: {error.strerror}") from error
    if stat.S_ISDIR(status.st_mode):
        return Entry(path=path, kind=Kind.DIRECTORY, mode=mode)
    if not stat.S_ISREG(status.st_mode):
        raise _refused(place, "is a device, a pipe or a socket", "remove it: it cannot be part of a task")
    if not os.access(child.path, os.R_OK):
        raise _refused(place, "cannot be read: permission denied", "give the permission")
    return Entry(path=path, source=Path(os.fsdecode(child.path)), size=status.st_size, mode=mode)


def _name(folder: Path) -> str:
    return folder.name if folder.name not in {"", ".."} else folder.resolve().name


def _shown(name: bytes) -> str:
    text = name.decode("utf-8", "backslashreplace")
    return CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def _as_utf8(name: bytes, place: str) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise _refused(place, "its name is not UTF-8", "rename it") from None


def _refused(place: str, what: str, hint: str = "") -> InputError:
    return InputError(f"{place} {what}", faults=[Fault(where=place, what=what, hint=hint)])
