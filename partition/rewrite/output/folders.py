"""Write tasks as directories."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING

from partition.tasks.model import Kind

if TYPE_CHECKING:
    from pathlib import Path

    from partition.tasks.model import Entry, Tree


def write_folder(folder: Path, tree: Tree) -> None:
    """Write `tree` as `folder`; what an interrupted run left there is removed first.

    Raises
    ------
    OSError
        As the system says, a full disk for example.
    InputError
        A file of the source cannot be read any more.
    """
    remove(folder)
    folder.mkdir(parents=True)
    folders = []
    for entry in tree.entries:
        path = folder / entry.path
        if entry.kind is Kind.DIRECTORY:
            path.mkdir()
            folders.append((path, entry.mode))
        elif entry.kind is Kind.LINK:
            path.symlink_to(entry.target)
        else:
            _write(path, entry)
    for path, mode in reversed(folders):
        path.chmod(mode)


def remove(path: Path) -> None:
    """Remove whatever is at `path`, folders without permissions included; nothing there is fine."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    with contextlib.suppress(OSError):
        path.chmod(0o700)
    for directory, folders, _ in os.walk(path):
        for name in folders:
            inner = os.path.join(directory, name)  # noqa: PTH118 - os.walk speaks in strings
            if not os.path.islink(inner):  # noqa: PTH114
                with contextlib.suppress(OSError):
                    os.chmod(inner, 0o700)  # noqa: PTH101
    shutil.rmtree(path)


def _write(path: Path, entry: Entry) -> None:
    with path.open("xb") as stream:
        for chunk in entry.chunks():
            stream.write(chunk)
    path.chmod(entry.mode)
