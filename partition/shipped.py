"""Where the facts that are shipped with envfold lie."""

from __future__ import annotations

from pathlib import Path

from partition.errors import InputError

# beside this package, in a checkout and in an installation alike; found by path, so that a folder
# called `data` where the user happens to stand is never taken for it, let alone run
_DATA = Path(__file__).resolve().parents[1] / "data"


def shipped(folder: str, name: str) -> Path:
    """Return the path of one shipped table.

    Raises
    ------
    InputError
        The installation lacks it.
    """
    path = _DATA / folder / name
    if not path.is_file():
        raise InputError(f"{path} is not there", hint="install envfold again")
    return path
