"""Greedy choice, the start of every other method.

With one cap its value is at least 1 - 1/e of the best (Nemhauser, Wolsey & Fisher 1978,
doi:10.1007/BF01588971); with two nested caps at least 1/2 (Fisher, Nemhauser & Wolsey 1978,
doi:10.1007/BFb0121195).
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solvers.selection.problem import Problem


def greedy(problem: Problem, start: Sequence[int] = ()) -> tuple[int, ...]:
    """Add to `start` the candidate that gains most, as long as one gains and the caps allow.

    Gains only shrink as S grows, so a stale gain is an upper limit and most need not be computed
    again (Minoux 1978, doi:10.1007/BFb0006528). Ties: existing first, then the earlier.

    Returns
    -------
    tuple of int
        Ascending.
    """
    values, new = problem.values, problem.new
    chosen = set(start)
    best = problem.best(sorted(chosen))
    room = problem.max_new - int(new[sorted(chosen)].sum()) if chosen else problem.max_new
    open_to = np.flatnonzero(~new) if room <= 0 else np.arange(len(new))
    gains = problem.excess(best)[open_to]
    heap = [(-int(gain), bool(new[j]), int(j)) for gain, j in zip(gains, open_to, strict=True) if gain > 0]
    heapq.heapify(heap)
    while heap and len(chosen) < problem.max_total:
        _, is_new, j = heapq.heappop(heap)
        if is_new and room <= 0:
            continue
        gain = int(np.maximum(values[j] - best, 0.0).sum())
        fresh = (-gain, is_new, j)
        if gain > 0 and heap and heap[0] < fresh:
            heapq.heappush(heap, fresh)
        elif gain > 0:
            chosen.add(j)
            room -= is_new
            np.maximum(best, values[j], out=best)
    return tuple(sorted(chosen))
