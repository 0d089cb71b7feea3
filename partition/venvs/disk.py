"""What packages take on disk, once for an image and again for each virtual environment.

Installers that link (uv) put a wheel's files into an image once; each further environment adds names for
them, which a layer stores as one header each (POSIX.1-2017, pax: ustar interchange format).
"""

from __future__ import annotations

import csv
import io
import os
import zipfile
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from partition.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

RECORD = 512
"""Bytes of a header, and what contents are rounded up to, in a layer."""
BLOCK = 4096
"""What files and folders are rounded up to in a file system."""

_SCRIPT = 330
"""Bytes of the script that an installer writes for an entry point."""
_OWN = frozenset({"RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_build.json", "uv_cache.json"})
"""Files of ``*.dist-info`` that an installer writes anew in every environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Files of an installed package or of a whole folder.

    Parameters
    ----------
    files, folders
        Number of files that environments can share, and of folders.
    bytes, records, blocks
        Bytes of these files: as they are, rounded up to `RECORD` and to `BLOCK` each.
    own_files, own_bytes, own_records, own_blocks
        The same for files that each environment has of its own: scripts, and what the installer notes.
    """

    files: int = 0
    folders: int = 0
    bytes: int = 0
    records: int = 0
    blocks: int = 0
    own_files: int = 0
    own_bytes: int = 0
    own_records: int = 0
    own_blocks: int = 0

    def __add__(self, other: Size) -> Size:
        """Return both together."""
        return Size(**{name: getattr(self, name) + getattr(other, name) for name in _NAMES})

    @property
    def once(self) -> int:
        """Bytes of an image layer that all environments of the image share."""
        return self.records

    @property
    def each(self) -> int:
        """Bytes of an image layer that every environment adds: headers, links included, and its own files."""
        return RECORD * (self.files + self.folders + self.own_files) + self.own_records


_NAMES = tuple(Size.__dataclass_fields__)


def size_of_wheel(path: Path) -> Size:
    """Return what a wheel takes when installed, from its table of contents alone.

    Raises
    ------
    InputError
        The file is no wheel.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            points = [each for each in members if each.filename.endswith(".dist-info/entry_points.txt")]
            scripts = sum(_scripts(archive.read(each)) for each in points if each.file_size < 1 << 20)
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a wheel: {error}", hint="fetch it again") from error
    entries = [(PurePosixPath(member.filename), member.file_size) for member in members]
    shared: list[int] = []
    own = [_SCRIPT] * scripts + [2, 0]
    for name, size in entries:
        (own if _is_own(name) else shared).append(size)
    folders = {folder for name, _ in entries for folder in _below_data(name).parents} - {PurePosixPath()}
    return _sized(shared, own, len(folders))


def size_of_installed(folder: Path, record: Path) -> Size:
    """Return what a package takes in the folder that it was installed into.

    Parameters
    ----------
    folder
        The ``site-packages`` that paths in `record` are relative to.
    record
        The package's ``RECORD`` (PyPA specification "Recording installed projects").
    """
    shared: list[int] = []
    own: list[int] = []
    folders: set[PurePosixPath] = set()
    text = record.read_text(encoding="utf-8", errors="replace")
    for row in csv.reader(io.StringIO(text)):
        name = PurePosixPath(row[0]) if row else PurePosixPath()
        path = folder / name
        if not name.parts or name.is_absolute() or name.suffix == ".pyc" or not path.is_file():
            continue
        (own if _is_own(name) else shared).append(path.stat().st_size)
        folders |= {each for each in name.parents if ".." not in each.parts}
    return _sized(shared, own, len(folders - {PurePosixPath()}))


def size_of_folder(folder: Path, *, without: Iterable[str] = ()) -> Size:
    """Return what a folder takes: files with several names in it once, links as a header, bytecode left out.

    Parameters
    ----------
    without
        Names of folders and files that are left out wherever they are; ``*.a`` by suffix as ``.a``.
    """
    unwanted = {*without, "__pycache__"}
    seen: set[tuple[int, int]] = set()
    shared: list[int] = []
    names = folders = 0
    for place, inner, files in os.walk(folder):
        inner[:] = sorted(each for each in inner if each not in unwanted)
        folders += 1
        for each in files:
            if each in unwanted or Path(each).suffix in unwanted:
                continue
            found = (Path(place) / each).lstat()
            names += 1
            if (found.st_dev, found.st_ino) not in seen and not Path(place, each).is_symlink():
                seen.add((found.st_dev, found.st_ino))
                shared.append(found.st_size)
    size = _sized(shared, [], folders)
    return size + Size(files=names - len(shared))


def _sized(shared: list[int], own: list[int], folders: int) -> Size:
    return Size(
        files=len(shared), folders=folders, bytes=sum(shared),
        records=_rounded(shared, RECORD), blocks=_rounded(shared, BLOCK),
        own_files=len(own), own_bytes=sum(own),
        own_records=_rounded(own, RECORD), own_blocks=_rounded(own, BLOCK),
    )  # fmt: skip


def _rounded(sizes: list[int], unit: int) -> int:
    return sum(-(-size // unit) * unit for size in sizes)


def _is_own(name: PurePosixPath) -> bool:
    """Whether an installer writes a file anew for each environment."""
    if name.name in _OWN and name.parent.name.endswith(".dist-info"):
        return True
    return name.match("*.data/scripts/*") or (name.parent.name == "bin" and name.parts[0] in {"bin", ".."})


def _below_data(name: PurePosixPath) -> PurePosixPath:
    """Return where a file of a wheel goes, the folders of ``*.data`` left out (PEP 427)."""
    if name.parts[0].endswith(".data") and len(name.parts) > 2:
        return PurePosixPath(*name.parts[2:])
    return name


def _scripts(text: bytes) -> int:
    points = ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    try:
        points.read_string(text.decode("utf-8", "replace"))
    except Error:
        return 0
    return sum(len(points[kind]) for kind in ("console_scripts", "gui_scripts") if points.has_section(kind))
