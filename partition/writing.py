"""Writing files so that a reader sees all of one or nothing of it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from partition.errors import InputError

TEMPORARY = ".envfold-"
"""How the names of files start that are not whole yet."""


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to a temporary name beside `path`, flush it to disk, and rename it.

    Raises
    ------
    InputError
        Nothing was written: the folder is missing, not writable, or the disk is full.
    """
    path = Path(path)
    temporary: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise InputError(
            f"{path}: not written: {error.strerror or error}",
            hint="free some space or name another place; nothing half-written was left behind",
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def write_new(path: Path, data: bytes) -> None:
    """Write `data` to a path where nothing is, or where the same bytes are already.

    Missing folders are made. The file appears whole or not at all, and never replaces another.

    Raises
    ------
    InputError
        Something else is there, or nothing could be written.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_bytes() == data:
            return
    except OSError as error:
        raise InputError(
            f"{path}: not written: {error.strerror or error}", hint="name another place"
        ) from error
    if path.exists():
        raise InputError(f"{path}: something else is there", hint="move it away, or name another place")
    write_atomically(path, data)
