"""Branch and bound on "candidate j is in S", with a Lagrangian bound at every node.

The classical exact method for p-median problems (Christofides & Beasley 1982,
doi:10.1016/0377-2217(82)90160-6): a node inherits its parent's multipliers, a few subgradient steps
improve them, and reduced costs fix most of what is left, so that nodes shrink quickly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.fixing import Survivors, survivors
from solvers.selection.lagrangian import Ascent, Pace
from solvers.selection.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solvers.budget import Budget

_PACE = Pace(first=0.25, last=0.01, patience=10)
_STEPS = 120
_WORTH_ANOTHER_ROUND = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What a search found.

    Parameters
    ----------
    found
        Selections worth `value`, each ascending; empty if none is worth what was asked for.
    value
        What they are worth; where there are none, one unit less than was asked for.
    bound
        No selection is worth more than the larger of this and `value`.
    nodes
        Nodes looked at.
    ended
        Whether nothing is left to look at.
    """

    found: tuple[tuple[int, ...], ...]
    value: int
    bound: int
    nodes: int
    ended: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class _Node:
    """A problem left over when `forced` is in S and other candidates are out.

    `base` is the value of `forced`, and `problem` holds what other candidates (`names`) would add to
    `classes`.
    """

    problem: Problem
    names: NDArray[np.int64]
    classes: NDArray[np.int64]
    forced: tuple[int, ...]
    base: int
    multipliers: NDArray[np.float64]
    bound: int


@dataclass(frozen=True, eq=False, kw_only=True)
class _Waiting:
    """A node that is not looked at yet: all but its problem, which would fill the memory of a deep tree."""

    names: NDArray[np.int64]
    classes: NDArray[np.int64]
    forced: tuple[int, ...]
    base: int
    multipliers: NDArray[np.float64]
    bound: int

    def node(self, root: Problem) -> _Node:
        forced = np.array(self.forced, dtype=np.int64)
        values = root.values[np.ix_(self.names, self.classes)]
        if len(forced):
            np.maximum(values - root.best(forced)[self.classes], 0.0, out=values)
        problem = Problem(
            values=values,
            new=root.new[self.names],
            max_new=root.max_new - int(root.new[forced].sum()),
            max_total=root.max_total - len(forced),
            unit=root.unit,
        )
        return _without_closed(
            _Node(
                problem=problem,
                names=self.names,
                classes=self.classes,
                forced=self.forced,
                base=self.base,
                multipliers=self.multipliers,
                bound=self.bound,
            )
        )


def better_than(
    lower: int, problem: Problem, multipliers: NDArray[np.float64], bound: int, budget: Budget
) -> Tree:
    """Look for the best selection worth more than `lower`, until the tree or the budget ends.

    Parameters
    ----------
    multipliers
        Shape (n,), good ones of the whole problem.
    bound
        What they prove.
    """
    stack = [_root(problem, multipliers, bound)]
    found: tuple[tuple[int, ...], ...] = ()
    value, nodes = lower, 0
    while stack and not budget.spent:
        nodes += 1
        met, children = _look_at(stack.pop().node(problem), value + problem.unit, budget, improve=True)
        if met is not None:
            found, value = (met,), problem.value(met)
        stack += children
    bound = max((node.bound for node in stack), default=value)
    return Tree(found=found, value=value, bound=bound, nodes=nodes, ended=not stack)


def all_worth(
    value: int,
    problem: Problem,
    multipliers: NDArray[np.float64],
    budget: Budget,
    *,
    costs: NDArray[np.int64],
    at_most: tuple[int, ...],
    nodes: int,
) -> Tree:
    """Look for every cheapest selection worth the optimum `value`, within `nodes` nodes.

    One of which a part costs as much and is worth as much may be left out or not.

    Parameters
    ----------
    costs
        Shape (m, c), >= 0; sums over a selection are compared lexicographically.
    at_most
        The cost of a known selection of this value.
    """
    stack = [_root(problem, multipliers, value)]
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    looked_at = 0
    while stack and looked_at < nodes and not budget.spent:
        node = stack.pop()
        looked_at += 1
        complete = node.base >= value
        spent = costs[np.array(node.forced, dtype=np.int64)].sum(axis=0)
        if not complete and len(node.names):
            spent = spent + costs[node.names].min(axis=0)
        cost = tuple(map(int, spent))
        if cost > at_most:
            continue
        if complete:
            found[tuple(sorted(node.forced))] = at_most = cost
        else:
            stack += _look_at(node.node(problem), value, budget, improve=False)[1]
    return Tree(
        found=tuple(sorted(chosen for chosen, cost in found.items() if cost == at_most)),
        value=value,
        bound=value,
        nodes=looked_at,
        ended=not stack,
    )


def _root(problem: Problem, multipliers: NDArray[np.float64], bound: int) -> _Waiting:
    return _Waiting(
        names=np.arange(len(problem.new)),
        classes=np.arange(problem.values.shape[1]),
        forced=(),
        base=0,
        multipliers=multipliers,
        bound=bound,
    )


def _look_at(
    node: _Node, target: int, budget: Budget, *, improve: bool
) -> tuple[tuple[int, ...] | None, list[_Waiting]]:
    """Return a selection worth `target` if one is met, and the nodes that may hold others.

    With `improve`, the target is more than any met so far; without, it stays.
    """
    met = None
    while node.bound >= target:
        if node.base >= target:
            if not improve:
                return met, [_waiting(node, node.names)]
            met, target = tuple(sorted(node.forced)), node.base + node.problem.unit
            continue
        problem = node.problem
        ascent = Ascent(problem, node.multipliers, _PACE)
        ascent.run(target - problem.unit - node.base, _STEPS)
        budget.charge_steps(ascent.steps + 1, problem.values.size)
        dual = ascent.best
        value = node.base + problem.value(dual.opened)
        if improve and value >= target:
            met = tuple(sorted((*node.forced, *map(int, node.names[dual.opened]))))
            target = value + problem.unit
        bound = node.base + dual.bound
        if bound < target:
            return met, []
        left = survivors(problem, dual, target - node.base)
        node = _fix(node, left, dual.multipliers, bound)
        if len(left.free) > _WORTH_ANOTHER_ROUND * len(problem.new):
            return met, _children(node, int(np.abs(ascent.share[left.free] - 0.5).argmin()))
    return met, []


def _children(node: _Node, j: int) -> list[_Waiting]:
    """Return the node without candidate `j` and the one with it, which is to be looked at first."""
    without = _waiting(node, np.delete(node.names, j))
    if node.problem.max_total == 0 or (node.problem.new[j] and node.problem.max_new == 0):
        return [without]
    gains = node.problem.values[j]
    within = replace(
        without,
        forced=(*node.forced, int(node.names[j])),
        base=node.base + int(gains.sum()),
        multipliers=np.maximum(node.multipliers - gains, 0.0),
    )
    return [without, within]


def _waiting(node: _Node, names: NDArray[np.int64]) -> _Waiting:
    return _Waiting(
        names=names,
        classes=node.classes,
        forced=node.forced,
        base=node.base,
        multipliers=node.multipliers,
        bound=node.bound,
    )


def _fix(node: _Node, left: Survivors, multipliers: NDArray[np.float64], bound: int) -> _Node:
    """Return the node in which only `left` survives."""
    problem = node.problem
    best = problem.best(left.forced)
    values = problem.values[left.free]
    if len(left.forced):
        np.maximum(values - best, 0.0, out=values)
        multipliers = np.maximum(multipliers - best, 0.0)
    return _without_closed(
        _Node(
            problem=Problem(
                values=values,
                new=problem.new[left.free],
                max_new=problem.max_new - int(problem.new[left.forced].sum()),
                max_total=problem.max_total - len(left.forced),
                unit=problem.unit,
            ),
            names=node.names[left.free],
            classes=node.classes,
            forced=(*node.forced, *map(int, node.names[left.forced])),
            base=node.base + int(best.sum()),
            multipliers=multipliers,
            bound=bound,
        )
    )


def _without_closed(node: _Node) -> _Node:
    """Return the node without the classes that nothing can add to."""
    values = node.problem.values
    open_ = values.any(axis=0)
    if open_.all():
        return node
    return replace(
        node,
        problem=replace(node.problem, values=np.ascontiguousarray(values[:, open_])),
        classes=node.classes[open_],
        multipliers=node.multipliers[open_],
    )
