"""The answer to a selection instance."""

from __future__ import annotations

from dataclasses import dataclass

from solvers.result import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionResult:
    """A checked selection with its proof.

    Parameters
    ----------
    chosen
        Candidate indices, ascending; only those that serve a class.
    assignment
        For each class the candidate index; -1 where no chosen candidate is allowed.
    objective
        ``sum_i weights[i] * probabilities[i, assignment[i]]``, expected passes.
    bound
        No selection within the caps has a larger objective.
    status
        OPTIMAL where the bound meets the objective up to the stated resolution.
    method
        What found and proved it, in a few words.
    tie_break
        OPTIMAL where no equally good selection has fewer new candidates, or as many and a smaller
        size, or the same size and fewer classes moved; FEASIBLE where that is not proven.
    """

    chosen: tuple[int, ...]
    assignment: tuple[int, ...]
    objective: float
    bound: float
    status: Status
    method: str
    tie_break: Status = Status.FEASIBLE

    @property
    def gap(self) -> float:
        """Return ``(bound - objective) / bound``; 0 where the bound is 0."""
        return 0.0 if self.bound <= 0 else max(0.0, (self.bound - self.objective) / self.bound)
