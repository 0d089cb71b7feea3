"""Pagination files of Grange, Kacem & Martin (2018, doi:10.1016/j.cie.2017.10.015) as instances."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.composition.instance import CompositionInstance, Goal
from solvers.documents import Faults, kind_of, read_json, shown
from solvers.fields import array_of, not_size


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


def read_pagination(data: bytes | str) -> tuple[CompositionInstance, ...]:
    """Read the instances of one file: an array of records with `tiles` and `capacity`.

    Raises
    ------
    DocumentError
        With every fault, by record.
    """
    faults = Faults()
    records = read_json(data, faults)
    if not isinstance(records, list):
        faults.add(f"is {kind_of(records)}, not an array of records")
        records = []
    for place, record in enumerate(records):
        _check_record(record, f"[{place}]", faults)
    faults.raise_any()
    return tuple(pagination(record["tiles"], record["capacity"]) for record in records)


def _check_record(record: Any, path: str, faults: Faults) -> None:
    if not isinstance(record, dict):
        faults.add(f"is {kind_of(record)}, not a record", path=path)
        return
    for key in ("tiles", "capacity"):
        if key not in record:
            faults.add("is missing", path=f"{path}.{key}")
    fault = not_size(record.get("capacity", 0), unit="")
    if fault is not None:
        faults.add(fault, path=f"{path}.capacity")
    tiles = array_of(record.get("tiles", []), f"{path}.tiles", lambda _: None, faults)
    for place, tile in enumerate(tiles or ()):
        array_of(tile, f"{path}.tiles[{place}]", _not_symbol, faults)


def _not_symbol(value: Any) -> str | None:
    if type(value) is int and value >= 0:
        return None
    return f"is {shown(value)}, not a whole number >= 0"
