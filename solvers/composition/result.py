"""The answer to a composition instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solvers.composition.instance import Goal

if TYPE_CHECKING:
    from solvers.result import Status


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedImage:
    """One image.

    Parameters
    ----------
    base
        Index of its base.
    venvs, packages
        What is baked in, ascending; the packages are those that the venvs need.
    size
        Bytes of the base and the packages.
    """

    base: int
    venvs: tuple[int, ...]
    packages: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositionResult:
    """Checked images with their proof.

    Parameters
    ----------
    goal
        What was optimised.
    images
        In the order of their first venv.
    assignment
        For each class the index of the image that serves it; -1 for none.
    objective
        Expected passes (COVERAGE), or the number of images (FEWEST_IMAGES).
    bound
        Nothing is better: at most (COVERAGE) or at least (FEWEST_IMAGES) this.
    status
        OPTIMAL where the bound meets the objective; INFEASIBLE where `max_images` images cannot hold
        everything, UNKNOWN where none was found that do; there are no images then, and an objective of 0.
    method
        What found and proved it, in a few words.
    refused
        What fits into no image even alone, one sentence each.
    conflicting
        Where INFEASIBLE, venvs that cannot be together in `max_images` images.
    """

    goal: Goal
    images: tuple[ComposedImage, ...]
    assignment: tuple[int, ...]
    objective: float
    bound: float
    status: Status
    method: str
    refused: tuple[str, ...] = ()
    conflicting: tuple[int, ...] = ()

    @property
    def gap(self) -> float:
        """Return the distance of objective and bound over the larger of them; 0 where both are 0."""
        best, other = self.objective, self.bound
        if self.goal is Goal.FEWEST_IMAGES:
            best, other = other, best
        return 0.0 if other <= 0 else max(0.0, (other - best) / other)
