"""One environment as digests: its part for each driver, and the whole with one or several drivers folded."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from partition.environments.attribution import Driver

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from partition.environments.pieces import Piece
    from partition.tasks.model import Entry

DRIVERS = tuple(Driver)

_OPERATOR = re.compile(r"^RUN [;&|]+ ")


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of an environment to be shown as an example."""

    driver: Driver
    digest: bytes
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """Digests of one environment, 16 bytes each, in the order of `DRIVERS`.

    Parameters
    ----------
    parts
        What the environment contributes to each driver, in normal form and in file order; equal parts mean
        that folding the driver would change nothing between two environments.
    alone
        The environment with one driver cut out and everything else byte for byte.
    cumulative
        The same with that driver and all before it cut out.
    segments
        The pieces that can be shown, context files left out.
    """

    parts: tuple[bytes, ...]
    alone: tuple[bytes, ...]
    cumulative: tuple[bytes, ...]
    segments: tuple[Segment, ...] = ()


def outline_of(pieces: Sequence[Piece]) -> Outline:
    """Return the outline of a Dockerfile's pieces, or of a spec row's."""
    parts = tuple(digest_of(_part(pieces, driver)) for driver in DRIVERS)
    alone = tuple(
        digest_of(_without(pieces, {driver}))
        if driver is not Driver.LAYOUT
        else digest_of(part.hex() for part in parts[:-1])
        for driver in DRIVERS
    )
    cumulative = tuple(
        digest_of(_without(pieces, frozenset(DRIVERS[: index + 1]))) for index in range(len(DRIVERS))
    )
    segments = tuple(
        Segment(piece.driver, digest_of([piece.canonical or piece.raw.strip()])[:8], piece.line, shown(piece))
        for piece in pieces
        if piece.line and (piece.canonical or piece.raw.strip()) and piece.group
    )
    return Outline(parts=parts, alone=alone, cumulative=cumulative, segments=segments)


def with_context(outline: Outline, context: bytes) -> Outline:
    """Return the outline of a Dockerfile's environment whose other files have the digest `context`.

    The files belong to the driver "copied files", whether the image receives them or not: the snapshot key
    covers them all.
    """
    files = DRIVERS.index(Driver.FILES)
    return Outline(
        parts=_replace(outline.parts, files, _joined(outline.parts[files], context)),
        alone=tuple(
            digest if index == files else _joined(digest, context)
            for index, digest in enumerate(outline.alone)
        ),
        cumulative=tuple(
            digest if index >= files else _joined(digest, context)
            for index, digest in enumerate(outline.cumulative)
        ),
        segments=outline.segments,
    )


def digest_of_files(files: Iterable[tuple[str, Entry]]) -> tuple[bytes, tuple[tuple[str, bytes], ...]]:
    """Return one digest of all `files`, and (path, digest) of each.

    Raises
    ------
    OSError
        A file cannot be read.
    """
    each = []
    whole = hashlib.blake2b(digest_size=16)
    for path, entry in files:
        digest = hashlib.blake2b(digest_size=16)
        for chunk in entry.chunks():
            digest.update(chunk)
        name = path.encode("utf-8", "surrogateescape")
        whole.update(len(name).to_bytes(4, "big") + name + digest.digest())
        each.append((path, digest.digest()[:8]))
    return whole.digest(), tuple(each)


def digest_of(texts: Iterable[str]) -> bytes:
    """Return a digest of a sequence of texts."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def shown(piece: Piece) -> str:
    """Return a piece on one short line."""
    text = _OPERATOR.sub("RUN ", " ".join((piece.canonical.replace("\0", " ") or piece.raw).split()))
    return text if len(text) <= 100 else f"{text[:97]}..."


def _part(pieces: Sequence[Piece], driver: Driver) -> Iterable[str]:
    """Yield what the driver's pieces say, and where a new instruction begins among them."""
    group = None
    for piece in pieces:
        if piece.driver is driver:
            yield "" if piece.group == group else "new"
            yield piece.raw if driver is Driver.LAYOUT else piece.canonical
            group = piece.group


def _without(pieces: Sequence[Piece], folded: Collection[Driver]) -> Iterable[str]:
    """Yield what is left when pieces are cut out.

    The driver of each piece is part of it, so that what is left decides what is left after one more cut.
    An instruction without pieces is gone, blank lines above it included; the joiner before the first piece
    that is kept goes too, since `a && b` without `a` is `b`.
    """
    for _, group in groupby(pieces, key=attrgetter("group")):
        kept = [piece for piece in group if piece.driver not in folded]
        for index, piece in enumerate(kept):
            yield piece.head if index == 0 else piece.joiner
            yield piece.driver
            yield piece.canonical
            yield piece.raw
        if kept:
            yield kept[-1].tail


def _joined(first: bytes, second: bytes) -> bytes:
    return hashlib.blake2b(first + second, digest_size=16).digest()


def _replace(digests: tuple[bytes, ...], index: int, digest: bytes) -> tuple[bytes, ...]:
    return (*digests[:index], digest, *digests[index + 1 :])
