"""Bounds that cost next to nothing: bytes to be shared out, and units that pairwise need different images."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from solvers.composition.problem import members

if TYPE_CHECKING:
    from solvers.composition.problem import Problem

_PARTS = 2**20
"""A byte is shared out in whole parts, rounded down, so that the bounds are exact."""


def _room(problem: Problem) -> int:
    """Return the parts of bytes that an image has at most for packages."""
    return _PARTS * max(0, problem.room(problem.empty.bases))


def least_shares(problem: Problem) -> dict[int, int]:
    """Return for each distinct set of needs the parts of bytes that it takes of an image at least.

    A package's bytes are shared by the sets in the image that need it: by no more than need it at
    all, and by no more than one image can hold. The second number follows from the shares, so it is lowered
    until both agree.
    """
    needs = sorted({unit.needs for unit in problem.units})
    packages = {mask: members(mask) for mask in needs}
    counts = [0] * len(problem.sizes)
    for mask in needs:
        for p in packages[mask]:
            counts[p] += 1
    most = len(needs)
    while True:
        parts = [
            _PARTS * size // max(1, min(count, most))
            for size, count in zip(problem.sizes, counts, strict=True)
        ]
        shares = {mask: sum(parts[p] for p in packages[mask]) for mask in needs}
        left, held = _room(problem), 0
        for share in sorted(shares.values()):
            if share > left:
                break
            left -= share
            held += 1
        if held >= most:
            return shares
        most = held


def volume_bound(problem: Problem) -> int:
    """Return a lower bound on the images that hold all units: the bytes they take over those of an image."""
    if not problem.units:
        return 0
    whole = _PARTS * problem.size(problem.together(range(len(problem.units))).needs)
    taken = max(whole, sum(least_shares(problem).values()))
    room = _room(problem)
    return max(1, -(-taken // room)) if room else 1


def coverage_volume_bound(problem: Problem, count: int) -> int:
    """Return an upper bound on what `count` images are worth: a fractional knapsack of shared bytes."""
    if count == 0:
        return 0
    gains: dict[int, int] = {}
    for unit in problem.units:
        gains[unit.needs] = gains.get(unit.needs, 0) + unit.gain
    shares = least_shares(problem)
    room, total = count * _room(problem), 0
    free = [mask for mask in gains if shares[mask] == 0]
    paid = sorted(
        (mask for mask in gains if shares[mask]),
        key=lambda mask: (-Fraction(gains[mask], shares[mask]), mask),
    )
    for mask in (*free, *paid):
        if shares[mask] > room:
            return total + -(-gains[mask] * room // shares[mask])
        room -= shares[mask]
        total += gains[mask]
    return total


def apart(problem: Problem, u: int, v: int) -> bool:
    """Say whether two units cannot be in one image."""
    return not problem.fits(problem.units[u].joined(problem.units[v]))


def clique(problem: Problem) -> tuple[int, ...]:
    """Return units that pairwise need different images, as many as a greedy search finds from each start."""
    count = len(problem.units)
    distant = [0] * count
    for u in range(count):
        for v in range(u):
            if apart(problem, u, v):
                distant[u] |= 1 << v
                distant[v] |= 1 << u
    best: list[int] = []
    for start in range(count):
        found, open_to = [start], distant[start]
        while open_to:
            u = max(members(open_to), key=lambda v: ((distant[v] & open_to).bit_count(), -v))
            found.append(u)
            open_to &= distant[u]
        if len(found) > len(best):
            best = found
    return tuple(sorted(best))
