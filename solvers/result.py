"""What every solver takes as limits and says of its answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
        CP-SAT deterministic time units for one instance (about seconds on a slow core).
    seed
        Seed of everything random.
    """

    deterministic_time: float = 60.0
    seed: int = 0
