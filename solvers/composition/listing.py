"""Every maximal image, where they are few enough to list.

An image serves whatever its units imply, so only sets that are closed in this sense need be looked at;
each is met once (Kuznetsov's close-by-one, 1993). Where an image has room for few units, as in the
hardest of the pagination instances, there are some thousands of them, and composition becomes a set-covering
problem with all columns known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.composition.problem import members

if TYPE_CHECKING:
    from solvers.budget import Budget
    from solvers.composition.problem import Image, Problem

_MAX_NODES = 150_000
_UNITS_A_NODE = 3e-5


def maximal_images(problem: Problem, budget: Budget) -> tuple[Image, ...] | None:
    """Return all images to which no unit can be added; None where there are too many for the budget."""
    units = problem.units
    everything = [u for u in range(len(units)) if problem.fits(problem.empty.joined(units[u]))]
    found: list[int] = []
    limit = min(_MAX_NODES, budget.left / _UNITS_A_NODE)
    nodes = 0
    # a node: what the image asks for, its units, the least unit to add, the units that still fit
    stack = [(problem.empty, 0, 0, everything)]
    while stack and nodes < limit:
        whole, image, least, fitting = stack.pop()
        nodes += 1
        if not fitting:
            found.append(image)
        for u in fitting:
            if u < least:
                continue
            larger = whole.joined(units[u])
            implied = [v for v in fitting if larger.implies(units[v])]
            if implied[0] == u:  # else this closed set is met from a smaller unit
                closed = image
                for v in implied:
                    closed |= 1 << v
                left = [v for v in fitting if not closed >> v & 1 and problem.fits(larger.joined(units[v]))]
                stack.append((larger, closed, u + 1, left))
    budget.charge(nodes * _UNITS_A_NODE)
    return None if stack else tuple(sorted(tuple(members(image)) for image in found if image))
