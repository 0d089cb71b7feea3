"""Selection: which at most K environments serve the classes best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.errors import InvalidInstanceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_TOTAL_SIZE = 2**53
"""Sizes are added up exactly, so all of them together stay below this many bytes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionInstance:
    """A weighted maximal-covering problem with probabilities.

    Choose a set S of candidates and assign every class to one member of S that it is allowed in, or
    to nothing. Maximise ``sum_i weights[i] * probabilities[i, a(i)]`` (nothing counts 0) subject to
    ``|S minus existing| <= max_new`` and ``|S| <= max_total``. Among the best, lexicographically:
    fewest members of S that do not exist yet, smallest total size of S, fewest classes (by weight)
    moved away from where they were (a class that never passed there may go).

    Probabilities are read to six digits (`solvers.selection.problem`), so that "best" is exact.

    Parameters
    ----------
    weights
        Shape (n,), tasks a class, >= 0.
    probabilities
        Shape (n, m), in [0, 1].
    allowed
        Shape (n, m), bool; a pair that is not allowed is never assigned.
    existing
        Shape (m,), bool; candidates that are free to reuse.
    sizes
        Shape (m,), bytes, >= 0.
    max_new, max_total
        Caps, >= 0; `max_total` None means no second cap.
    previous
        Shape (n,), index of the candidate that served each class before, -1 for none.
    """

    weights: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    allowed: NDArray[np.bool_]
    existing: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    max_new: int
    max_total: int | None = None
    previous: NDArray[np.int64] | None = None


def validate(instance: SelectionInstance) -> None:
    """Check everything that the solvers rely on.

    Instances without classes or candidates, and a cap of 0, are valid: their answer is empty or
    uses existing candidates only.

    Raises
    ------
    InvalidInstanceError
        With every fault: shapes, dtypes, NaN, numbers out of range, negative caps.
    """
    faults = [*_shape_faults(instance), *_cap_faults(instance)]
    if not faults:
        faults += _number_faults(instance)
    if faults:
        raise InvalidInstanceError(faults)


def _shape_faults(instance: SelectionInstance) -> list[str]:
    arrays: dict[str, tuple[Any, str, str]] = {
        "weights": (instance.weights, "n", "fiu"),
        "probabilities": (instance.probabilities, "nm", "fiu"),
        "allowed": (instance.allowed, "nm", "b"),
        "existing": (instance.existing, "m", "b"),
        "sizes": (instance.sizes, "m", "iu"),
    }
    if instance.previous is not None:
        arrays["previous"] = (instance.previous, "n", "i")
    extent: dict[str, int] = {}
    if np.ndim(instance.probabilities) == 2:
        extent = dict(zip("nm", np.shape(instance.probabilities), strict=True))
    faults = []
    for name, (array, axes, kinds) in arrays.items():
        if not isinstance(array, np.ndarray):
            faults.append(f"{name} is {type(array).__name__}, not a numpy array")
            continue
        if array.dtype.kind not in kinds:
            faults.append(f"{name} has dtype {array.dtype}")
        expected = tuple(extent[axis] for axis in axes if axis in extent)
        if array.ndim != len(axes) or (extent and array.shape != expected):
            wanted = expected if extent else f"{len(axes)} axes"
            faults.append(f"{name} has shape {array.shape}, expected {wanted}")
    return faults


def _cap_faults(instance: SelectionInstance) -> list[str]:
    caps = {"max_new": instance.max_new}
    if instance.max_total is not None:
        caps["max_total"] = instance.max_total
    faults = []
    for name, cap in caps.items():
        if isinstance(cap, bool) or not isinstance(cap, int | np.integer):
            faults.append(f"{name} is {cap!r}, not a whole number")
        elif cap < 0:
            faults.append(f"{name} is {cap}, below 0")
    return faults


def _number_faults(instance: SelectionInstance) -> list[str]:
    m = instance.probabilities.shape[1]
    rules = [
        ("weights", instance.weights, ~np.isfinite(instance.weights), "not a finite number"),
        ("weights", instance.weights, instance.weights < 0, "below 0"),
        ("probabilities", instance.probabilities, np.isnan(instance.probabilities), "not a number"),
        (
            "probabilities",
            instance.probabilities,
            (instance.probabilities < 0) | (instance.probabilities > 1),
            "outside [0, 1]",
        ),
        ("sizes", instance.sizes, instance.sizes < 0, "below 0"),
    ]
    if instance.previous is not None:
        outside = (instance.previous < -1) | (instance.previous >= m)
        rules.append(("previous", instance.previous, outside, f"outside -1..{m - 1}"))
    faults = []
    for name, array, broken, why in rules:
        count = int(broken.sum())
        if count:
            place = tuple(int(index[0]) for index in np.nonzero(broken))
            label = ", ".join(map(str, place))
            more = f" ({count} such)" if count > 1 else ""
            faults.append(f"{name}[{label}] is {array[place]}, {why}{more}")
    if not faults and sum(map(int, instance.sizes)) >= MAX_TOTAL_SIZE:
        faults.append(f"sizes add up to {MAX_TOTAL_SIZE} bytes or more")
    if not faults and not math.isfinite(sum(map(float, instance.weights))):
        faults.append("weights add up to infinity")
    return faults
