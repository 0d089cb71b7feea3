"""The ways in which folding breaks a gold solution, each with its prior.

A hazard h breaks a task with probability q_h at each unit of exposure, independently of the others, so a
class that meets it x times survives it with ``(1 - q_h) ** x``. What is believed of q_h before any
oracle has run is a Beta(failures, passes) distribution: `failures` and `passes` are pseudo-counts, as if
that many tasks had been seen to break and to survive one unit. They are weak on purpose (4 to 50 tasks in
all), were written down before the model predicted anything, and are not fitted to an outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazard:
    """One cause of failure.

    Parameters
    ----------
    name
        Short name, as shown in explanations.
    failures, passes
        Pseudo-counts of the Beta prior on the probability of breaking at one unit of exposure.
    unit
        What one unit of exposure is.
    why
        Why the prior is what it is.
    """

    name: str
    failures: float
    passes: float
    unit: str
    why: str


INTERPRETER = Hazard(
    name="interpreter",
    failures=1,
    passes=4,
    unit="one minor version between the interpreter wanted and the one there",
    why="neighbouring interpreters mostly work; removed modules and Requires-Python add up with distance",
)
UNSTATED = Hazard(
    name="unstated interpreter",
    failures=1,
    passes=9,
    unit="nothing says which interpreter the task wants",
    why="the interpreter is then a guess that is usually close",
)
SYSTEM = Hazard(
    name="system package",
    failures=1,
    passes=19,
    unit="one system package that set-up must install at run time",
    why="mirrors fail, superseded versions vanish, and installing takes time from the trial",
)
RELEASE = Hazard(
    name="release",
    failures=1,
    passes=9,
    unit="another release of the distribution than the task's own (two for another distribution)",
    why="package names, compilers and C libraries change between releases",
)
BASE = Hazard(
    name="base image",
    failures=3,
    passes=1,
    unit="the task's base brings a toolchain, or nobody knows what, and the environment starts from another",
    why="whatever else the task's own base holds is gone",
)
DRIFT = Hazard(
    name="drift",
    failures=2,
    passes=10,
    unit="unpinned packages resolved against a later index: one when baked (a build that breaks is seen "
    "and repaired once), two at run time",
    why="setuptools 81, Cython 3, numpy 2 and pytest 8 each broke releases older than themselves",
)
DATED = Hazard(
    name="drift, dated",
    failures=1,
    passes=29,
    unit="unpinned packages resolved as of the task's date",
    why="resolving as of a date removes most drift; yanked files and build isolation remain",
)
BUILD = Hazard(
    name="run-time build",
    failures=1,
    passes=9,
    unit="packages installed at run time (two where they compile or come from an environment file)",
    why="time, memory and disk limits of a trial are tighter than those of a build",
)
NETWORK = Hazard(
    name="network",
    failures=1,
    passes=49,
    unit="something is fetched at run time",
    why="mirrors and hosts are unreachable now and then",
)
NEIGHBOUR = Hazard(
    name="neighbouring release",
    failures=1,
    passes=19,
    unit="one release series between the task's and the nearest one that the baked packages serve",
    why="requirements of neighbouring releases differ in a few packages, which set-up then changes",
)
MERGED = Hazard(
    name="merged set",
    failures=1,
    passes=9,
    unit="one other package list resolved into the same set, where files or metadata hide requirements",
    why="declared pins agree, undeclared ones may not",
)
MERGED_DECLARED = Hazard(
    name="merged set, all declared",
    failures=1,
    passes=29,
    unit="one doubling of the number of package lists resolved into the same set, every requirement in sight",
    why="only versions that nobody pinned can move",
)

HAZARDS: tuple[Hazard, ...] = (
    INTERPRETER,
    UNSTATED,
    SYSTEM,
    RELEASE,
    BASE,
    DRIFT,
    DATED,
    BUILD,
    NETWORK,
    NEIGHBOUR,
    MERGED,
    MERGED_DECLARED,
)
INDEX = {hazard.name: position for position, hazard in enumerate(HAZARDS)}
_FAILURES = np.array([hazard.failures for hazard in HAZARDS], dtype=np.float64)
_PASSES = np.array([hazard.passes for hazard in HAZARDS], dtype=np.float64)


def log_survival(exposure: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the probability of surviving every hazard.

    With q ~ Beta(a, b), ``E[(1 - q) ** x] = B(a, b + x) / B(a, b)`` exactly; the hazards are independent.

    Parameters
    ----------
    exposure
        Shape (..., len(HAZARDS)), units of exposure, >= 0.

    Returns
    -------
    Shape (...), <= 0.
    """
    total = _FAILURES + _PASSES
    terms = gammaln(_PASSES + exposure) - gammaln(_PASSES) + gammaln(total) - gammaln(total + exposure)
    return np.asarray(terms.sum(axis=-1), dtype=np.float64)


def draw(count: int, seed: int) -> NDArray[np.float64]:
    """Draw the hazards' probabilities from their priors.

    Returns
    -------
    Shape (count, len(HAZARDS)); one row is one state of the world, shared by all tasks.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    return generator.beta(_FAILURES, _PASSES, size=(count, len(HAZARDS)))
