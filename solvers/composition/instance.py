"""Composition: which virtual environments to bake together into images under a size cap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from solvers.errors import InvalidInstanceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

MAX_TOTAL_SIZE = 2**53
"""Sizes are added up exactly, so all of them together stay below this many bytes."""


class Goal(StrEnum):
    """What is optimised."""

    COVERAGE = "COVERAGE"
    FEWEST_IMAGES = "FEWEST_IMAGES"


@dataclass(frozen=True, eq=False, kw_only=True)
class CompositionInstance:
    """Bin packing with overlapping items, bases, conflicts and classes that the items serve.

    An image has one base and holds some venvs that run on it. A package counts once an image however
    many of its venvs need it: the size of the base and of the distinct packages is at most
    `capacity`. Two packages that conflict are never in one image. An image admits a class if the
    class runs on its base and forbids none of its packages.

    With the goal COVERAGE every class is served by one image that admits it, or by none, and

        sum_i weights[i] * (max(baked[i], fallback[i]) if the image holds venv i else fallback[i])

    is maximised over at most `max_images` images. With the goal FEWEST_IMAGES every venv is in an image,
    every class in one that admits it and holds its venv, and the number of images is minimised. What
    fits into no image even alone is refused by name, and the rest solved.

    Parameters
    ----------
    sizes
        Shape (P,), bytes a package, >= 0.
    venvs
        For each of V venvs the packages it needs.
    base_sizes
        Shape (B,), bytes a base, >= 0.
    runs_on
        Shape (V, B), bool; whether a venv runs on a base.
    capacity
        Bytes an image may have.
    goal
        What is optimised.
    max_images
        At most so many images, >= 0; None (no limit) only with the goal FEWEST_IMAGES.
    conflicts
        Pairs of packages that exclude each other within an image.
    weights
        Shape (n,), tasks a class, >= 0.
    class_venvs
        Shape (n,), the venv of each class, -1 for none.
    baked, fallback
        Shape (n,), probability in [0, 1] of passing with the venv baked, or built at run time.
    forbids
        For each class the packages that must not be in its image.
    admitted
        Shape (n, B), bool; the bases that a class runs on.
    """

    sizes: NDArray[np.int64]
    venvs: tuple[tuple[int, ...], ...]
    base_sizes: NDArray[np.int64]
    runs_on: NDArray[np.bool_]
    capacity: int
    goal: Goal
    max_images: int | None
    conflicts: tuple[tuple[int, int], ...]
    weights: NDArray[np.float64]
    class_venvs: NDArray[np.int64]
    baked: NDArray[np.float64]
    fallback: NDArray[np.float64]
    forbids: tuple[tuple[int, ...], ...]
    admitted: NDArray[np.bool_]


def validate(instance: CompositionInstance) -> None:
    """Check everything that the solvers rely on.

    Instances without venvs, classes or bases, venvs without packages and a limit of 0 images are valid.

    Raises
    ------
    InvalidInstanceError
        With every fault: shapes, dtypes, NaN, numbers out of range, packages that do not exist,
        a package in conflict with itself.
    """
    faults = [*_shape_faults(instance), *_cap_faults(instance)]
    if not faults:
        faults = [*_number_faults(instance), *_index_faults(instance)]
    if faults:
        raise InvalidInstanceError(faults)


def _shape_faults(instance: CompositionInstance) -> Iterator[str]:
    extent = {"p": len(instance.sizes), "v": len(instance.venvs)}
    extent |= {"b": len(instance.base_sizes), "n": len(instance.weights)}
    arrays: dict[str, tuple[Any, str, str]] = {
        "sizes": (instance.sizes, "p", "iu"),
        "base_sizes": (instance.base_sizes, "b", "iu"),
        "runs_on": (instance.runs_on, "vb", "b"),
        "weights": (instance.weights, "n", "fiu"),
        "class_venvs": (instance.class_venvs, "n", "i"),
        "baked": (instance.baked, "n", "fiu"),
        "fallback": (instance.fallback, "n", "fiu"),
        "admitted": (instance.admitted, "nb", "b"),
    }
    for name, (array, axes, kinds) in arrays.items():
        if not isinstance(array, np.ndarray):
            yield f"{name} is {type(array).__name__}, not a numpy array"
            continue
        if array.dtype.kind not in kinds:
            yield f"{name} has dtype {array.dtype}"
        expected = tuple(extent[axis] for axis in axes)
        if array.shape != expected:
            yield f"{name} has shape {array.shape}, expected {expected}"
    if len(instance.forbids) != extent["n"]:
        yield f"forbids has {len(instance.forbids)} entries, expected {extent['n']}"


def _cap_faults(instance: CompositionInstance) -> Iterator[str]:
    caps = {"capacity": instance.capacity}
    if instance.max_images is not None:
        caps["max_images"] = instance.max_images
    for name, cap in caps.items():
        if isinstance(cap, bool) or not isinstance(cap, int | np.integer):
            yield f"{name} is {cap!r}, not a whole number"
        elif cap < 0:
            yield f"{name} is {cap}, below 0"
    if instance.capacity >= MAX_TOTAL_SIZE:
        yield f"capacity is {instance.capacity}, {MAX_TOTAL_SIZE} bytes or more"
    if instance.goal not in set(Goal):
        yield f"goal is {instance.goal!r}, not one of {', '.join(Goal)}"
    if instance.goal == Goal.COVERAGE and instance.max_images is None:
        yield "max_images is None, the goal COVERAGE needs a number"


def _number_faults(instance: CompositionInstance) -> Iterator[str]:
    count = len(instance.venvs)
    rules: list[tuple[str, NDArray[Any], NDArray[np.bool_], str]] = [
        ("sizes", instance.sizes, instance.sizes < 0, "below 0"),
        ("base_sizes", instance.base_sizes, instance.base_sizes < 0, "below 0"),
        ("weights", instance.weights, ~np.isfinite(instance.weights), "not a finite number"),
        ("weights", instance.weights, instance.weights < 0, "below 0"),
        (
            "class_venvs",
            instance.class_venvs,
            (instance.class_venvs < -1) | (instance.class_venvs >= count),
            f"outside -1..{count - 1}",
        ),
    ]
    for name, array in (("baked", instance.baked), ("fallback", instance.fallback)):
        rules.append((name, array, np.isnan(array), "not a number"))
        rules.append((name, array, (array < 0) | (array > 1), "outside [0, 1]"))
    for name, array, broken, why in rules:
        places = np.flatnonzero(broken)
        if len(places):
            more = f" ({len(places)} such)" if len(places) > 1 else ""
            yield f"{name}[{places[0]}] is {array[places[0]]}, {why}{more}"
    if sum(map(int, instance.sizes)) + sum(map(int, instance.base_sizes)) >= MAX_TOTAL_SIZE:
        yield f"sizes add up to {MAX_TOTAL_SIZE} bytes or more"
    if math.isinf(sum(float(weight) for weight in instance.weights if math.isfinite(weight))):
        yield "weights add up to infinity"


def _index_faults(instance: CompositionInstance) -> Iterator[str]:
    count = len(instance.sizes)
    lists: tuple[tuple[str, Sequence[Sequence[int]]], ...] = (
        ("venvs", instance.venvs),
        ("forbids", instance.forbids),
        ("conflicts", instance.conflicts),
    )
    for label, sets in lists:
        for place, packages in enumerate(sets):
            for package in packages:
                whole = isinstance(package, int | np.integer) and not isinstance(package, bool)
                if not whole or not 0 <= package < count:
                    yield f"{label}[{place}] holds {package!r}, not one of {count} packages"
    pairs: Sequence[Sequence[int]] = instance.conflicts
    for place, pair in enumerate(pairs):
        if len(pair) != 2:
            yield f"conflicts[{place}] has {len(pair)} packages, not 2"
        elif pair[0] == pair[1]:
            yield f"conflicts[{place}] sets package {pair[0]} against itself"
