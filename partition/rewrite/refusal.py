"""A task that is not folded, and every reason why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partition.errors import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What cannot be done faithfully; the task keeps its own environment.

    Parameters
    ----------
    reasons
        At least one, each with its place.
    """

    reasons: tuple[Fault, ...]

    def __str__(self) -> str:
        """Return the reasons on one line."""
        return "; ".join(map(str, self.reasons))
