"""Put a finished output in its place: all of it at once, and never over something else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from partition.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def publish_files(files: Mapping[Path, Path]) -> None:
    """Give finished files their names, in order; one that has its name already is left alone.

    Parameters
    ----------
    files
        Each file's place, by where it is now. The dataset comes last: as long as it is not there,
        nothing looks finished.

    Raises
    ------
    InputError
        Something else has one of the names.
    """
    flush()
    for file, place in files.items():
        if is_same(file, place):
            continue
        try:
            # unlike a renaming, it fails where something is
            os.link(file, place)
        except FileExistsError:
            raise _in_the_way(place) from None
        except OSError:
            # no hard links on this file system
            if os.path.lexists(place):
                raise _in_the_way(place) from None
            file.rename(place)
        _flush_folder(place.parent)


def publish_folder(folder: Path, place: Path) -> None:
    """Give a finished directory its name.

    Raises
    ------
    InputError
        Something else has the name.
    """
    flush()
    if os.path.lexists(place):
        raise _in_the_way(place)
    folder.rename(place)
    _flush_folder(place.parent)


def is_same(file: Path, place: Path) -> bool:
    """Return whether both are one file."""
    try:
        return file.samefile(place)
    except OSError:
        return False


def flush() -> None:
    """Let everything written reach the disk."""
    os.sync()


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _in_the_way(place: Path) -> InputError:
    return InputError(
        f"{place} exists, and a rewrite never overwrites", hint="name another place, or move it away"
    )
