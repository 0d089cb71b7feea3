"""What ADD makes of a local archive: its members, one step each."""

from __future__ import annotations

import io
import posixpath
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING

from partition.tasks.model import Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.rewrite.program import Put

_LARGEST = 1 << 28
"""Bytes that an archive may unpack to."""


class UnusableArchiveError(Exception):
    """The archive cannot be unpacked the way a build does it; the message is a sentence's end."""


def unpacked(put: Put) -> Iterator[Put]:
    """Yield the members of an archive as steps of their own, in the archive's order.

    Members keep their numbers for owner and group; ``--chown`` is for the folder alone (source: ``unpack`` in
    BuildKit's ``solver/llbsolver/file/unpack.go``). A hard link becomes a second copy.

    Raises
    ------
    UnusableArchiveError
        Damaged, of a kind that cannot be read, with a device in it, or too large.
    """
    yield replace(put, entry=Entry(path=put.path, kind=Kind.DIRECTORY), mode=None, unpack=False)
    try:
        with tarfile.open(fileobj=io.BytesIO(put.entry.read()), mode="r:*") as archive:
            left = _LARGEST
            for member in archive:
                left -= member.size
                if left < 0:
                    raise UnusableArchiveError(f"unpacks to more than {_LARGEST >> 20} MiB")
                yield _step(put, archive, member)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise UnusableArchiveError(f"cannot be unpacked: {error}") from error


def _step(put: Put, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Put:
    path = posixpath.normpath(posixpath.join("/", member.name)).lstrip("/")
    target = posixpath.join(put.path, path) if path else put.path
    name = posixpath.join(put.entry.path, path)
    mode = member.mode & 0o7777
    if member.isdir():
        entry = Entry(path=name, kind=Kind.DIRECTORY)
    elif member.issym():
        entry = Entry(path=name, kind=Kind.LINK, target=member.linkname)
    elif member.isreg() or member.islnk():
        stream = archive.extractfile(member)
        if stream is None:
            raise UnusableArchiveError(f"has no {member.linkname}, which {member.name} is a link to")
        data = stream.read()
        entry = Entry(path=name, source=data, size=len(data))
    else:
        raise UnusableArchiveError(f"holds {member.name}, which is neither a file, a folder nor a link")
    return replace(put, path=target, entry=entry, mode=mode, owner=f"{member.uid}:{member.gid}", unpack=False)
