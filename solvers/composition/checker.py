"""What a composition must satisfy, rule by rule: the specification, sharing no code with the solvers."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from solvers.composition.instance import Goal
from solvers.errors import CheckError
from solvers.result import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solvers.composition.instance import CompositionInstance
    from solvers.composition.result import ComposedImage, CompositionResult

_SAME_PROBABILITY = 1.000001e-6
_ROUNDING = 1e-9


def assert_composition(instance: CompositionInstance, result: CompositionResult) -> None:
    """Check that `result` is an answer to `instance` and that its claims agree with each other.

    Raises
    ------
    CheckError
        With every broken rule.
    """
    faults = list(_index_faults(instance, result))
    if not faults:
        for k, image in enumerate(result.images):
            faults += [f"image {k} {fault}" for fault in _image_faults(instance, image)]
        faults += _claim_faults(instance, result)
        if result.status in {Status.OPTIMAL, Status.FEASIBLE}:
            if instance.max_images is not None and len(result.images) > instance.max_images:
                faults.append(f"{len(result.images)} images, at most {instance.max_images} allowed")
            faults += _assignment_faults(instance, result)
            if instance.goal == Goal.FEWEST_IMAGES:
                faults += _completeness_faults(instance, result)
    if faults:
        raise CheckError(faults)


def _index_faults(instance: CompositionInstance, result: CompositionResult) -> Iterator[str]:
    if result.goal != instance.goal:
        yield f"goal is {result.goal}, asked was {instance.goal}"
    for k, image in enumerate(result.images):
        if not 0 <= image.base < len(instance.base_sizes):
            yield f"image {k} has base {image.base}, not one of {len(instance.base_sizes)}"
        for v in image.venvs:
            if not 0 <= v < len(instance.venvs):
                yield f"image {k} holds venv {v}, not one of {len(instance.venvs)}"
        if list(image.venvs) != sorted(set(image.venvs)):
            yield f"image {k} lists venvs {image.venvs}, not ascending without repeats"
    if len(result.assignment) != len(instance.weights):
        yield f"{len(result.assignment)} assignments for {len(instance.weights)} classes"
    for i, k in enumerate(result.assignment):
        if not -1 <= k < len(result.images):
            yield f"class {i} is in image {k} of {len(result.images)}"


def _image_faults(instance: CompositionInstance, image: ComposedImage) -> Iterator[str]:
    for v in image.venvs:
        if not instance.runs_on[v, image.base]:
            yield f"holds venv {v}, which does not run on base {image.base}"
    needed = {p for v in image.venvs for p in instance.venvs[v]}
    if list(image.packages) != sorted(needed):
        yield f"lists packages {image.packages}, its venvs need {sorted(needed)}"
    size = int(instance.base_sizes[image.base]) + sum(int(instance.sizes[p]) for p in needed)
    if image.size != size:
        yield f"says its size is {image.size}, it is {size}"
    if size > instance.capacity:
        yield f"has a size of {size}, above the capacity {instance.capacity}"
    for first, second in instance.conflicts:
        if first in needed and second in needed:
            yield f"holds packages {first} and {second}, which conflict"


def _held(instance: CompositionInstance, image: ComposedImage) -> set[int]:
    """Return the packages in `image`."""
    return {p for v in image.venvs for p in instance.venvs[v]}


def _passes(instance: CompositionInstance, image: ComposedImage, held: set[int], i: int) -> float | None:
    """Return the probability of class i in `image` with these packages, None where it is not admitted."""
    if not instance.admitted[i, image.base] or held.intersection(instance.forbids[i]):
        return None
    baked = float(instance.baked[i]) if instance.class_venvs[i] in image.venvs else 0.0
    return max(baked, float(instance.fallback[i]))


def _assignment_faults(instance: CompositionInstance, result: CompositionResult) -> Iterator[str]:
    holding = [_held(instance, image) for image in result.images]
    for i, k in enumerate(result.assignment):
        chances = [
            _passes(instance, image, held, i) for image, held in zip(result.images, holding, strict=True)
        ]
        best = max((chance for chance in chances if chance is not None), default=0.0)
        mine = chances[k] if k >= 0 else 0.0
        if mine is None:
            yield f"class {i} is in image {k}, which does not admit it"
        elif mine < best - _SAME_PROBABILITY:
            yield f"class {i} passes with {mine} in image {k}, best is {best}"


def _alone(instance: CompositionInstance, v: int, base: int) -> bool:
    """Say whether venv v may be in an image of its own on `base`."""
    needed = set(instance.venvs[v])
    size = int(instance.base_sizes[base]) + sum(int(instance.sizes[p]) for p in needed)
    clash = any(first in needed and second in needed for first, second in instance.conflicts)
    return bool(instance.runs_on[v, base]) and size <= instance.capacity and not clash


def _completeness_faults(instance: CompositionInstance, result: CompositionResult) -> Iterator[str]:
    bases = range(len(instance.base_sizes))
    for v in range(len(instance.venvs)):
        if any(_alone(instance, v, b) for b in bases) and not any(v in k.venvs for k in result.images):
            yield f"venv {v} is in no image"
    for i, v in enumerate(instance.class_venvs):
        if v < 0 or set(instance.venvs[v]).intersection(instance.forbids[i]):
            continue
        if any(_alone(instance, v, b) and instance.admitted[i, b] for b in bases):
            suitable = (
                v in image.venvs and _passes(instance, image, _held(instance, image), i) is not None
                for image in result.images
            )
            if not any(suitable):
                yield f"class {i} has no image that admits it and holds its venv {v}"


def _claim_faults(instance: CompositionInstance, result: CompositionResult) -> Iterator[str]:
    total = fsum(float(weight) for weight in instance.weights)
    margin = _ROUNDING * max(1.0, total) + _SAME_PROBABILITY * total
    if result.status in {Status.INFEASIBLE, Status.UNKNOWN}:
        if instance.goal == Goal.COVERAGE or instance.max_images is None:
            yield f"status is {result.status} though there is always an answer"
        elif result.images:
            yield f"status is {result.status} with images"
        elif result.status is Status.INFEASIBLE and not result.bound > instance.max_images:
            yield f"status is INFEASIBLE with a bound of {result.bound} images"
        return
    if instance.goal == Goal.FEWEST_IMAGES:
        if result.objective != len(result.images):
            yield f"objective is {result.objective}, there are {len(result.images)} images"
        if not result.bound <= result.objective:
            yield f"bound {result.bound} is above the objective {result.objective}"
    else:
        holding = [_held(instance, image) for image in result.images]
        chances = [
            0.0 if k < 0 else _passes(instance, result.images[k], holding[k], i) or 0.0
            for i, k in enumerate(result.assignment)
        ]
        passes = fsum(float(w) * p for w, p in zip(instance.weights, chances, strict=True))
        if not abs(result.objective - passes) <= _ROUNDING * max(1.0, total):
            yield f"objective is {result.objective}, the assignment gives {passes}"
        if not result.bound >= result.objective - margin:
            yield f"bound {result.bound} is below the objective {result.objective}"
        if not result.bound <= total + margin:
            yield f"bound {result.bound} is above the total weight {total}"
    if result.status is Status.OPTIMAL and not result.gap <= _SAME_PROBABILITY:
        yield f"status is OPTIMAL with a gap of {result.gap}"
