"""The fields of a JSON document: read with every fault at its place, written in one form only."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from solvers.documents import inside, kind_of, shorten, shown
from solvers.errors import InvalidInstanceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from solvers.documents import Faults

MAX_INTEGER = 2**53
"""Sizes are below this, and nothing tells larger caps apart."""


def check_keys(
    raw: dict[str, Any],
    identity: Mapping[str, str],
    required: Iterable[str],
    optional: Iterable[str],
    faults: Faults,
) -> None:
    """Note keys that are missing or unknown.

    Raises
    ------
    DocumentError
        The kind or the version is not that of `identity`: the other keys mean nothing then.
    """
    for key, expected in identity.items():
        if key in raw and raw[key] != expected:
            value = raw[key]
            said = repr(shorten(value)) if isinstance(value, str) else shown(value)
            faults.add(f"is {said}, not {expected!r}", path=key)
        elif key not in raw:
            faults.add("is missing", path=key)
    if any(raw.get(key) != expected for key, expected in identity.items()):
        faults.raise_any()
    for key in required:
        if key not in raw:
            faults.add("is missing", path=key)
    for key in sorted(raw.keys() - {*identity, *required, *optional}):
        faults.add("is not a key of this format", path=inside("", key))


def check_lengths(arrays: Mapping[str, Sequence[Any] | None], length: int, what: str, faults: Faults) -> None:
    """Note the arrays that are there and do not have `length` entries."""
    for key, array in arrays.items():
        if array is not None and len(array) != length:
            faults.add(f"has {len(array)} entries for {length} {what}", path=key)


def array_of(value: Any, path: str, why_not: Callable[[Any], str | None], faults: Faults) -> list[Any] | None:
    """Return `value` if it is an array, with a fault for each entry that `why_not` objects to."""
    if not isinstance(value, list):
        faults.add(f"is {kind_of(value)}, not an array", path=path)
        return None
    for place, item in enumerate(value):
        fault = why_not(item)
        if fault is not None:
            faults.add(fault, path=f"{path}[{place}]")
    return value


def required_array(
    raw: dict[str, Any], key: str, why_not: Callable[[Any], str | None], faults: Faults
) -> list[Any] | None:
    """Return the array at `key`; that it is missing has been said."""
    return array_of(raw[key], key, why_not, faults) if key in raw else None


def optional_array(
    raw: dict[str, Any], key: str, why_not: Callable[[Any], str | None], faults: Faults
) -> list[Any] | None:
    """Return the array at `key`, None where it is null or left out."""
    return None if raw.get(key) is None else required_array(raw, key, why_not, faults)


def cap(value: Any, path: str, faults: Faults) -> int:
    """Return a whole number that caps a count; what is larger than any count is made `MAX_INTEGER`."""
    if type(value) is not int:
        faults.add(f"is {shown(value)}, not a whole number", path=path)
        return 0
    if value < 0:
        faults.add(f"is {shown(value)}, below 0", path=path)
    return min(value, MAX_INTEGER)


def number(value: Any) -> float | None:
    """Return a JSON number as a float, None where `value` is none."""
    if type(value) not in {int, float}:
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def not_weight(value: Any) -> str | None:
    """Say why `value` is no weight: a finite number, 0 or more."""
    weight = number(value)
    if weight is None:
        return f"is {shown(value)}, not a number"
    if not math.isfinite(weight):
        return f"is {shown(value)}, not a finite number"
    return f"is {shown(value)}, below 0" if weight < 0 else None


def not_probability(value: Any) -> str | None:
    """Say why `value` is no probability."""
    probability = number(value)
    if probability is None:
        return f"is {shown(value)}, not a number"
    if math.isnan(probability):
        return "is not a number"
    return None if 0 <= probability <= 1 else f"is {shown(value)}, outside [0, 1]"


def not_size(value: Any, unit: str = " of bytes") -> str | None:
    """Say why `value` is no size: a whole number of some unit, below 2**53."""
    if type(value) is not int:
        return f"is {shown(value)}, not a whole number{unit}"
    if value < 0:
        return f"is {shown(value)}, below 0"
    return f"is {shown(value)}, 2**53 or more" if value >= MAX_INTEGER else None


def not_flag(value: Any) -> str | None:
    """Say why `value` is neither true nor false."""
    return None if isinstance(value, bool) else f"is {shown(value)}, not true or false"


def not_name(value: Any) -> str | None:
    """Say why `value` is no name."""
    return None if isinstance(value, str) else f"is {shown(value)}, not a string"


def not_index(value: Any, least: int, count: int) -> str | None:
    """Say why `value` is no whole number from `least` to ``count - 1``."""
    if type(value) is int and least <= value < count:
        return None
    if least >= count:
        return f"is {shown(value)}, where there is none to name"
    return f"is {shown(value)}, not an index from {least} to {count - 1}"


def check_names(names: Mapping[str, tuple[Sequence[str], int]]) -> None:
    """Check that names, where there are any, are as many as what they name.

    Raises
    ------
    InvalidInstanceError
        They are not.
    """
    wrong = [
        f"{len(given)} names for {count} {key}"
        for key, (given, count) in names.items()
        if given and len(given) != count
    ]
    if wrong:
        raise InvalidInstanceError(wrong)


def plain(value: float) -> float:
    """Return a whole number as an int, which is shorter."""
    return int(value) if value == int(value) else value


def compact(value: Any) -> str:
    """Return `value` as JSON without spaces, in ASCII."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def document_of(fields: Mapping[str, Any], rows: Mapping[str, Iterable[str]]) -> bytes:
    """Return a JSON object with a line for each of `fields`, and one for each of the `rows` of an array."""
    parts = [f'"{key}": {compact(value)}' for key, value in fields.items()]
    parts += [f'"{key}": [\n' + ",\n".join(lines) + "\n]" for key, lines in rows.items()]
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()
