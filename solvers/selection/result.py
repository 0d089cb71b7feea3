"""The answer to a selection instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from solvers.result import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionResult:
    """A checked selection with its proof.

    Parameters
    ----------
    chosen
        Candidate indices, ascending; only those that serve a class.
    assignment
        For each class the candidate index, -1 for none.
    objective
        ``sum_i weights[i] * probabilities[i, assignment[i]]``, expected passes.
    bound
        No selection within the caps has a larger objective.
    status
        OPTIMAL where the bound meets the objective up to the stated resolution.
    method
        What found and proved it, in a few words.
    """

    chosen: tuple[int, ...]
    assignment: tuple[int, ...]
    objective: float
    bound: float
    status: Status
    method: str

    @property
    def gap(self) -> float:
        """Return ``(bound - objective) / bound``; 0 where the bound is 0."""
        return 0.0 if self.bound <= 0 else max(0.0, (self.bound - self.objective) / self.bound)
