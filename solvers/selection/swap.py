"""Swap local search: exchange one member of S while that gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.greedy import greedy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solvers.selection.problem import Problem

_MAX_EXCHANGES = 1000
_BLOCK = 64


def swap_search(problem: Problem, start: Sequence[int]) -> tuple[int, ...]:
    """Return a selection at least as good as `start` that no addition or exchange within the caps improves.

    The gain of every (member out, candidate in) pair comes from the best and second-best value of
    each class (Whitaker 1983; Resende & Werneck 2007, doi:10.1007/s10479-006-0154-0): the gain of
    adding, less the loss of removing, plus what both counted. The best pair is taken, 1000 times at
    most.

    Returns
    -------
    tuple of int
        Ascending.
    """
    chosen = greedy(problem, start)
    for _ in range(_MAX_EXCHANGES):
        exchange = _best_exchange(problem, np.array(chosen, dtype=np.int64))
        if exchange is None:
            break
        leaving, entering = exchange
        chosen = tuple(entering if j == leaving else j for j in chosen)
        if len(chosen) < problem.max_total:
            chosen = greedy(problem, chosen)
    return tuple(sorted(chosen))


def _best_exchange(problem: Problem, chosen: NDArray[np.int64]) -> tuple[int, int] | None:
    """Return the (leaving, entering) pair that gains most, None where none gains."""
    values, new = problem.values, problem.new
    if len(chosen) == 0:
        return None
    server, best, second = _nearest(values[chosen])
    # classes in the order of who serves them; a member that serves nobody has no section
    order = np.argsort(server, kind="stable")
    serving, sections = np.unique(server[order], return_index=True)
    removing = np.zeros(len(chosen))
    removing[serving] = np.add.reduceat((best - second)[order], sections)
    crowded = int(new[chosen].sum()) >= problem.max_new
    adding = problem.excess(best)
    # an exchange gains at most what the addition does, so later blocks need not be looked at
    entering = np.argsort(-adding, kind="stable")
    entering = entering[adding[entering] > 0]
    most, pair = 0.0, None
    for start in range(0, len(entering), _BLOCK):
        block = entering[start : start + _BLOCK]
        if adding[block[0]] <= most:
            break
        offers = np.clip(values[block], second, best) - second
        gain = np.zeros((len(block), len(chosen)))
        gain[:, serving] = np.add.reduceat(offers[:, order], sections, axis=1)
        gain += adding[block][:, None] - removing
        if crowded:
            gain[np.ix_(new[block], ~new[chosen])] = 0.0
        into, out = divmod(int(gain.argmax()), len(chosen))
        if gain[into, out] > most:
            most, pair = float(gain[into, out]), (int(chosen[out]), int(block[into]))
    return pair


def _nearest(
    values: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return for values of shape (k, n) which row is best for each class, its value, and the second best."""
    classes = np.arange(values.shape[1])
    server = values.argmax(axis=0)
    best = values[server, classes]
    rest = values.copy()
    rest[server, classes] = 0.0
    return server, best, rest.max(axis=0)
