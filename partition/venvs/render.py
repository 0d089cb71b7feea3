"""An image's virtual environments as part of its Dockerfile: the same venvs, the same bytes."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from partition.venvs.layout import INTERPRETERS, LOCKS, VENVS

if TYPE_CHECKING:
    from collections.abc import Iterable

UV = "0.13.9"
"""The uv that installs them inside the image."""

FOLDER = "venvs"
"""Folder of the build context with the lock files."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
_OLDEST_OF_UV = (3, 6)
"""The oldest interpreter that uv installs packages for."""

_OLDEST_WITH_UV = (3, 8)
"""The oldest interpreter that can start uv itself."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class BakedVenv:
    """One virtual environment of an image.

    Parameters
    ----------
    name
        Unique within the image; its folder below `VENVS`.
    python
        Minor version, ``3.9``.
    lock
        Text of its lock file, for pip and uv: every package with its version, with hashes where known.
    build
        Constraints on what its source-only packages are built with; empty where nothing is built.
    """

    name: str
    python: str
    lock: str
    build: str = ""


def rendered(venvs: Iterable[BakedVenv], interpreters: dict[str, str]) -> tuple[str, dict[str, bytes]]:
    """Return the instructions that make the venvs, and the files of the build context that they copy.

    Parameters
    ----------
    interpreters
        Path in the base image of the interpreter for a minor version; uv installs those that are not listed.

    Returns
    -------
    instructions
        One COPY and one RUN, without a final newline.
    files
        Bytes by path in the context.

    Raises
    ------
    ValueError
        Two venvs have one name, or a name is no plain folder name.
    """
    chosen = sorted(venvs)
    names = [each.name for each in chosen]
    if len({*names}) < len(names) or not all(map(_NAME.fullmatch, names)):
        raise ValueError(f"venvs need plain names of their own: {', '.join(names)}")
    lines = []
    files = {}
    known = [(_order(version), path) for version, path in interpreters.items()]
    _, start = max([(_OLDEST_WITH_UV, "python3"), *known])
    for each in chosen:
        how = "uv" if _order(each.python) >= _OLDEST_OF_UV else "pip"
        python = interpreters.get(each.python, each.python if how == "uv" else f"python{each.python}")
        lines.append(f"{each.name} {shlex.quote(python)} {how}\n")
        files[f"{FOLDER}/{each.name}.txt"] = each.lock.encode()
        if each.build:
            files[f"{FOLDER}/{each.name}.build.txt"] = each.build.encode()
    files[f"{FOLDER}/{FOLDER}"] = "".join(lines).encode()
    files[f"{FOLDER}/install.sh"] = _script()
    run = f"RUN sh {LOCKS}/install.sh {shlex.quote(start)}"
    return f"COPY {FOLDER}/ {LOCKS}/\n\n{run}", dict(sorted(files.items()))


def _order(python: str) -> tuple[int, ...]:
    return tuple(map(int, python.split(".")))


def _script() -> bytes:
    text = Path(__file__).with_name("install.sh").read_text(encoding="ascii")
    for name, value in {"VENVS": VENVS, "INTERPRETERS": INTERPRETERS, "UV": UV}.items():
        text = text.replace(f"@{name}@", value)
    return text.encode()
