"""Seeded instances: tiny ones with everything in them, and larger ones with structure."""

from __future__ import annotations

import numpy as np

from solvers.composition.instance import CompositionInstance, Goal


def tiny(seed: int, goal: Goal) -> CompositionInstance:
    """Return up to 5 venvs, 6 packages, 2 bases and 5 classes, with conflicts, refusals and ties."""
    rng = np.random.default_rng(seed)
    venvs, packages = int(rng.integers(0, 6)), int(rng.integers(1, 7))
    bases, classes = int(rng.integers(1, 3)), int(rng.integers(0, 6))
    density = rng.choice([0.3, 0.5, 0.8])
    levels = np.array([0.0, 0.25, 0.5, 0.75, 1.0]) if seed % 3 else np.round(rng.random(5), 6)
    pairs = [(p, q) for p in range(packages) for q in range(p) if rng.random() < 0.1]
    return CompositionInstance(
        sizes=rng.integers(0, 5, packages) if seed % 2 else np.ones(packages, dtype=np.int64),
        venvs=tuple(tuple(map(int, np.flatnonzero(rng.random(packages) < density))) for _ in range(venvs)),
        base_sizes=rng.integers(0, 3, bases),
        runs_on=rng.random((venvs, bases)) < 0.85,
        capacity=int(rng.integers(2, 10)),
        goal=goal,
        max_images=int(rng.integers(0, 4)) if goal == Goal.COVERAGE or seed % 4 == 0 else None,
        conflicts=tuple(pairs),
        weights=rng.integers(0, 4, classes).astype(float) if seed % 5 else rng.integers(1, 8, classes) / 4,
        class_venvs=rng.integers(-1, venvs, classes),
        baked=rng.choice(levels, classes),
        fallback=np.round(rng.choice(levels, classes) * rng.choice([0.0, 0.5, 1.0]), 6),
        forbids=tuple(tuple(map(int, np.flatnonzero(rng.random(packages) < 0.1))) for _ in range(classes)),
        admitted=rng.random((classes, bases)) < 0.85,
    )


def families(
    seed: int, *, venvs: int, packages: int, capacity: int, max_images: int | None, goal: Goal
) -> CompositionInstance:
    """Return families of venvs that share most packages within the family and a few across."""
    rng = np.random.default_rng(seed)
    family = rng.integers(0, max(1, venvs // 5), venvs)
    core = rng.random((venvs, packages)) < 0.15
    own = rng.random((venvs, packages)) < 0.05
    classes = 2 * venvs
    return CompositionInstance(
        sizes=rng.integers(1, 20, packages),
        venvs=tuple(
            tuple(map(int, np.flatnonzero(core[f] | row))) for f, row in zip(family, own, strict=True)
        ),
        base_sizes=np.array([3, 5]),
        runs_on=np.column_stack([family % 2 == 0, np.ones(venvs, dtype=np.bool_)]),
        capacity=capacity,
        goal=goal,
        max_images=max_images,
        conflicts=((0, 1), (2, 3)),
        weights=rng.integers(1, 10, classes).astype(float),
        class_venvs=np.arange(classes) % venvs,
        baked=np.round(rng.uniform(0.6, 1.0, classes), 3),
        fallback=np.round(rng.uniform(0.0, 0.5, classes), 3),
        forbids=tuple((int(rng.integers(packages)),) if rng.random() < 0.1 else () for _ in range(classes)),
        admitted=np.ones((classes, 2), dtype=np.bool_),
    )
