"""A composition instance as a JSON document, read and written (docs/solvers.md has the format)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.composition.instance import CompositionInstance, Goal, validate
from solvers.documents import DocumentError, Fault, Faults, read_object, shorten, shown
from solvers.errors import InvalidInstanceError
from solvers.fields import (
    MAX_INTEGER,
    array_of,
    cap,
    check_keys,
    check_lengths,
    check_names,
    compact,
    document_of,
    not_index,
    not_name,
    not_probability,
    not_size,
    not_weight,
    optional_array,
    plain,
    required_array,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

KIND = "composition"
SCHEMA_VERSION = "1"

_IDENTITY = {"kind": KIND, "schema_version": SCHEMA_VERSION}
_REQUIRED = ("goal", "capacity", "sizes", "venvs")
_NAMES = ("package_names", "venv_names", "base_names", "class_names")
_OPTIONAL = (
    *("max_images", "base_sizes", "runs_on", "conflicts"),
    *("weights", "class_venvs", "baked", "fallback", "forbids", "admitted"),
    *_NAMES,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class CompositionDocument:
    """An instance and what its parts are called.

    Parameters
    ----------
    instance
        With P packages, V venvs, B bases and n classes.
    package_names, venv_names, base_names, class_names
        P, V, B and n names, or empty where nobody gave any.
    """

    instance: CompositionInstance
    package_names: tuple[str, ...] = ()
    venv_names: tuple[str, ...] = ()
    base_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()


def dump(document: CompositionDocument) -> bytes:
    """Return `document` as JSON; the same document gives the same bytes, and reading them gives it back.

    Raises
    ------
    InvalidInstanceError
        The instance breaks a rule of `validate`, or its names are not as many as what they name.
    """
    instance = document.instance
    validate(instance)
    counts = (len(instance.sizes), len(instance.venvs), len(instance.base_sizes), len(instance.weights))
    check_names({key: (getattr(document, key), count) for key, count in zip(_NAMES, counts, strict=True)})
    fields: dict[str, Any] = {
        **_IDENTITY,
        "goal": str(instance.goal),
        "capacity": int(instance.capacity),
        "max_images": None if instance.max_images is None else int(instance.max_images),
    }
    if instance.base_sizes.tolist() != [0]:
        fields["base_sizes"] = instance.base_sizes.tolist()
    if not instance.runs_on.all():
        fields["runs_on"] = _places(instance.runs_on)
    if instance.conflicts:
        fields["conflicts"] = [list(map(int, pair)) for pair in instance.conflicts]
    if len(instance.weights):
        fields |= _classes(instance)
    fields |= {key: list(getattr(document, key)) for key in _NAMES if getattr(document, key)}
    fields["sizes"] = instance.sizes.tolist()
    return document_of(fields, {"venvs": (compact(list(map(int, venv))) for venv in instance.venvs)})


def _classes(instance: CompositionInstance) -> dict[str, Any]:
    """Return the fields of the classes, without those that are as `load` assumes them."""
    fields: dict[str, Any] = {
        "weights": [plain(weight) for weight in instance.weights.tolist()],
        "class_venvs": instance.class_venvs.tolist(),
    }
    if (instance.baked != 1).any():
        fields["baked"] = [plain(chance) for chance in instance.baked.tolist()]
    if instance.fallback.any():
        fields["fallback"] = [plain(chance) for chance in instance.fallback.tolist()]
    if any(map(len, instance.forbids)):
        fields["forbids"] = [list(map(int, packages)) for packages in instance.forbids]
    if not instance.admitted.all():
        fields["admitted"] = _places(instance.admitted)
    return fields


def load(data: bytes) -> CompositionDocument:
    """Read a document.

    Raises
    ------
    DocumentError
        With every fault and its place.
    """
    faults = Faults()
    raw = read_object(data, faults)
    check_keys(raw, _IDENTITY, _REQUIRED, _OPTIONAL, faults)
    sizes = required_array(raw, "sizes", not_size, faults)
    bases = optional_array(raw, "base_sizes", not_size, faults)
    if raw.get("base_sizes") is None:
        bases = [0]
    packages, count = _count(sizes), _count(bases)
    venvs = _index_lists(raw, "venvs", packages, faults)
    runs_on = _index_lists(raw, "runs_on", count, faults)
    conflicts = _index_lists(raw, "conflicts", packages, faults) or []
    _check_pairs(conflicts, faults)
    weights = optional_array(raw, "weights", not_weight, faults)
    if raw.get("weights") is None:
        weights = []
    classes = {
        "class_venvs": optional_array(
            raw, "class_venvs", lambda venv: not_index(venv, -1, _count(venvs)), faults
        ),
        "baked": optional_array(raw, "baked", not_probability, faults),
        "fallback": optional_array(raw, "fallback", not_probability, faults),
        "forbids": _index_lists(raw, "forbids", packages, faults),
        "admitted": _index_lists(raw, "admitted", count, faults),
    }
    if weights and raw.get("class_venvs") is None:
        faults.add("is missing, and there are weights of classes", path="class_venvs")
    names = {key: optional_array(raw, key, not_name, faults) for key in _NAMES}
    for what, length, arrays in (
        ("sizes", sizes, {"package_names": names["package_names"]}),
        ("venvs", venvs, {"runs_on": runs_on, "venv_names": names["venv_names"]}),
        ("bases", bases, {"base_names": names["base_names"]}),
        ("weights", weights, {**classes, "class_names": names["class_names"]}),
    ):
        if length is not None:
            check_lengths(arrays, len(length), what, faults)
    goal = _goal(raw, faults)
    capacity = _capacity(raw, faults)
    max_images = None if raw.get("max_images") is None else cap(raw["max_images"], "max_images", faults)
    if goal is Goal.COVERAGE and raw.get("max_images") is None:
        faults.add("is missing, the goal COVERAGE needs a number", path="max_images")
    faults.raise_any()
    n = len(weights or ())
    instance = CompositionInstance(
        sizes=np.array(sizes, dtype=np.int64),
        venvs=tuple(map(tuple, venvs or ())),
        base_sizes=np.array(bases, dtype=np.int64),
        runs_on=_matrix(runs_on, _count(venvs), count),
        capacity=capacity,
        goal=goal,
        max_images=max_images,
        conflicts=tuple((first, second) for first, second in conflicts),
        weights=np.array(weights, dtype=np.float64),
        class_venvs=np.array(classes["class_venvs"] or [], dtype=np.int64),
        baked=np.ones(n) if classes["baked"] is None else np.array(classes["baked"], dtype=np.float64),
        fallback=np.array(classes["fallback"] or [0] * n, dtype=np.float64),
        forbids=tuple(map(tuple, classes["forbids"] or [()] * n)),
        admitted=_matrix(classes["admitted"], n, count),
    )
    try:
        validate(instance)
    except InvalidInstanceError as error:  # what only all the numbers together can break
        raise DocumentError([Fault(what=what) for what in error.faults]) from error
    return CompositionDocument(instance=instance, **{key: tuple(given or ()) for key, given in names.items()})


def _count(array: Sequence[Any] | None) -> int:
    """Return the length, where an array is at fault one that allows for any index."""
    return MAX_INTEGER if array is None else len(array)


def _index_lists(raw: dict[str, Any], key: str, count: int, faults: Faults) -> list[list[int]] | None:
    """Return the array of arrays of numbers below `count` at `key`, None where it is null or left out."""
    value = raw.get(key)
    if value is None and (key not in _REQUIRED or key not in raw):
        return None
    array = array_of(value, key, lambda _: None, faults)
    if array is None:
        return None
    for place, inner in enumerate(array):
        plain_numbers = isinstance(inner, list) and set(map(type, inner)) <= {int}
        if not plain_numbers or (inner and not 0 <= min(inner) <= max(inner) < count):
            array_of(inner, f"{key}[{place}]", lambda index: not_index(index, 0, count), faults)
    return array


def _check_pairs(conflicts: Sequence[Any], faults: Faults) -> None:
    for place, pair in enumerate(conflicts):
        if isinstance(pair, list) and len(pair) != 2:
            faults.add(f"has {len(pair)} packages, not 2", path=f"conflicts[{place}]")
        elif isinstance(pair, list) and type(pair[0]) is int and pair[0] == pair[1]:
            faults.add(f"sets package {shown(pair[0])} against itself", path=f"conflicts[{place}]")


def _goal(raw: dict[str, Any], faults: Faults) -> Goal:
    goal = raw.get("goal", Goal.COVERAGE)
    if isinstance(goal, str) and goal in set(Goal):
        return Goal(goal)
    said = repr(shorten(goal)) if isinstance(goal, str) else shown(goal)
    faults.add(f"is {said}, neither {' nor '.join(Goal)}", path="goal")
    return Goal.FEWEST_IMAGES


def _capacity(raw: dict[str, Any], faults: Faults) -> int:
    fault = not_size(raw["capacity"]) if "capacity" in raw else None
    if fault is not None:
        faults.add(fault, path="capacity")
        return 0
    return int(raw.get("capacity", 0))


def _places(matrix: NDArray[np.bool_]) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in matrix]


def _matrix(places: Iterable[Sequence[int]] | None, rows: int, columns: int) -> NDArray[np.bool_]:
    """Return what `_places` made, all true where it is None."""
    matrix = np.full((rows, columns), places is None)
    for row, held in enumerate(places or ()):
        matrix[row, list(held)] = True
    return matrix
