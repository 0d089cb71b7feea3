"""From an instance to units, and from images of units back to an answer."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

from solvers.composition.instance import Goal
from solvers.composition.problem import Problem, Unit, mask_of, members
from solvers.composition.result import ComposedImage
from solvers.selection.problem import PROBABILITY_UNITS, integer_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solvers.composition.instance import CompositionInstance
    from solvers.composition.problem import Image


@dataclass(frozen=True, eq=False, kw_only=True)
class Demands:
    """An instance as units.

    Parameters
    ----------
    problem
        One unit for every venv (goal FEWEST_IMAGES only), for every class with a venv and, with the goal
        COVERAGE, for every class at run time.
    venvs
        For each unit the venv it bakes, -1 for none.
    refused
        What fits into no image even alone, one sentence each.
    scale
        Units of gain in one expected pass.
    slack
        Expected passes by which rounding may have changed an objective.
    """

    problem: Problem
    venvs: tuple[int, ...]
    refused: tuple[str, ...]
    scale: float
    slack: float


def demands_of(instance: CompositionInstance) -> Demands:
    """Return the units of a valid instance."""
    fewest = instance.goal == Goal.FEWEST_IMAGES
    needs = [mask_of(packages) for packages in instance.venvs]
    partners: dict[int, int] = {}
    for first, second in instance.conflicts:
        partners[int(first)] = partners.get(int(first), 0) | 1 << int(second)
        partners[int(second)] = partners.get(int(second), 0) | 1 << int(first)
    excludes = [0] * len(needs)
    for v, mask in enumerate(needs):
        for p in members(mask):
            excludes[v] |= partners.get(p, 0)
    runs_on = [mask_of(np.flatnonzero(row)) for row in instance.runs_on]
    weights, factor = integer_weights(instance.weights.astype(np.float64))
    baked = np.rint(instance.baked * PROBABILITY_UNITS).astype(np.int64)
    fallback = np.rint(instance.fallback * PROBABILITY_UNITS).astype(np.int64)
    units, venvs, names = [], [], []
    if fewest:
        for v, mask in enumerate(needs):
            units.append(Unit(needs=mask, excludes=excludes[v], bases=runs_on[v]))
            venvs.append(v)
            names.append(f"venv {v}")
    for i, v in enumerate(map(int, instance.class_venvs)):
        forbids = mask_of(instance.forbids[i])
        admitted = mask_of(np.flatnonzero(instance.admitted[i]))
        extra = max(0, int(baked[i]) - int(fallback[i])) * int(weights[i])
        if v >= 0 and (fewest or extra):
            bases = runs_on[v] & admitted
            units.append(Unit(needs=needs[v], excludes=excludes[v] | forbids, bases=bases, gain=extra))
            venvs.append(v)
            names.append(f"class {i} with its venv {v}")
        worth = int(fallback[i]) * int(weights[i])
        if not fewest and worth:
            units.append(Unit(needs=0, excludes=forbids, bases=admitted, gain=worth))
            venvs.append(-1)
            names.append(f"class {i} at run time")
    problem = Problem(
        sizes=tuple(map(int, instance.sizes)),
        base_sizes=tuple(map(int, instance.base_sizes)),
        capacity=int(instance.capacity),
        units=tuple(units),
    )
    refused = tuple(
        f"{name}: {why}"
        for name, unit in zip(names, units, strict=True)
        for why in _reasons(problem, unit, instance.conflicts)
    )
    slack = 0.5 / PROBABILITY_UNITS * float(instance.weights.sum())
    slack += float(np.abs(instance.weights - weights / factor).sum())
    return Demands(
        problem=problem, venvs=tuple(venvs), refused=refused, scale=factor * PROBABILITY_UNITS, slack=slack
    )


def _reasons(problem: Problem, unit: Unit, conflicts: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Say why a unit fits into no image."""
    if not unit.bases:
        yield "no base suits it"
    elif problem.size(unit.needs) > problem.room(unit.bases):
        base = problem.base(unit.bases)
        yield (
            f"it needs {problem.size(unit.needs)} bytes and "
            f"{problem.base_sizes[base or 0]} for base {base}, the capacity is {problem.capacity}"
        )
    clash = unit.needs & unit.excludes
    if clash:
        pairs = [pair for pair in conflicts if all(clash >> p & 1 for p in pair)]
        yield from (f"it needs packages {first} and {second}, which conflict" for first, second in pairs)
        others = clash & ~mask_of(p for pair in pairs for p in pair)
        if others:
            yield f"it needs packages {', '.join(map(str, members(others)))}, which it forbids"


def composed(
    instance: CompositionInstance, demands: Demands, images: tuple[Image, ...]
) -> tuple[ComposedImage, ...]:
    """Return images that serve the given units and every other that they can serve without a change."""
    problem = demands.problem
    wholes = [problem.together(image) for image in images]
    baked: list[set[int]] = [{demands.venvs[u] for u in image if demands.venvs[u] >= 0} for image in images]
    bases = [problem.base(whole.bases) for whole in wholes]
    for unit, v in zip(problem.units, demands.venvs, strict=True):
        serving = [
            k
            for k, (whole, base) in enumerate(zip(wholes, bases, strict=True))
            if base is not None
            and unit.bases >> base & 1
            and not unit.needs & ~whole.needs
            and not unit.excludes & whole.needs
        ]
        if v >= 0 and serving and not any(v in baked[k] for k in serving):
            baked[serving[0]].add(v)
    answer = []
    for venvs, base in zip(baked, bases, strict=True):
        if base is None:
            continue
        packages = sorted({p for v in venvs for p in map(int, instance.venvs[v])})
        size = problem.base_sizes[base] + sum(problem.sizes[p] for p in packages)
        answer.append(
            ComposedImage(base=base, venvs=tuple(sorted(venvs)), packages=tuple(packages), size=size)
        )
    return tuple(sorted(answer, key=lambda image: (image.venvs, image.base)))


def assigned(instance: CompositionInstance, images: tuple[ComposedImage, ...]) -> tuple[int, ...]:
    """Return for each class the first image that serves it best; -1 where none admits it."""
    held = [mask_of(image.packages) for image in images]
    venvs = [frozenset(image.venvs) for image in images]
    answer = []
    for i, v in enumerate(map(int, instance.class_venvs)):
        forbids = mask_of(instance.forbids[i])
        best, place = -1.0, -1
        for k, image in enumerate(images):
            if instance.admitted[i, image.base] and not held[k] & forbids:
                passes = max(float(instance.baked[i]) * (v in venvs[k]), float(instance.fallback[i]))
                if passes > best:
                    best, place = passes, k
        answer.append(place)
    return tuple(answer)


def expected_passes(
    instance: CompositionInstance, images: tuple[ComposedImage, ...], assignment: tuple[int, ...]
) -> float:
    """Return the objective of an assignment, in tasks."""
    return fsum(
        float(instance.weights[i])
        * max(
            float(instance.baked[i]) * (int(instance.class_venvs[i]) in images[k].venvs),
            float(instance.fallback[i]),
        )
        for i, k in enumerate(assignment)
        if k >= 0
    )
