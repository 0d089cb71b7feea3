"""P(oracle passes | task class, environment) from structure alone: the ceiling times surviving every hazard.

A class is served in the better of two ways: by the packages baked into the environment (when one of its
family's lists is among them), or by installing its own at run time. `docs/yield-model.md` states the rules
and the pseudo-counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from partition.yields import hazards
from partition.yields.ceiling import ceilings
from partition.yields.table import ClassTable, minor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from partition.environments.shared import PackageSet, SharedEnvironment

_UNKNOWN_INTERPRETER_DISTANCE = 2.0
"""Minor versions; an interpreter that only a package file decides is taken to be this far away."""
_ANOTHER_MAJOR = 100.0
_DECIMALS = 6
"""Decimals of an expected probability: what the solvers resolve, so that they prove what is shown."""
_APT_DISTRIBUTIONS = frozenset({"debian", "ubuntu"})
_DRAWS = 2000
_QUANTILES = (0.025, 0.975)
_ROWS_AT_ONCE = 1000
_ROWS_KEPT = 4000
"""Rows whose draws are kept for the next plan; the others are drawn again."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted oracle passes for every pair of class and environment.

    Parameters
    ----------
    mean
        Shape (n, m), in [0, 1]; 0 where not allowed.
    allowed
        Shape (n, m), bool.
    baked
        Shape (n, m), bool: the packages baked in the environment serve the class.
    """

    mean: NDArray[np.float64]
    allowed: NDArray[np.bool_]
    baked: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A predicted share with a 95 % credible interval over the priors."""

    mean: float
    low: float
    high: float


class StructuralYields:
    """The structural yield model over one set of classes.

    Parameters
    ----------
    table
        The classes, n rows.
    """

    def __init__(self, table: ClassTable) -> None:
        self.table = table
        self.ceiling = ceilings(table.classes)
        """Shape (n, 2): Beta pseudo-passes and pseudo-failures."""
        self._ceiling_draws: dict[tuple[int, int], NDArray[np.float64]] = {}

    def predict(self, environments: Sequence[SharedEnvironment]) -> Predictions:
        """Predict every class in every environment."""
        shape = (len(self.table.classes), len(environments))
        mean, allowed, baked = np.zeros(shape), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        ceiling = self.ceiling[:, 0] / self.ceiling.sum(axis=1)
        for column, environment in enumerate(environments):
            exposure, possible, served = self.exposure(environment)
            mean[:, column] = np.where(possible, _expected(ceiling, exposure), 0.0)
            allowed[:, column], baked[:, column] = possible, served
        return Predictions(mean, allowed, baked)

    def exposure(
        self, environment: SharedEnvironment
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Return what each class meets in one environment, served in the better way.

        Returns
        -------
        exposure
            Shape (n, hazards).
        allowed
            Shape (n,): False where the class cannot run there at all.
        baked
            Shape (n,): the better way is the baked one.
        """
        table = self.table
        common, possible, missing = self._common(environment)
        run_time = common.copy()
        self._add_interpreter(run_time, environment, served=np.zeros(len(table.classes), dtype=bool))
        run_time[:, hazards.INDEX["drift"]] = np.where(table.drifting & ~table.dated, 2.0, 0.0)
        run_time[:, hazards.INDEX["drift, dated"]] = table.drifting & table.dated
        run_time[:, hazards.INDEX["run-time build"]] += np.where(table.installs, 1.0 + table.heavy, 0.0)
        run_time[:, hazards.INDEX["network"]] = table.installs | table.clones | table.others | (missing > 0)

        distance, merged, declared = self._distance(environment.baked)
        served = np.isfinite(distance)
        in_place = common
        self._add_interpreter(in_place, environment, served=served & (distance == 0))
        in_place[:, hazards.INDEX["drift"]] = table.drifting & ~table.dated
        in_place[:, hazards.INDEX["drift, dated"]] = table.drifting & table.dated
        in_place[:, hazards.INDEX["neighbouring release"]] = np.where(served, distance, 0.0)
        in_place[:, hazards.INDEX["merged set"]] = 0.0 if declared else merged
        in_place[:, hazards.INDEX["merged set, all declared"]] = merged if declared else 0.0
        fetches = table.clones | table.others | (missing > 0) | (served & (distance > 0))
        in_place[:, hazards.INDEX["network"]] = fetches

        can_run = possible & ~(table.offline & (run_time[:, hazards.INDEX["network"]] > 0))
        can_serve = possible & served & ~(table.offline & fetches)
        better = can_serve & (~can_run | (hazards.log_survival(in_place) >= hazards.log_survival(run_time)))
        return np.where(better[:, None], in_place, run_time), can_run | can_serve, better

    def assigned_exposure(
        self, environments: Sequence[SharedEnvironment], assignment: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return what each class meets where it is assigned; shape (n, hazards), NaN where it is not."""
        chosen = np.asarray(assignment)
        result = np.full((len(chosen), len(hazards.HAZARDS)), np.nan)
        for index in sorted(set(assignment) - {-1}):
            rows = chosen == index
            result[rows] = self.exposure(environments[index])[0][rows]
        return result

    def band(
        self, environments: Sequence[SharedEnvironment], assignment: Sequence[int], *, seed: int
    ) -> Band:
        """Return the predicted yield of an assignment over all classes, with its interval.

        The interval is over what is not known of the hazards and the ceilings (`_DRAWS` draws from the
        priors, one state of the world shared by all tasks), not over the luck of single trials.

        Parameters
        ----------
        assignment
            For each class the index of its environment, -1 for none.
        """
        exposure = self.assigned_exposure(environments, assignment)
        total, mean = np.zeros(_DRAWS), 0.0
        for rows, expected, drawn in self._drawn(exposure, seed):
            total += drawn @ self.table.weights[rows]
            mean += float(expected @ self.table.weights[rows])
        tasks = float(self.table.weights.sum())
        low, high = np.quantile(total, _QUANTILES) / tasks
        return Band(mean=mean / tasks, low=float(low), high=float(high))

    def bands(
        self, environments: Sequence[SharedEnvironment], assignment: Sequence[int], *, seed: int
    ) -> tuple[Band | None, ...]:
        """Return the pass probability of each class where it is assigned, with its interval; see `band`."""
        result: list[Band | None] = [None] * len(assignment)
        exposure = self.assigned_exposure(environments, assignment)
        for rows, expected, drawn in self._drawn(exposure, seed):
            low, high = np.quantile(drawn, _QUANTILES, axis=0)
            for position, row in enumerate(rows.tolist()):
                result[row] = Band(
                    mean=float(expected[position]), low=float(low[position]), high=float(high[position])
                )
        return tuple(result)

    def _drawn(
        self, exposure: NDArray[np.float64], seed: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]]:
        """Yield rows, their expected probabilities, and their probabilities in each draw, some at a time.

        A class draws the same ceilings whatever it is assigned to, so that plans differ by what they do and
        not by the luck of the draw.
        """
        log_survive = np.log1p(-np.minimum(hazards.draw(_DRAWS, seed), 1 - 1e-12))
        served = np.asarray(np.isfinite(exposure).all(axis=1))
        for start in range(0, len(served), _ROWS_AT_ONCE):
            here = np.flatnonzero(served[start : start + _ROWS_AT_ONCE])
            rows = start + here
            passes, failures = self.ceiling[rows].T
            expected = _expected(passes / (passes + failures), exposure[rows])
            ceiling = self._drawn_ceilings(start, seed)[:, here]
            yield rows, expected, ceiling * np.exp(log_survive @ exposure[rows].T)

    def _drawn_ceilings(self, start: int, seed: int) -> NDArray[np.float64]:
        """Draw the ceilings of the rows from `start` on; shape (draws, at most `_ROWS_AT_ONCE`)."""
        if (start, seed) not in self._ceiling_draws:
            passes, failures = self.ceiling[start : start + _ROWS_AT_ONCE].T
            generator = np.random.Generator(np.random.PCG64([seed, 1, start]))
            drawn = generator.beta(passes, failures, size=(_DRAWS, len(passes)))
            if start >= _ROWS_KEPT:
                return drawn
            self._ceiling_draws[start, seed] = drawn
        return self._ceiling_draws[start, seed]

    def because(self, row: int, environment: SharedEnvironment) -> str:
        """Say in one line what a prediction rests on."""
        exposure, _, baked = self.exposure(environment)
        passes, failures = self.ceiling[row]
        parts = [f"ceiling {passes / (passes + failures):.2f}"]
        for hazard, units in zip(hazards.HAZARDS, exposure[row], strict=True):
            if units:
                alone = np.zeros(len(hazards.HAZARDS))
                alone[hazards.INDEX[hazard.name]] = units
                parts.append(f"{hazard.name} x{units:g} {np.exp(hazards.log_survival(alone)):.2f}")
        return ("baked: " if baked[row] else "at run time: ") + ", ".join(parts)

    def _common(
        self, environment: SharedEnvironment
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        """Return exposures that hold either way: system packages and release; and what rules a pair out."""
        table = self.table
        exposure = np.zeros((len(table.classes), len(hazards.HAZARDS)))
        present = np.zeros(len(table.apt_index), dtype=bool)
        present[[table.apt_index[name] for name in environment.apt if name in table.apt_index]] = True
        missing = np.asarray((table.apt & ~present).sum(axis=1), dtype=np.float64)
        exposure[:, hazards.INDEX["system package"]] = missing
        other, release = table.away_from(environment.distribution, environment.release)
        exposure[:, hazards.INDEX["release"]] = np.where(other, 2.0, release)
        possible = ~other
        if environment.distribution in _APT_DISTRIBUTIONS:
            possible = ~other | table.on_distribution(_APT_DISTRIBUTIONS)
        exposure[:, hazards.INDEX["run-time build"]] = table.others
        exposure[:, hazards.INDEX["base image"]] = table.loses_base(environment.base)
        possible &= ~(table.offline & (missing > 0))
        return exposure, possible, missing

    def _add_interpreter(
        self, exposure: NDArray[np.float64], environment: SharedEnvironment, *, served: NDArray[np.bool_]
    ) -> None:
        wanted, there = self.table.python, minor(environment.python)
        if np.isnan(there):
            distance = np.where(served, 0.0, _UNKNOWN_INTERPRETER_DISTANCE)
        else:
            distance = np.minimum(np.abs(wanted - there), _ANOTHER_MAJOR)
        unstated = np.isnan(wanted)
        exposure[:, hazards.INDEX["interpreter"]] = np.where(unstated, 0.0, distance)
        exposure[:, hazards.INDEX["unstated interpreter"]] = unstated & ~served

    def _distance(self, baked: PackageSet | None) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
        """Return how far each class is from the nearest list that the baked packages serve.

        Returns
        -------
        distance
            Shape (n,), release series between; infinite where no list of the family is among them.
        merged
            Shape (n,), exposure to the other lists resolved into the same set.
        declared
            Whether every requirement of the set is in sight.
        """
        table = self.table
        distance = np.full(len(table.classes), np.inf)
        if baked is None:
            return distance, np.zeros(len(table.classes)), True
        for member in baked.members:
            if member.repo is None:
                continue
            position = table.ranks.get(member.family, {}).get(member.version)
            for row in table.rows_of_family.get(member.family, ()):
                own = table.members[row]
                if own is not None and own.same_list(member):
                    distance[row] = 0.0
                elif own is not None and position is not None:
                    distance[row] = min(distance[row], max(1, abs(int(table.rank[row]) - position)))
        listed = {*baked.pip, *baked.conda}
        for row, packages in table.declared:
            if packages <= listed:
                distance[row] = 0.0
        declared = all(member.declared for member in baked.members)
        others = float(np.log2(len(baked.members))) if declared else float(len(baked.members) - 1)
        return distance, np.full(len(table.classes), others), declared


def _expected(ceiling: NDArray[np.float64], exposure: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.round(ceiling * np.exp(hazards.log_survival(exposure)), _DECIMALS)
