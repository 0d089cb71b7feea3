"""The entry point: the optimum on tiny instances, laws, refusals, determinism, known optima."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from composition.cases import families, tiny
from composition.exhaustive import best_coverage, fewest_images
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.composition.checker import assert_composition
from solvers.composition.compose import compose
from solvers.composition.instance import Goal
from solvers.composition.pagination import pagination, read_pagination
from solvers.result import Limits, Status

PROOF = Limits(deterministic_time=20.0)
BENCH = Path(__file__).parents[4] / "shared" / "bench" / "pagination" / "gauss"


@pytest.mark.parametrize("block", range(10))
def test_coverage_is_the_exhaustive_optimum(block):
    for seed in range(30 * block, 30 * block + 30):
        instance = tiny(seed, Goal.COVERAGE)
        result = compose(instance, PROOF)
        assert_composition(instance, result)
        assert result.status is Status.OPTIMAL, seed
        assert result.objective == pytest.approx(float(best_coverage(instance)), abs=1e-9), seed


@pytest.mark.parametrize("block", range(10))
def test_fewest_images_is_the_exhaustive_optimum(block):
    for seed in range(30 * block, 30 * block + 30):
        instance = tiny(seed, Goal.FEWEST_IMAGES)
        result = compose(instance, PROOF)
        assert_composition(instance, result)
        fewest = fewest_images(instance)
        if instance.max_images is not None and fewest > instance.max_images:
            assert result.status is Status.INFEASIBLE, seed
            assert result.conflicting
            continue
        assert result.status is Status.OPTIMAL, seed
        assert result.objective == fewest, seed


@pytest.mark.parametrize("goal", Goal)
def test_with_no_time_there_is_a_checked_answer_and_a_true_bound(goal):
    for seed in range(100):
        instance = replace(tiny(seed, goal), max_images=2 if goal is Goal.COVERAGE else None)
        result = compose(instance, Limits(deterministic_time=0))
        assert_composition(instance, result)
        if goal is Goal.COVERAGE:
            best = float(best_coverage(instance))
            assert result.objective - 1e-9 <= best <= result.bound + 1e-9
        else:
            assert result.bound <= fewest_images(instance) <= result.objective


@pytest.mark.parametrize("goal", Goal)
def test_without_a_limit_of_time_the_proof_ends(goal):
    for seed in range(20):
        instance = replace(tiny(seed, goal), max_images=3 if goal is Goal.COVERAGE else None)
        assert compose(instance, Limits(deterministic_time=float("inf"))).status is Status.OPTIMAL


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_more_images_or_more_room_never_hurt(seed):
    instance = replace(tiny(seed, Goal.COVERAGE), max_images=1)
    least = compose(instance, PROOF).objective
    assert compose(replace(instance, max_images=2), PROOF).objective >= least - 1e-9
    assert compose(replace(instance, capacity=instance.capacity + 2), PROOF).objective >= least - 1e-9


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(Goal))
def test_a_second_venv_with_the_same_packages_costs_nothing(seed, goal):
    instance = replace(tiny(seed, goal), max_images=2 if goal is Goal.COVERAGE else None)
    twice = replace(
        instance,
        venvs=instance.venvs + instance.venvs[:1],
        runs_on=np.vstack([instance.runs_on, instance.runs_on[:1]]),
    )
    assert compose(twice, PROOF).objective == pytest.approx(compose(instance, PROOF).objective)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(Goal))
def test_the_order_of_everything_does_not_change_the_objective(seed, goal):
    instance = replace(tiny(seed, goal), max_images=2 if goal is Goal.COVERAGE else None)
    rng = np.random.default_rng(seed)
    packages, venvs = rng.permutation(len(instance.sizes)), rng.permutation(len(instance.venvs))
    classes, bases = rng.permutation(len(instance.weights)), rng.permutation(len(instance.base_sizes))
    package_at, venv_at = np.argsort(packages), np.append(np.argsort(venvs), -1)
    moved = replace(
        instance,
        sizes=instance.sizes[packages],
        venvs=tuple(tuple(int(package_at[p]) for p in instance.venvs[v]) for v in venvs),
        base_sizes=instance.base_sizes[bases],
        runs_on=instance.runs_on[np.ix_(venvs, bases)],
        conflicts=tuple((int(package_at[q]), int(package_at[p])) for p, q in instance.conflicts[::-1]),
        weights=instance.weights[classes],
        class_venvs=venv_at[instance.class_venvs[classes]].astype(np.int64),
        baked=instance.baked[classes],
        fallback=instance.fallback[classes],
        forbids=tuple(tuple(int(package_at[p]) for p in instance.forbids[i]) for i in classes),
        admitted=instance.admitted[np.ix_(classes, bases)],
    )
    assert compose(moved, PROOF).objective == pytest.approx(compose(instance, PROOF).objective)


def test_what_fits_nowhere_is_refused_by_name_and_the_rest_is_solved():
    instance = pagination([[0, 1], [1, 2], [0, 1, 2, 3, 4]], 3)
    result = compose(replace(instance, conflicts=((1, 2),)), PROOF)
    assert result.objective == 1
    assert result.images[0].venvs == (0,)
    assert result.refused == (
        "venv 1: it needs packages 1 and 2, which conflict",
        "venv 2: it needs 5 bytes and 0 for base 0, the capacity is 3",
        "venv 2: it needs packages 1 and 2, which conflict",
    )


def test_a_class_that_forbids_its_own_venv_and_one_without_a_base_are_refused_by_name():
    instance = replace(
        pagination([[0, 1]], 3),
        weights=np.ones(2),
        class_venvs=np.array([0, 0]),
        baked=np.ones(2),
        fallback=np.zeros(2),
        forbids=((1,), ()),
        admitted=np.array([[True], [False]]),
    )
    assert compose(instance, PROOF).refused == (
        "class 0 with its venv 0: it needs packages 1, which it forbids",
        "class 1 with its venv 0: no base suits it",
    )


def test_contradictory_limits_are_infeasible_with_the_conflicting_venvs_named():
    instance = replace(pagination([[0, 1], [2, 3], [4, 5], [0]], 3), max_images=2)
    result = compose(instance, PROOF)
    assert result.status is Status.INFEASIBLE
    assert result.conflicting == (0, 1, 2)
    assert result.images == ()


@pytest.mark.parametrize("goal", Goal)
def test_nothing_to_do_is_done(goal):
    empty = replace(pagination([], 3), goal=goal, max_images=0)
    assert compose(empty).status is Status.OPTIMAL
    without_bases = replace(
        pagination([[0]], 3),
        goal=goal,
        max_images=1,
        base_sizes=np.zeros(0, dtype=np.int64),
        runs_on=np.ones((1, 0), dtype=np.bool_),
        admitted=np.ones((0, 0), dtype=np.bool_),
    )
    assert compose(without_bases).images == ()


def test_venvs_without_packages_share_one_image():
    assert compose(pagination([[], [], []], 0)).objective == 1


STRUCTURED = [
    families(1, venvs=30, packages=60, capacity=170, max_images=3, goal=Goal.COVERAGE),
    families(2, venvs=30, packages=60, capacity=170, max_images=None, goal=Goal.FEWEST_IMAGES),
]


@pytest.mark.parametrize("instance", STRUCTURED, ids=["coverage", "fewest"])
def test_a_larger_instance_gets_a_checked_answer_near_its_bound(instance):
    result = compose(instance, Limits(deterministic_time=5.0))
    assert_composition(instance, result)
    assert result.gap <= 0.2


SCRIPT = """
import numpy as np
from composition.cases import families
from solvers.composition.compose import compose
from solvers.composition.instance import Goal
from solvers.composition.pagination import pagination
from solvers.result import Limits
for goal, limit in ((Goal.COVERAGE, 3), (Goal.FEWEST_IMAGES, None)):
    instance = families(3, venvs=24, packages=50, capacity=150, max_images=limit, goal=goal)
    print(compose(instance, Limits(deterministic_time=1.5, seed=7)))
rng = np.random.default_rng(10)
tiles = [rng.choice(40, int(rng.integers(3, 16)), replace=False).tolist() for _ in range(35)]
print(compose(pagination(tiles, 22), Limits(deterministic_time=5.0)))
"""


def test_fresh_processes_print_the_same_bytes():
    tests = str(Path(__file__).parents[1])
    root = str(Path(__file__).parents[3])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            check=True,
            capture_output=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([tests, root]), "PYTHONHASHSEED": hash_seed},
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert b"ejection search" in outputs.pop()


EASY = [
    ("C015_A020_T020_P00.json", 1),
    ("C015_A020_T020_P00.json", 2),
    ("C015_A050_T020_P00.json", 1),
    ("C020_A025_T025_P00.json", 4),
    ("C025_A030_T060_P00.json", 3),
    ("C050_A055_T055_P00.json", 0),
]


@pytest.mark.skipif(not BENCH.is_dir(), reason="the pagination instances are not beside the project")
@pytest.mark.parametrize(("name", "index"), EASY)
def test_published_optima_are_proven(name, index):
    text = (BENCH / name).read_text()
    result = compose(read_pagination(text)[index], Limits(deterministic_time=30.0))
    assert result.status is Status.OPTIMAL
    assert result.objective == json.loads(text)[index]["cplexOpt"]
