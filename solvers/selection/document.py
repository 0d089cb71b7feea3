"""A selection instance as a JSON document, read and written (docs/solvers.md has the format)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.documents import DocumentError, Fault, Faults, inside, kind_of, read_object, shown
from solvers.errors import InvalidInstanceError
from solvers.fields import (
    array_of,
    cap,
    check_keys,
    check_lengths,
    check_names,
    compact,
    document_of,
    not_flag,
    not_index,
    not_name,
    not_probability,
    not_size,
    not_weight,
    number,
    optional_array,
    plain,
    required_array,
)
from solvers.selection.instance import SelectionInstance, validate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

KIND = "selection"
SCHEMA_VERSION = "1"

_IDENTITY = {"kind": KIND, "schema_version": SCHEMA_VERSION}
_REQUIRED = ("max_new", "weights", "probabilities")
_OPTIONAL = ("max_total", "existing", "sizes", "previous", "classes", "candidates")


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionDocument:
    """An instance and what its parts are called.

    Parameters
    ----------
    instance
        With n classes and m candidates.
    classes, candidates
        n and m names, or empty where nobody gave any.
    """

    instance: SelectionInstance
    classes: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()


def dump(document: SelectionDocument) -> bytes:
    """Return `document` as JSON; the same document gives the same bytes, and reading them gives it back.

    Of a pair that is not allowed the probability is not kept.

    Raises
    ------
    InvalidInstanceError
        The instance breaks a rule of `validate`, or its names are not as many as what they name.
    """
    instance = document.instance
    validate(instance)
    n, m = instance.probabilities.shape
    check_names({"classes": (document.classes, n), "candidates": (document.candidates, m)})
    head: dict[str, Any] = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "max_new": int(instance.max_new),
        "max_total": None if instance.max_total is None else int(instance.max_total),
        "weights": [plain(weight) for weight in instance.weights.tolist()],
        "existing": instance.existing.tolist(),
        "sizes": instance.sizes.tolist(),
        "previous": None if instance.previous is None else instance.previous.tolist(),
    }
    if document.classes:
        head["classes"] = list(document.classes)
    if document.candidates:
        head["candidates"] = list(document.candidates)
    rows = (_row(row, may) for row, may in zip(instance.probabilities, instance.allowed, strict=True))
    return document_of(head, {"probabilities": rows})


def load(data: bytes) -> SelectionDocument:
    """Read a document.

    Raises
    ------
    DocumentError
        With every fault and its place.
    """
    faults = Faults()
    raw = read_object(data, faults)
    check_keys(raw, _IDENTITY, _REQUIRED, _OPTIONAL, faults)
    weights = required_array(raw, "weights", not_weight, faults)
    names = {key: optional_array(raw, key, not_name, faults) for key in ("classes", "candidates")}
    existing = optional_array(raw, "existing", not_flag, faults)
    sizes = optional_array(raw, "sizes", not_size, faults)
    rows = raw.get("probabilities", [])
    if not isinstance(rows, list):
        faults.add(f"is {kind_of(rows)}, not an array of rows", path="probabilities")
        rows = []
    m = _width(rows, names["candidates"], sizes, existing)
    n = len(rows)
    previous = optional_array(raw, "previous", lambda value: not_index(value, -1, m), faults)
    of_classes = {"weights": weights, "classes": names["classes"], "previous": previous}
    of_candidates = {"candidates": names["candidates"], "existing": existing, "sizes": sizes}
    if "probabilities" in raw:
        check_lengths(of_classes, n, "rows of probabilities", faults)
    check_lengths(of_candidates, m, "candidates", faults)
    max_new = cap(raw["max_new"], "max_new", faults) if "max_new" in raw else 0
    max_total = None if raw.get("max_total") is None else cap(raw["max_total"], "max_total", faults)
    read = [_read_row(row, i, m, faults) for i, row in enumerate(rows)]
    faults.raise_any()
    given = np.array(read, dtype=np.float64).reshape(n, m)
    allowed = ~np.isnan(given)
    instance = SelectionInstance(
        weights=np.array(weights, dtype=np.float64),
        probabilities=np.where(allowed, given, 0.0),
        allowed=allowed,
        existing=np.zeros(m, dtype=np.bool_) if existing is None else np.array(existing, dtype=np.bool_),
        sizes=np.zeros(m, dtype=np.int64) if sizes is None else np.array(sizes, dtype=np.int64),
        max_new=max_new,
        max_total=max_total,
        previous=None if previous is None else np.array(previous, dtype=np.int64),
    )
    try:
        validate(instance)
    except InvalidInstanceError as error:  # what only all the numbers together can break
        raise DocumentError([Fault(what=what) for what in error.faults]) from error
    return SelectionDocument(
        instance=instance,
        classes=tuple(names["classes"] or ()),
        candidates=tuple(names["candidates"] or ()),
    )


def _width(rows: list[Any], *arrays: list[Any] | None) -> int:
    """Return the number of candidates: as many as are named or described, else as the first row holds."""
    for array in arrays:
        if array is not None:
            return len(array)
    first = rows[0] if rows else []
    if isinstance(first, dict):
        first = first.get("level_of")
    return len(first) if isinstance(first, list) else 0


def _read_row(row: Any, i: int, m: int, faults: Faults) -> NDArray[np.float64] | None:
    """Return a row, NaN where a pair is not allowed; None where it is at fault."""
    path = f"probabilities[{i}]"
    if isinstance(row, dict):
        row = _decoded(row, path, faults)
        if row is None:
            return None
    elif not isinstance(row, list):
        faults.add(f"is {kind_of(row)}, neither an array nor an object", path=path)
        return None
    if len(row) != m:
        faults.add(f"has {len(row)} entries for {m} candidates", path=path)
        return None
    if set(map(type, row)) <= {float}:
        values = np.array(row, dtype=np.float64)
        if bool(((values >= 0) & (values <= 1)).all()):
            return values
    values = np.full(m, np.nan)
    for j, value in enumerate(row):
        if value is None:
            continue
        fault = not_probability(value)
        if number(value) is None:
            fault = f"is {shown(value)}, neither a number nor null"
        if fault is None:
            values[j] = value
        else:
            faults.add(fault, path=f"{path}[{j}]")
    return values


def _decoded(row: dict[str, Any], path: str, faults: Faults) -> list[Any] | None:
    """Return a row of levels as one of probabilities, None where it cannot be."""
    before = len(faults)
    for key in sorted(row.keys() - {"levels", "level_of"}):
        faults.add("is not a key of a row", path=inside(path, key))
    for key in ("levels", "level_of"):
        if key not in row:
            faults.add("is missing", path=f"{path}.{key}")
        elif not isinstance(row[key], list):
            faults.add(f"is {kind_of(row[key])}, not an array", path=f"{path}.{key}")
    if len(faults) > before:
        return None
    levels = row["levels"]
    array_of(levels, f"{path}.levels", not_probability, faults)
    array_of(row["level_of"], f"{path}.level_of", lambda level: not_index(level, -1, len(levels)), faults)
    if len(faults) > before:
        return None
    return [None if level < 0 else float(levels[level]) for level in row["level_of"]]


def _row(probabilities: NDArray[np.float64], allowed: NDArray[np.bool_]) -> str:
    """Return a row in the shorter of its two forms."""
    row = [plain(p) if may else None for p, may in zip(probabilities.tolist(), allowed.tolist(), strict=True)]
    levels = sorted({p for p in row if p is not None}, reverse=True)
    place = {p: index for index, p in enumerate(levels)}
    coded = {"levels": levels, "level_of": [-1 if p is None else place[p] for p in row]}
    return min(compact(row), compact(coded), key=len)


def names_of(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the names, or the numbers from 0 where there are none."""
    return tuple(names) or tuple(map(str, range(count)))
