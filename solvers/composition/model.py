"""CP-SAT on a given number of images: y[u,k] "unit u is in image k", x[p,k] "image k holds package p".

The parts (what units need, exclude and run on; the capacity; each unit once) are methods of their
own. Symmetry between the images is broken by `order_images`: some units that need different images
open one each, and the unit of rank r among the others may only be in one of the first r images after
those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from solvers.composition.problem import members
from solvers.result import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from solvers.budget import Budget
    from solvers.composition.problem import Image, Problem

_UNITS_A_LITERAL = 1.5e-5
_STATUS = {
    cp_model.OPTIMAL: Status.OPTIMAL,
    cp_model.FEASIBLE: Status.FEASIBLE,
    cp_model.INFEASIBLE: Status.INFEASIBLE,
    cp_model.UNKNOWN: Status.UNKNOWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What CP-SAT found.

    Parameters
    ----------
    status
        How much is proven.
    images
        The best images found, one for each k; empty where none were.
    bound
        Where something was maximised: nothing is worth more; None where CP-SAT had no time to say.
    """

    status: Status
    images: tuple[Image, ...] = ()
    bound: int | None = None


class ImagesModel:
    """A CP-SAT model of `count` images over the units of a problem.

    Attributes
    ----------
    model
        The model, to add constraints to.
    placed
        `placed[k][u]`, unit u is in image k.
    held
        `held[k][p]`, image k holds package p.
    based
        `based[k][b]`, image k has base b.
    """

    def __init__(self, problem: Problem, count: int) -> None:
        self._problem = problem
        self.model = cp_model.CpModel()
        images = range(count)
        self.placed = [self._booleans(len(problem.units)) for _ in images]
        self.held = [self._booleans(len(problem.sizes)) for _ in images]
        self.based = [self._booleans(len(problem.base_sizes)) for _ in images]
        self._literals = 0
        for k in images:
            self._add_units(k)
            self._add_capacity(k)

    def _booleans(self, count: int) -> list[cp_model.IntVar]:
        return [self.model.new_bool_var("") for _ in range(count)]

    def _add_units(self, k: int) -> None:
        """Give a unit what it needs, and nothing that it excludes."""
        whole = self._problem.empty.bases
        for u, unit in enumerate(self._problem.units):
            here = self.placed[k][u]
            for p in members(unit.needs):
                self.model.add_implication(here, self.held[k][p])
            for p in members(unit.excludes):
                self.model.add_implication(here, ~self.held[k][p])
            for b in members(whole & ~unit.bases):
                self.model.add_implication(here, ~self.based[k][b])
            self._literals += unit.needs.bit_count() + unit.excludes.bit_count()

    def _add_capacity(self, k: int) -> None:
        """Choose one base and stay within the capacity."""
        problem = self._problem
        if not self.based[k]:
            self.model.add_bool_and([~here for here in self.placed[k]])
            return
        self.model.add_exactly_one(self.based[k])
        variables = [*self.held[k], *self.based[k]]
        self.model.add(
            cp_model.LinearExpr.weighted_sum(variables, [*problem.sizes, *problem.base_sizes])
            <= problem.capacity
        )

    @property
    def building_units(self) -> float:
        """Deterministic time that building the model is counted as."""
        return _UNITS_A_LITERAL * self._literals

    def serve_all(self) -> None:
        """Put every unit into one image."""
        for u in range(len(self._problem.units)):
            self.model.add_exactly_one([here[u] for here in self.placed])

    def serve_at_most_once(self) -> cp_model.LinearExpr:
        """Put every unit into at most one image; return what they are worth."""
        terms, gains = [], []
        for u, unit in enumerate(self._problem.units):
            if len(self.placed) > 1:
                self.model.add_at_most_one([here[u] for here in self.placed])
            terms += [here[u] for here in self.placed]
            gains += [unit.gain] * len(self.placed)
        return cp_model.LinearExpr.weighted_sum(terms, gains)

    def order_images(self, apart: Sequence[int] = ()) -> list[int]:
        """Break the symmetry between the images; return the units by rank.

        Parameters
        ----------
        apart
            At most `count` units that are all placed, pairwise in different images.
        """
        first = list(apart)
        for k, u in enumerate(first):
            self.model.add(self.placed[k][u] == 1)
        units = self._problem.units
        others = sorted(
            set(range(len(units))) - set(apart), key=lambda u: (-self._problem.size(units[u].needs), u)
        )
        for rank, u in enumerate(others):
            for k in range(len(first) + rank + 1, len(self.placed)):
                self.model.add(self.placed[k][u] == 0)
        return [*first, *others]

    def hint(self, images: Sequence[Image]) -> None:
        """Start from `images`, in order, at most one for each k; a unit counts where it is first."""
        proto = self.model.proto.solution_hint
        proto.vars.clear()
        proto.values.clear()
        seen: set[int] = set()
        for k in range(len(self.placed)):
            image = set(images[k]) - seen if k < len(images) else set()
            seen |= image
            whole = self._problem.together(sorted(image))
            base = self._problem.base(whole.bases)
            for u, variable in enumerate(self.placed[k]):
                self.model.add_hint(variable, u in image)
            for p, variable in enumerate(self.held[k]):
                self.model.add_hint(variable, bool(whole.needs >> p & 1))
            for b, variable in enumerate(self.based[k]):
                self.model.add_hint(variable, b == base)

    def solve(self, budget: Budget, seed: int, *, linearization: int = 1) -> Outcome:
        """Run CP-SAT on one worker within the budget.

        Raises
        ------
        RuntimeError
            If CP-SAT calls the model invalid or answers with a status that it does not document.
        """
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = linearization
        solver.parameters.max_deterministic_time = max(budget.left, 0.0)
        solver.parameters.random_seed = seed
        solver.parameters.catch_sigint_signal = False  # or an interrupt only ends this search, and is lost
        status = solver.solve(self.model)
        budget.charge(solver.response_proto.deterministic_time)
        if status not in _STATUS:
            raise RuntimeError(f"CP-SAT says {solver.status_name(status)} of a valid model")
        if status == cp_model.UNKNOWN or not self.model.proto.has_objective():
            bound = None
        else:
            bound = round(solver.best_objective_bound)  # whole, but for the float it is told in
        images: tuple[Image, ...] = ()
        if status in {cp_model.OPTIMAL, cp_model.FEASIBLE}:
            images = tuple(
                tuple(u for u, here in enumerate(row) if solver.boolean_value(here)) for row in self.placed
            )
        return Outcome(status=_STATUS[status], images=images, bound=bound)


def ranked(images: Iterable[Image], ranks: Sequence[int]) -> tuple[Image, ...]:
    """Return the images in the order of their first unit by rank, each unit only once."""
    place = {u: rank for rank, u in enumerate(ranks)}
    seen: set[int] = set()
    once = []
    for image in images:
        once.append(tuple(u for u in image if u not in seen))
        seen.update(image)
    return tuple(sorted((image for image in once if image), key=lambda image: min(place[u] for u in image)))
