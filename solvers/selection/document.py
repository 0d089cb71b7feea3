"""A selection instance as a JSON document, read and written (docs/solvers.md has the format)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.documents import DocumentError, Fault, Faults, kind_of, read_object, shorten, shown
from solvers.errors import InvalidInstanceError
from solvers.selection.instance import SelectionInstance, validate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

KIND = "selection"
SCHEMA_VERSION = "1"

_REQUIRED = ("kind", "schema_version", "max_new", "weights", "probabilities")
_OPTIONAL = ("max_total", "existing", "sizes", "previous", "classes", "candidates")
_MAX_INTEGER = 2**53


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
    for name, names, axis in (("classes", document.classes, 0), ("candidates", document.candidates, 1)):
        if names and len(names) != instance.probabilities.shape[axis]:
            raise InvalidInstanceError(
                [f"{len(names)} names for {instance.probabilities.shape[axis]} {name}"]
            )
    head: dict[str, Any] = {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "max_new": int(instance.max_new),
        "max_total": None if instance.max_total is None else int(instance.max_total),
        "weights": [_plain(weight) for weight in instance.weights.tolist()],
        "existing": instance.existing.tolist(),
        "sizes": instance.sizes.tolist(),
        "previous": None if instance.previous is None else instance.previous.tolist(),
    }
    if document.classes:
        head["classes"] = list(document.classes)
    if document.candidates:
        head["candidates"] = list(document.candidates)
    rows = (_row(row, may) for row, may in zip(instance.probabilities, instance.allowed, strict=True))
    parts = [f'"{key}": {_compact(value)}' for key, value in head.items()]
    parts.append('"probabilities": [\n' + ",\n".join(rows) + "\n]")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def load(data: bytes) -> SelectionDocument:
    """Read a document.

    Raises
    ------
    DocumentError
        With every fault and its place.
    """
    return from_object(read_object(data))


def from_object(raw: dict[str, Any]) -> SelectionDocument:
    """Make an instance of a JSON object that `solvers.documents.read_object` returned.

    Raises
    ------
    DocumentError
        With every fault and its place.
    """
    faults = Faults()
    _check_keys(raw, faults)
    faults.raise_any()
    weights = _array(raw, "weights", _weight, faults)
    names = {key: _array(raw, key, _name, faults) for key in ("classes", "candidates")}
    existing = _array(raw, "existing", _flag, faults)
    sizes = _array(raw, "sizes", _size, faults)
    rows = raw["probabilities"]
    if not isinstance(rows, list):
        faults.add(f"is {kind_of(rows)}, not an array of rows", path="probabilities")
        rows = []
    m = _width(rows, names["candidates"], sizes, existing)
    n = len(rows)
    previous = _array(raw, "previous", lambda value: _index(value, m), faults)
    of_classes = {"weights": weights, "classes": names["classes"], "previous": previous}
    of_candidates = {"candidates": names["candidates"], "existing": existing, "sizes": sizes}
    _check_lengths(of_classes, n, "rows of probabilities", faults)
    _check_lengths(of_candidates, m, "candidates", faults)
    caps = {key: _cap(raw.get(key), key, faults) for key in ("max_new", "max_total")}
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
        max_new=caps["max_new"] or 0,
        max_total=caps["max_total"],
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


def _check_keys(raw: dict[str, Any], faults: Faults) -> None:
    if raw.get("kind", KIND) != KIND:
        faults.add(f"is {_said(raw['kind'])}, not {KIND!r}", path="kind")
    if raw.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        faults.add(f"is {_said(raw['schema_version'])}, not {SCHEMA_VERSION!r}", path="schema_version")
    for key in _REQUIRED:
        if key not in raw:
            faults.add("is missing", path=key)
    for key in sorted(raw.keys() - {*_REQUIRED, *_OPTIONAL}):
        faults.add("is not a key of this format", path=shorten(key))


def _check_lengths(arrays: dict[str, list[Any] | None], length: int, what: str, faults: Faults) -> None:
    for key, array in arrays.items():
        if array is not None and len(array) != length:
            faults.add(f"has {len(array)} entries for {length} {what}", path=key)


def _said(value: Any) -> str:
    return repr(shorten(value)) if isinstance(value, str) else shown(value)


def _width(rows: list[Any], *arrays: list[Any] | None) -> int:
    """Return the number of candidates: as many as are named or described, else as the first row holds."""
    for array in arrays:
        if array is not None:
            return len(array)
    first = rows[0] if rows else []
    if isinstance(first, dict):
        first = first.get("level_of")
    return len(first) if isinstance(first, list) else 0


def _array(
    raw: dict[str, Any], key: str, why_not: Callable[[Any], str | None], faults: Faults
) -> list[Any] | None:
    value = raw.get(key)
    if value is None and key not in _REQUIRED:
        return None
    if not isinstance(value, list):
        faults.add(f"is {kind_of(value)}, not an array", path=key)
        return None
    for index, item in enumerate(value):
        fault = why_not(item)
        if fault is not None:
            faults.add(fault, path=f"{key}[{index}]")
    return value


def _weight(value: Any) -> str | None:
    number = _number(value)
    if number is None:
        return f"is {shown(value)}, not a number"
    if not math.isfinite(number):
        return f"is {shown(value)}, not a finite number"
    return f"is {shown(value)}, below 0" if number < 0 else None


def _size(value: Any) -> str | None:
    if type(value) is not int:
        return f"is {shown(value)}, not a whole number of bytes"
    if value < 0:
        return f"is {shown(value)}, below 0"
    return f"is {shown(value)}, 2**53 or more" if value >= _MAX_INTEGER else None


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"is {shown(value)}, not true or false"


def _name(value: Any) -> str | None:
    return None if isinstance(value, str) else f"is {shown(value)}, not a string"


def _index(value: Any, m: int) -> str | None:
    inside = type(value) is int and -1 <= value < m
    return None if inside else f"is {shown(value)}, not an index from -1 to {m - 1}"


def _cap(value: Any, key: str, faults: Faults) -> int | None:
    if value is None and key not in _REQUIRED:
        return None
    if type(value) is not int:
        faults.add(f"is {shown(value)}, not a whole number", path=key)
        return None
    if value < 0:
        faults.add(f"is {shown(value)}, below 0", path=key)
    return min(value, _MAX_INTEGER)


def _number(value: Any) -> float | None:
    if type(value) not in {int, float}:
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


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
        number = _number(value)
        if number is None:
            faults.add(f"is {shown(value)}, neither a number nor null", path=f"{path}[{j}]")
        elif math.isnan(number):
            faults.add("is not a number", path=f"{path}[{j}]")
        elif not 0 <= number <= 1:
            faults.add(f"is {shown(value)}, outside [0, 1]", path=f"{path}[{j}]")
        else:
            values[j] = number
    return values


def _decoded(row: dict[str, Any], path: str, faults: Faults) -> list[Any] | None:
    """Return a row of levels as one of probabilities, None where it cannot be."""
    before = len(faults)
    for key in sorted(row.keys() - {"levels", "level_of"}):
        faults.add("is not a key of a row", path=f"{path}.{shorten(key)}")
    for key in ("levels", "level_of"):
        if key not in row:
            faults.add("is missing", path=f"{path}.{key}")
        elif not isinstance(row[key], list):
            faults.add(f"is {kind_of(row[key])}, not an array", path=f"{path}.{key}")
    if len(faults) > before:
        return None
    levels = row["levels"]
    for place, level in enumerate(levels):
        number = _number(level)
        if number is None or math.isnan(number):
            faults.add(f"is {shown(level)}, not a number", path=f"{path}.levels[{place}]")
        elif not 0 <= number <= 1:
            faults.add(f"is {shown(level)}, outside [0, 1]", path=f"{path}.levels[{place}]")
    for j, level in enumerate(row["level_of"]):
        fault = _index(level, len(levels))
        if fault is not None:
            faults.add(fault, path=f"{path}.level_of[{j}]")
    if len(faults) > before:
        return None
    return [None if level < 0 else float(levels[level]) for level in row["level_of"]]


def _row(probabilities: NDArray[np.float64], allowed: NDArray[np.bool_]) -> str:
    """Return a row in the shorter of its two forms."""
    row = [
        _plain(p) if may else None for p, may in zip(probabilities.tolist(), allowed.tolist(), strict=True)
    ]
    levels = sorted({p for p in row if p is not None}, reverse=True)
    place = {p: index for index, p in enumerate(levels)}
    coded = {"levels": levels, "level_of": [-1 if p is None else place[p] for p in row]}
    return min(_compact(row), _compact(coded), key=len)


def _plain(value: float) -> float:
    """Return a whole number as an int, which is shorter."""
    return int(value) if value == int(value) else value


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def names_of(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the names, or the numbers from 0 where there are none."""
    return tuple(names) or tuple(map(str, range(count)))
