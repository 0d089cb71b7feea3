"""From a chosen set to everybody's place in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solvers.selection.problem import integer_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solvers.selection.instance import SelectionInstance


def assign(instance: SelectionInstance, chosen: Sequence[int]) -> NDArray[np.int64]:
    """Return for each class a best chosen candidate that it is allowed in, -1 where there is none.

    Of equally good ones (to six digits) the class stays in its previous one; else it takes the most
    probable, the first of equals.
    """
    n = len(instance.weights)
    if len(chosen) == 0 or n == 0:
        return np.full(n, -1, dtype=np.int64)
    columns = np.array(sorted(chosen), dtype=np.int64)
    allowed = instance.allowed[:, columns]
    units = np.where(allowed, integer_probabilities(instance)[:, columns], -1.0)
    best = units.max(axis=1)
    ties = units == best[:, None]
    preference = np.where(ties, instance.probabilities[:, columns], -1.0)
    if instance.previous is not None:
        preference[ties & (columns[None, :] == instance.previous[:, None])] = 2.0
    return np.where(best >= 0, columns[preference.argmax(axis=1)], -1)


def expected_passes(instance: SelectionInstance, assignment: NDArray[np.int64]) -> float:
    """Return ``sum_i weights[i] * probabilities[i, assignment[i]]``."""
    served = np.flatnonzero(assignment >= 0)
    return float(instance.weights[served] @ instance.probabilities[served, assignment[served]])
