"""P(the gold solution passes in the task's own environment): what no folding can exceed.

A recorded outcome in the task's own environment counts as so many passes and failures (`EVIDENCE`).
Families pool their outcomes over a weak common prior, and each task starts from its family's rate:

    family rate  r_f = (4.5 + passes_f) / (5 + passes_f + failures_f)
    task         Beta(2 r_f + passes, 2 (1 - r_f) + failures)
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from partition.features.model import TaskClass

EVIDENCE: dict[str, tuple[float, float]] = {
    "pass": (1.0, 0.0),
    "fail": (0.0, 1.0),
    # not named among the failures, not in the list of passes: half a statement each
    "unlisted": (0.5, 0.0),
    "unverified": (0.0, 0.5),
    "network": (1.0, 0.0),
    "flaky": (0.5, 0.5),
    "missing": (0.0, 0.0),
}
_COMMON = (4.5, 0.5)
_TASK_STRENGTH = 2.0


def ceilings(classes: Sequence[TaskClass]) -> NDArray[np.float64]:
    """Return the Beta parameters of each class's ceiling.

    Returns
    -------
    Shape (n, 2): pseudo-passes and pseudo-failures of one task of the class.

    Raises
    ------
    KeyError
        An outcome is not one of `EVIDENCE`.
    """
    own = np.zeros((len(classes), 2))
    families: dict[str, list[float]] = defaultdict(lambda: list(_COMMON))
    for index, task_class in enumerate(classes):
        for _, outcome in task_class.features.outcomes:
            passes, failures = EVIDENCE[outcome]
            if outcome == "network" and task_class.features.network_mode == "no-network":
                passes, failures = 0.0, 1.0
            own[index] += (passes, failures)
        family = families[task_class.features.family]
        family[0] += own[index, 0] * task_class.weight
        family[1] += own[index, 1] * task_class.weight
    rates = np.array([families[item.features.family] for item in classes]).reshape(-1, 2)
    rates /= rates.sum(axis=1, keepdims=True)
    return _TASK_STRENGTH * rates + own
