"""Selection: which at most K environments serve the classes best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionInstance:
    """A weighted maximal-covering problem with probabilities.

    Choose a set S of candidates and assign every class to one member of S that it is allowed in, or
    to nothing. Maximise ``sum_i weights[i] * probabilities[i, a(i)]`` (nothing counts 0) subject to
    ``|S minus existing| <= max_new`` and ``|S| <= max_total``. Among the best, lexicographically:
    fewest members of S that do not exist yet, smallest total size of S, fewest classes moved away
    from `previous`.

    Parameters
    ----------
    weights
        Shape (n,), tasks a class, >= 0.
    probabilities
        Shape (n, m), in [0, 1].
    allowed
        Shape (n, m), bool; a pair that is not allowed is never assigned.
    existing
        Shape (m,), bool; candidates that are free to reuse.
    sizes
        Shape (m,), bytes, >= 0.
    max_new, max_total
        Caps, >= 0; `max_total` None means no second cap.
    previous
        Shape (n,), index of the candidate that served each class before, -1 for none.
    """

    weights: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    allowed: NDArray[np.bool_]
    existing: NDArray[np.bool_]
    sizes: NDArray[np.int64]
    max_new: int
    max_total: int | None = None
    previous: NDArray[np.int64] | None = None
