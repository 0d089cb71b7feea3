"""Generators of selection instances as large as one likes; nothing here is measured on a real dataset.

`realistic` imitates what envfold's own candidates and yield model make of a large dataset
(docs/yield-model.md): repositories with release series that drift from interpreter to interpreter, tasks that
follow Zipf's law, and candidates as `partition.candidates` generates them: an interpreter alone, the list of
one release, the middle list of a repository, lists of several repositories merged. Probabilities are a
repository's ceiling times the survival of the hazards met, with the priors that envfold uses; pairs that
cannot work are forbidden. `noise` is the standard deviation of what is added to the logit of every pair and
of every candidate: without it many pairs have equal probabilities, as in envfold's own instances; with it no
two do, as if they were learned from outcomes.

`unstructured` has no structure at all: uniform probabilities, as in the dense instance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln

from solvers.selection.instance import SelectionInstance

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INTERPRETER, _DRIFT, _DATED, _BUILD = (1, 4), (2, 10), (1, 29), (1, 9)
_NETWORK, _NEIGHBOUR, _MERGED, _SYSTEM = (1, 49), (1, 19), (1, 9), (1, 19)
"""Failures and passes of envfold's hazards of these names."""
_MOST_UNITS = 64
_MINORS = np.arange(5, 14)
_MERGED_AT_MOST = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class Classes:
    """Task classes, each array of shape (n,).

    Parameters
    ----------
    weights
        Tasks.
    family, series
        Repository, and the position of the release series in it.
    python
        Minor version wanted.
    heavy, dated, offline
        Whether installing compiles, the date is known, and nothing may be fetched at run time.
    missing
        System packages that set-up must install.
    ceiling
        Probability of passing in the task's own environment.
    """

    weights: NDArray[np.float64]
    family: NDArray[np.int64]
    series: NDArray[np.int64]
    python: NDArray[np.int64]
    heavy: NDArray[np.bool_]
    dated: NDArray[np.bool_]
    offline: NDArray[np.bool_]
    missing: NDArray[np.int64]
    ceiling: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An interpreter with the package lists, (family, series) pairs, that are baked there."""

    python: int
    baked: tuple[tuple[int, int], ...] = ()


def realistic(*, tasks: int, n: int, m: int, k: int, noise: float, seed: int = 0) -> SelectionInstance:
    """Return an instance of `tasks` tasks in n classes and m candidates, of which k may be chosen."""
    rng = np.random.default_rng(seed)
    classes = _classes(tasks, n, rng)
    candidates = _candidates(classes, m, rng)
    probabilities = np.empty((n, m))
    allowed = np.empty((n, m), dtype=np.bool_)
    for j, candidate in enumerate(candidates):
        probabilities[:, j], allowed[:, j] = _predicted(classes, candidate)
        if noise > 0:
            odds = probabilities[:, j] / (1 - probabilities[:, j])
            shift = noise * (rng.standard_normal() + rng.standard_normal(n))
            probabilities[:, j] = 1 - 1 / (1 + odds * np.exp(shift))
    return _instance(classes.weights, probabilities, allowed, k)


def unstructured(*, tasks: int, n: int, m: int, k: int, seed: int = 0) -> SelectionInstance:
    """Return an instance with weights by Zipf's law and uniform probabilities, every pair allowed."""
    rng = np.random.default_rng(seed)
    return _instance(_zipf(tasks, n, 0.8, rng), rng.random((n, m)), np.ones((n, m), dtype=np.bool_), k)


def _instance(
    weights: NDArray[np.float64], probabilities: NDArray[np.float64], allowed: NDArray[np.bool_], k: int
) -> SelectionInstance:
    m = probabilities.shape[1]
    np.round(probabilities, 6, out=probabilities)
    return SelectionInstance(
        weights=weights,
        probabilities=probabilities,
        allowed=allowed,
        existing=np.zeros(m, dtype=np.bool_),
        sizes=np.zeros(m, dtype=np.int64),
        max_new=k,
    )


def _zipf(total: int, parts: int, exponent: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return `parts` whole numbers >= 1 that add up to `total` and fall by rank, in random order."""
    share = 1.0 / np.arange(1, parts + 1) ** exponent
    extra = np.floor(share / share.sum() * (total - parts))
    extra[: int(total - parts - extra.sum())] += 1
    return rng.permutation(1.0 + extra)


def _classes(tasks: int, n: int, rng: np.random.Generator) -> Classes:
    # a repository for about 8 classes; a few have many release series, most have one or two
    families = max(2, n // 8)
    popularity = 1.0 / np.arange(1, families + 1) ** 0.7
    family = np.sort(rng.choice(families, size=n, p=popularity / popularity.sum()))
    first = np.searchsorted(family, family)
    per_family = np.bincount(family, minlength=families)
    series = (np.arange(n) - first) // 2
    newest, oldest = rng.integers(8, 13, families), rng.integers(5, 9, families)
    age = series / np.maximum(1, (per_family[family] - 1) // 2)
    python = np.rint(oldest[family] + age * np.maximum(0, newest - oldest)[family]).astype(np.int64)
    python = np.clip(python + (rng.random(n) < 0.1), _MINORS[0], _MINORS[-1])
    return Classes(
        weights=_zipf(tasks, n, 0.8, rng),
        family=family,
        series=series,
        python=python,
        heavy=(rng.random(families) < 0.3)[family],
        dated=rng.random(n) < 0.7,
        offline=rng.random(n) < 0.05,
        missing=np.minimum(rng.geometric(0.6, n) - 1, 5),
        ceiling=rng.beta(18, 2, families)[family] * rng.beta(40, 1, n),
    )


def _candidates(classes: Classes, m: int, rng: np.random.Generator) -> list[Candidate]:
    """Return m candidates: interpreters, releases' own lists by weight, middle lists, merged lists."""
    lists: dict[tuple[int, int, int], float] = {}
    for place in zip(classes.python, classes.family, classes.series, classes.weights, strict=True):
        key = (int(place[0]), int(place[1]), int(place[2]))
        lists[key] = lists.get(key, 0.0) + float(place[3])
    heaviest = sorted(lists, key=lambda key: (-lists[key], key))
    found = dict.fromkeys(Candidate(python=int(minor)) for minor in _MINORS)
    found.update(
        dict.fromkeys(Candidate(python=python, baked=((f, s),)) for python, f, s in heaviest[: m * 3 // 4])
    )
    rounds = 0
    while len(found) < m and rounds < 20 * m:
        rounds += 1
        minor = int(rng.choice(_MINORS))
        here = [(f, s) for python, f, s in heaviest if python == minor][: 16 + rounds // 8]
        if not here:
            continue
        count = min(len(here), int(rng.integers(2, _MERGED_AT_MOST + 1)))
        picked = sorted(here[i] for i in rng.choice(len(here), count, replace=False))
        found.setdefault(Candidate(python=minor, baked=tuple(picked)))
    return list(found)[:m]


def _predicted(classes: Classes, candidate: Candidate) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the probability of each class, served in the better way, and whether it can run at all."""
    away = np.abs(classes.python - candidate.python)
    common = classes.ceiling * _survival(_SYSTEM, classes.missing // 2)
    drift = np.where(classes.dated, _survival(_DATED, 1), _survival(_DRIFT, 2))
    run_time = common * _survival(_INTERPRETER, away) * drift * _survival(_NETWORK, 1)
    run_time *= _survival(_BUILD, 1 + classes.heavy)
    apart = np.full(len(away), _MOST_UNITS)
    for family, series in candidate.baked:
        own = classes.family == family
        apart[own] = np.minimum(apart[own], np.abs(classes.series[own] - series))
    baked = apart < _MOST_UNITS
    in_place = common * np.where(classes.dated, _survival(_DATED, 1), _survival(_DRIFT, 1))
    in_place *= _survival(_INTERPRETER, np.where(apart == 0, 0, away)) * _survival(_NEIGHBOUR, apart)
    in_place *= _survival(_MERGED, max(0, len(candidate.baked) - 1)) * _survival(_NETWORK, apart > 0)
    allowed = np.where(classes.offline, apart == 0, away < 6)
    return np.where(baked, np.maximum(in_place, run_time), run_time), allowed


def _survival(hazard: tuple[int, int], units: NDArray[np.generic] | int) -> NDArray[np.float64]:
    """Return the probability of surviving a hazard met so many times."""
    failures, passes = hazard
    table = np.exp(betaln(failures, passes + np.arange(_MOST_UNITS + 1)) - betaln(failures, passes))
    found: NDArray[np.float64] = table[np.asarray(units, dtype=np.int64)]
    return found
