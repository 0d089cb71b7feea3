"""Writing files so that a reader sees all of one or nothing of it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from partition.errors import InputError


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` to a temporary name beside `path`, flush it to disk, and rename it.

    Raises
    ------
    InputError
        Nothing was written: the folder is missing, not writable, or the disk is full.
    """
    path = Path(path)
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise InputError(
            f"{path}: not written: {error.strerror or error}",
            hint="free some space or name another place; nothing half-written was left behind",
        ) from error
