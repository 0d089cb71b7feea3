"""What every solver takes as limits and says of its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from solvers.errors import InvalidLimitsError

MAX_SEED = 2**31 - 1


class Status(StrEnum):
    """How much is proven about an answer."""

    OPTIMAL = "OPTIMAL"
    FEASIBLE = "FEASIBLE"
    INFEASIBLE = "INFEASIBLE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to stop. The default is deterministic: same instance and limits give the same bytes.

    Parameters
    ----------
    deterministic_time
        Units of counted work for the proof of one instance, about seconds on a slow core. The first
        search and the first bound are always made: 0 gives a heuristic answer with a bound.
    seed
        Seed of everything random, 0 to 2**31 - 1.

    Raises
    ------
    InvalidLimitsError
        If the time is negative or not a number, or the seed out of range.
    """

    deterministic_time: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        if math.isnan(self.deterministic_time) or self.deterministic_time < 0:
            raise InvalidLimitsError(f"deterministic_time is {self.deterministic_time}, not 0 or more")
        if not 0 <= self.seed <= MAX_SEED:
            raise InvalidLimitsError(f"seed is {self.seed}, outside 0..{MAX_SEED}")
