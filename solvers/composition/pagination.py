"""Pagination files of Grange, Kacem & Martin (2018, doi:10.1016/j.cie.2017.10.015) as instances."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from solvers.composition.instance import CompositionInstance, Goal
from solvers.errors import InvalidInstanceError


def pagination(tiles: list[list[int]], capacity: int) -> CompositionInstance:
    """Return the instance "all tiles on pages, as few as possible": unit sizes, one base of size 0."""
    names = sorted({symbol for tile in tiles for symbol in tile})
    place = {symbol: p for p, symbol in enumerate(names)}
    return CompositionInstance(
        sizes=np.ones(len(names), dtype=np.int64),
        venvs=tuple(tuple(sorted(place[symbol] for symbol in set(tile))) for tile in tiles),
        base_sizes=np.zeros(1, dtype=np.int64),
        runs_on=np.ones((len(tiles), 1), dtype=np.bool_),
        capacity=capacity,
        goal=Goal.FEWEST_IMAGES,
        max_images=None,
        conflicts=(),
        weights=np.zeros(0),
        class_venvs=np.zeros(0, dtype=np.int64),
        baked=np.zeros(0),
        fallback=np.zeros(0),
        forbids=(),
        admitted=np.zeros((0, 1), dtype=np.bool_),
    )


def read_pagination(text: str) -> tuple[CompositionInstance, ...]:
    """Read the instances of one file: a list of records with `tiles` and `capacity`.

    Raises
    ------
    InvalidInstanceError
        With every fault, by record.
    """
    try:
        records = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInstanceError([f"not JSON: {error}"]) from error
    if not isinstance(records, list):
        raise InvalidInstanceError([f"a {type(records).__name__}, not a list of records"])
    faults = [f"[{n}]{fault}" for n, record in enumerate(records) for fault in _faults(record)]
    if faults:
        raise InvalidInstanceError(faults)
    return tuple(pagination(record["tiles"], record["capacity"]) for record in records)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _faults(record: Any) -> list[str]:
    if not isinstance(record, dict):
        return [f" is a {type(record).__name__}, not a record"]
    faults = []
    if not _is_count(record.get("capacity")):
        faults.append(f".capacity is {record.get('capacity')!r}, not a whole number >= 0")
    tiles = record.get("tiles")
    if not isinstance(tiles, list):
        return [*faults, f".tiles is {tiles!r}, not a list"]
    for place, tile in enumerate(tiles):
        if not isinstance(tile, list) or not all(map(_is_count, tile)):
            faults.append(f".tiles[{place}] is {tile!r}, not a list of whole numbers >= 0")
    return faults
