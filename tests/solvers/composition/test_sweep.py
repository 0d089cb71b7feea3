"""A sweep gives each point what single runs give, or better, and its bounds agree with each other."""

from dataclasses import replace

import pytest
from composition.cases import families, tiny
from composition.exhaustive import best_coverage

from solvers.composition.checker import assert_composition
from solvers.composition.compose import compose
from solvers.composition.instance import Goal
from solvers.composition.sweep import sweep
from solvers.errors import InvalidInstanceError
from solvers.result import Limits, Status

PROOF = Limits(deterministic_time=20.0)


@pytest.mark.parametrize("block", range(4))
def test_every_point_is_the_exhaustive_optimum(block):
    for seed in range(25 * block, 25 * block + 25):
        instance = tiny(seed, Goal.COVERAGE)
        ks = (3, 0, 1, 2)
        for k, result in zip(ks, sweep(instance, ks, PROOF), strict=True):
            limited = replace(instance, max_images=k)
            assert_composition(limited, result)
            assert result.status is Status.OPTIMAL, (seed, k)
            assert result.objective == pytest.approx(float(best_coverage(limited)), abs=1e-9), (seed, k)


@pytest.mark.parametrize("time", [0.0, 1.0])
def test_a_larger_curve_is_monotone_and_no_worse_than_its_points(time):
    limits = {"capacity": 120, "max_images": 1, "goal": Goal.COVERAGE}
    instance = families(2, venvs=30, packages=60, **limits)
    ks = (1, 2, 3, 5)
    results = sweep(instance, ks, Limits(deterministic_time=time))
    for (few, fewer), (many, more) in zip(
        zip(ks, results, strict=True), list(zip(ks, results, strict=True))[1:], strict=False
    ):
        assert fewer.objective <= more.objective
        assert fewer.bound <= more.bound
        assert more.bound <= fewer.bound * many / few + 1e-6
    for k, result in zip(ks, results, strict=True):
        alone = compose(replace(instance, max_images=k), Limits(deterministic_time=time))
        assert result.objective <= alone.bound + 1e-9
        assert alone.objective <= result.bound + 1e-9


def test_the_same_sweep_is_the_same_twice():
    limits = {"capacity": 120, "max_images": 1, "goal": Goal.COVERAGE}
    instance = families(4, venvs=30, packages=60, **limits)
    twice = [sweep(instance, (2, 4), Limits(deterministic_time=1.0)) for _ in range(2)]
    assert twice[0] == twice[1]


def test_no_points_are_no_answers():
    assert sweep(tiny(1, Goal.COVERAGE), ()) == ()


def test_another_goal_and_a_negative_limit_are_refused():
    with pytest.raises(InvalidInstanceError, match="FEWEST_IMAGES"):
        sweep(tiny(1, Goal.FEWEST_IMAGES), (1,))
    with pytest.raises(InvalidInstanceError, match="max_images"):
        sweep(tiny(1, Goal.COVERAGE), (-1,))
