"""Files as an archive: same files, same bytes."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.rewrite.program import Put

_TYPES = {Kind.FILE: tarfile.REGTYPE, Kind.LINK: tarfile.SYMTYPE, Kind.DIRECTORY: tarfile.DIRTYPE}
_TIME = 946_684_800
"""2000-01-01: builders keep what the archive says."""


def archive_of(puts: Iterable[Put]) -> bytes:
    """Return a tar of files, links and folders at their places in the image, root's, in the given order."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for put in puts:
            data = put.entry.read() if put.entry.kind is Kind.FILE else b""
            member = tarfile.TarInfo(put.path.lstrip("/"))
            member.type = _TYPES[put.entry.kind]
            member.mode = 0o777 if put.mode is None else put.mode
            member.linkname = put.entry.target
            member.size = len(data)
            member.mtime = _TIME
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()
