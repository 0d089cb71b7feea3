"""The best selection of a tiny instance by trying every subset; shares nothing with the solvers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solvers.selection.instance import SelectionInstance

Cost = tuple[Fraction, int, int, Fraction]


def probability(instance: SelectionInstance, i: int, j: int) -> Fraction:
    """Return a probability as the six-digit decimal that the solvers read."""
    return Fraction(round(float(instance.probabilities[i, j]) * 10**6), 10**6)


def selections(instance: SelectionInstance) -> Iterator[tuple[int, ...]]:
    """Yield every set of candidates within both caps."""
    m = len(instance.sizes)
    limit = m if instance.max_total is None else min(m, instance.max_total)
    for count in range(limit + 1):
        for chosen in combinations(range(m), count):
            if sum(not instance.existing[j] for j in chosen) <= instance.max_new:
                yield chosen


def cost(instance: SelectionInstance, chosen: tuple[int, ...]) -> Cost:
    """Return what is minimised in turn: minus the value, new candidates, size, weight moved."""
    value = moved = Fraction(0)
    for i in range(len(instance.weights)):
        weight = Fraction(float(instance.weights[i]))
        reach = [probability(instance, i, j) for j in chosen if instance.allowed[i, j]]
        top = max(reach, default=Fraction(0))
        value += weight * top
        before = -1 if instance.previous is None else int(instance.previous[i])
        stays = (
            before in chosen
            and bool(instance.allowed[i, before])
            and probability(instance, i, before) == top > 0
        )
        if before >= 0 and not stays:
            moved += weight
    new = sum(not instance.existing[j] for j in chosen)
    return -value, new, sum(int(instance.sizes[j]) for j in chosen), moved


def best_cost(instance: SelectionInstance) -> Cost:
    """Return the lexicographic optimum."""
    return min(cost(instance, chosen) for chosen in selections(instance))


def assigned_cost(instance: SelectionInstance, assignment: tuple[int, ...]) -> Cost:
    """Return the same of an answer, from its assignment alone."""
    value = moved = Fraction(0)
    for i, j in enumerate(assignment):
        weight = Fraction(float(instance.weights[i]))
        passes = probability(instance, i, j) if j >= 0 else Fraction(0)
        value += weight * passes
        before = -1 if instance.previous is None else int(instance.previous[i])
        if before >= 0 and (before != j or passes == 0):
            moved += weight
    chosen = set(assignment) - {-1}
    new = sum(not instance.existing[j] for j in chosen)
    return -value, new, sum(int(instance.sizes[j]) for j in chosen), moved
