"""OR-Library p-median files, read as selection instances.

Beasley 1985, doi:10.1016/0377-2217(85)90040-2; 40 of them are pmed1 to pmed40. A file holds the number of
vertices n, of edges and of medians p, then an edge a line: two vertices from 1, and a length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from solvers.documents import Faults, decode, shorten
from solvers.selection.instance import SelectionInstance
from solvers.selection.problem import PROBABILITY_UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solvers.selection.result import SelectionResult

_MAX_VERTICES = 10_000
"""A distance matrix of 0.8 GB."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, eq=False, kw_only=True)
class PMedian:
    """Open at most p vertices so that the sum of distances to the nearest open one is least.

    Parameters
    ----------
    distances
        Shape (n, n), whole numbers >= 0: lengths of shortest paths.
    p
        Vertices to open.
    """

    distances: NDArray[np.int64]
    p: int

    @property
    def scale(self) -> int:
        """Return the distance that counts as a probability of 0.

        It is the smallest divisor of the solver's 10**6 units that no distance exceeds, so that a
        distance is a whole number of units and nothing is rounded.
        """
        longest = int(self.distances.max(initial=1))
        return next(d for d in range(longest, PROBABILITY_UNITS + 1) if PROBABILITY_UNITS % d == 0)

    def instance(self) -> SelectionInstance:
        """Return the maximisation in which vertex i passes in j with probability ``1 - d[i, j] / scale``."""
        n = len(self.distances)
        return SelectionInstance(
            weights=np.ones(n),
            probabilities=1.0 - self.distances / self.scale,
            allowed=np.ones((n, n), dtype=np.bool_),
            existing=np.zeros(n, dtype=np.bool_),
            sizes=np.zeros(n, dtype=np.int64),
            max_new=self.p,
        )

    def cost(self, result: SelectionResult) -> int:
        """Return the sum of distances of an answer; every vertex counts, whatever it is assigned to.

        Raises
        ------
        ValueError
            The answer opens nothing, so that there is no distance to add.
        """
        if not result.chosen:
            raise ValueError("nothing is open")
        return int(self.distances[:, list(result.chosen)].min(axis=1).sum())

    def least_cost(self, result: SelectionResult) -> int:
        """Return the sum of distances that no answer goes below, as `result.bound` proves it."""
        bound = (len(self.distances) - result.bound) * self.scale
        return max(0, int(np.ceil(bound - _rounding(len(self.distances), self.scale))))


def _rounding(n: int, scale: int) -> float:
    return 1e-9 * max(1, n * scale)


def load_pmedian(data: bytes) -> PMedian:
    """Read an OR-Library p-median file. A repeated edge overrides the earlier one.

    Raises
    ------
    DocumentError
        With every fault and its line: what is no whole number, a vertex that does not exist, another
        number of edges than announced, vertices that no path joins, distances above 10**6.
    """
    faults = Faults()
    rows = _rows(data, faults)
    faults.raise_any()
    if not rows or len(rows[0][1]) != 3:
        faults.add(
            "does not begin with the numbers of vertices, edges and medians", line=rows[0][0] if rows else 1
        )
        faults.raise_any()
    line, (n, announced, p) = rows[0]
    if not 1 <= n <= _MAX_VERTICES:
        faults.add(f"{n} vertices, not 1 to {_MAX_VERTICES}", line=line)
    if not 1 <= p <= max(n, 1):
        faults.add(f"{p} medians, not 1 to {n}", line=line)
    if announced != len(rows) - 1:
        faults.add(f"{announced} edges are announced, {len(rows) - 1} follow", line=line)
    edges: dict[tuple[int, int], int] = {}
    for line, row in rows[1:]:
        if len(row) != 3:
            faults.add(f"{len(row)} numbers, not two vertices and a length", line=line)
            continue
        a, b, length = row
        for vertex in sorted({a, b}):
            if not 1 <= vertex <= n:
                faults.add(f"vertex {vertex} is not one of 1 to {n}", line=line)
        if not 0 <= length <= PROBABILITY_UNITS:
            faults.add(f"a length of {length}, not 0 to {PROBABILITY_UNITS}", line=line)
        edges[min(a, b), max(a, b)] = length
    faults.raise_any()
    graph = _graph(n, edges)
    _, part = connected_components(graph, directed=False)
    apart = np.flatnonzero(part != part[0])
    if len(apart):
        faults.add(f"no path joins vertex 1 and vertex {apart[0] + 1} ({len(apart)} such)")
        faults.raise_any()
    distances: NDArray[np.float64] = dijkstra(graph, directed=False)
    if distances.max() > PROBABILITY_UNITS:
        faults.add(f"a distance of {distances.max():.0f}, above {PROBABILITY_UNITS}: scale the lengths down")
        faults.raise_any()
    return PMedian(distances=distances.astype(np.int64), p=p)


def _rows(data: bytes, faults: Faults) -> list[tuple[int, list[int]]]:
    rows = []
    for line, text in enumerate(decode(data).splitlines(), start=1):
        numbers = []
        for word in text.split():
            if _INTEGER.fullmatch(word):
                numbers.append(int(word))
            else:
                faults.add(f"{shorten(word)} is not a whole number", line=line)
        if numbers:
            rows.append((line, numbers))
    return rows


def _graph(n: int, edges: dict[tuple[int, int], int]) -> csr_array:
    pairs = sorted(edges)
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2) - 1
    lengths = np.array([edges[pair] for pair in pairs], dtype=np.float64)
    return csr_array((lengths, (ends[:, 0], ends[:, 1])), shape=(n, n))
