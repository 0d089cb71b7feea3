"""Seeded instances: tiny ones with everything in them, random dense ones, and ones with real structure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solvers.selection.instance import SelectionInstance


def tiny(seed: int) -> SelectionInstance:
    """Return up to 6 classes and 7 candidates with few distinct numbers, so that ties are frequent."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 8))
    levels = np.array([0.0, 0.25, 0.5, 0.5, 0.75, 1.0]) if seed % 3 else np.round(rng.random(6), 6)
    rows = rng.choice(levels, size=(n, m))
    if seed % 4 == 0:
        rows[-1] = rows[0]
    return SelectionInstance(
        weights=rng.integers(0, 4, n).astype(float) if seed % 5 else rng.integers(1, 8, n) / 4,
        probabilities=rows,
        allowed=rng.random((n, m)) < rng.choice([0.5, 0.8, 1.0]),
        existing=rng.random(m) < rng.choice([0.0, 0.3, 0.6]),
        sizes=rng.integers(0, 4, m),
        max_new=int(rng.integers(0, 4)),
        max_total=None if seed % 2 else int(rng.integers(0, 5)),
        previous=rng.integers(-1, m, n) if seed % 3 else None,
    )


def dense(seed: int, *, n: int, m: int, k: int) -> SelectionInstance:
    """Return uniformly random probabilities: the hardest kind, with no structure to use."""
    rng = np.random.default_rng(seed)
    return SelectionInstance(
        weights=rng.integers(1, 20, n).astype(float),
        probabilities=rng.random((n, m)),
        allowed=np.ones((n, m), dtype=np.bool_),
        existing=np.zeros(m, dtype=np.bool_),
        sizes=rng.integers(10**8, 10**10, m),
        max_new=k,
    )


def families(
    seed: int, *, n: int = 400, m: int = 600, count: int = 11, versions: int = 20, k: int = 10
) -> SelectionInstance:
    """Return repository families with versions, as in real datasets.

    A candidate is baked for one family and version, or generic for one interpreter. A class passes
    often in its own version's environment, less with the distance in versions, seldom in another
    family's, and sometimes in a generic one of the right interpreter. Probabilities have three
    digits, so that there are many ties; some late versions of a family are forbidden to sit beside
    the family before it.
    """
    rng = np.random.default_rng(seed)
    family, version = rng.integers(0, count, n), rng.integers(0, versions, n)
    interpreter = np.minimum(version * 5 // versions + rng.integers(0, 2, n), 4)
    ceiling = np.round(rng.uniform(0.7, 1.0, count), 2)[family]
    probabilities = np.zeros((n, m))
    allowed = np.ones((n, m), dtype=np.bool_)
    for j in range(m):
        if j < 5:
            probabilities[:, j] = np.where(interpreter == j, 0.55, 0.2) * ceiling
            continue
        own, baked = int(rng.integers(0, count)), int(rng.integers(0, versions))
        same = interpreter == min(baked * 5 // versions + int(rng.integers(0, 2)), 4)
        near = np.exp(-np.abs(version - baked) / 4.0)
        home = np.where(same, 0.35 + 0.65 * near, 0.15 + 0.2 * near)
        probabilities[:, j] = np.where(family == own, home, np.where(same, 0.45, 0.15)) * ceiling
        allowed[:, j] = (family != (own + 1) % count) | (version <= versions * 3 // 4)
    return SelectionInstance(
        weights=np.ceil(rng.pareto(1.5, n) * 3 + 1).clip(max=120),
        probabilities=np.round(probabilities, 3),
        allowed=allowed,
        existing=np.zeros(m, dtype=np.bool_),
        sizes=rng.integers(5, 60, m) * 10**8,
        max_new=k,
    )


def with_history(instance: SelectionInstance, seed: int, *, max_total: int) -> SelectionInstance:
    """Return `instance` with some candidates that exist, a cap on all, and a previous plan."""
    rng = np.random.default_rng(seed)
    n, m = instance.probabilities.shape
    return replace(
        instance,
        existing=rng.random(m) < 0.05,
        max_total=max_total,
        previous=rng.choice(rng.choice(m, 15), n),
    )
