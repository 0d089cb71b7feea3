"""Picking so many of the known images that everything is served, by HiGHS.

On the set-covering problems that composition leads to, HiGHS's branch and cut was tens of times faster
than CP-SAT. It stops after a number of nodes, never after a time, so that the answer is the same on every
run. It tells how many there were only with an answer, so it starts with a low limit and that is charged.
What it picks is checked in whole numbers; that nothing can be picked rests on its tolerances, which unit
coefficients are far from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from solvers.result import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.budget import Budget
    from solvers.composition.problem import Image

_UNITS = 0.05
_ROOT_UNITS_A_CELL = 1.5e-4
_ROOT_UNITS_A_PAIR_OF_CELLS = 2e-9
_NODE_UNITS_A_CELL = 1e-6
_MAX_CELLS = 300_000
_NODE_LIMITS = (100, 2000, 10**6)
_INFEASIBLE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Cover:
    """What HiGHS found.

    Parameters
    ----------
    status
        OPTIMAL with images, INFEASIBLE where there is no such choice, else UNKNOWN.
    images
        The images picked.
    """

    status: Status
    images: tuple[Image, ...] = ()


def cover(units: int, columns: Sequence[Image], count: int, budget: Budget) -> Cover:
    """Pick at most `count` of the columns so that each of `units` units is in one."""
    cells = sum(map(len, columns))
    root = _UNITS + (_ROOT_UNITS_A_CELL + _ROOT_UNITS_A_PAIR_OF_CELLS * cells) * cells
    if root > budget.left or cells > _MAX_CELLS:
        return Cover(status=Status.UNKNOWN)
    if not columns:
        return Cover(status=Status.INFEASIBLE if units else Status.OPTIMAL)
    node = _UNITS / 10 + _NODE_UNITS_A_CELL * cells
    rows = np.concatenate([np.array(column, dtype=np.int64) for column in columns])
    places = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    matrix = csr_matrix((np.ones(cells), (rows, places)), shape=(units, len(columns)))
    for limit in _NODE_LIMITS:
        nodes = max(1, int(min(limit, (budget.left - root) / node)))
        solution = milp(
            np.ones(len(columns)),
            constraints=[
                LinearConstraint(matrix, 1, np.inf),
                LinearConstraint(np.ones((1, len(columns))), 0, count),
            ],
            integrality=np.ones(len(columns)),
            bounds=Bounds(0, 1),
            options={"node_limit": nodes},
        )
        ended = solution.x is not None or solution.status == _INFEASIBLE
        # how many nodes there were is told only with an answer
        budget.charge(root + node * (nodes if solution.x is None else solution.mip_node_count or 0))
        if ended or nodes < limit or root > budget.left:
            break
    if solution.x is not None:
        picked = tuple(columns[int(place)] for place in np.flatnonzero(solution.x > 1 / 2))
        if len(picked) <= count and len({u for column in picked for u in column}) == units:
            return Cover(status=Status.OPTIMAL, images=picked)
    return Cover(status=Status.INFEASIBLE if solution.status == _INFEASIBLE else Status.UNKNOWN)
