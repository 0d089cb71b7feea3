"""Bounds hold on every tiny instance, and what is listed is all there is."""

from itertools import chain, combinations

import numpy as np
import pytest
from composition.cases import tiny
from composition.exhaustive import best_coverage, fewest_images
from composition.searched import Searched

from solvers.budget import Budget
from solvers.composition.columns import coverage_bound, fewest_bound
from solvers.composition.compose import demands_of
from solvers.composition.fewest import starts
from solvers.composition.greedy import greedy_images
from solvers.composition.instance import Goal
from solvers.composition.listing import maximal_images
from solvers.composition.pagination import pagination
from solvers.composition.pricing import Listed
from solvers.composition.reduce import reduced
from solvers.composition.simple_bounds import clique, coverage_volume_bound, volume_bound


def problem_of(instance, *, all_served):
    return reduced(demands_of(instance).problem, all_served=all_served).problem


def ample():
    return Budget(left=100.0)


def images_of(problem):
    units = range(len(problem.units))
    sets = chain.from_iterable(combinations(units, count) for count in range(len(units) + 1))
    return {image for image in sets if problem.fits(problem.together(image))}


@pytest.mark.parametrize("block", range(4))
def test_bounds_on_the_number_of_images_hold(block):
    for seed in range(50 * block, 50 * block + 50):
        instance = tiny(seed, Goal.FEWEST_IMAGES)
        problem, fewest = problem_of(instance, all_served=True), fewest_images(instance)
        assert volume_bound(problem) <= fewest
        assert len(clique(problem)) <= fewest
        known = min((images for _, images in starts(problem)), key=len)
        if problem.units:
            columns = fewest_bound(problem, known, Searched(problem, 0), ample())
            assert columns.bound <= fewest
            assert columns.converged


@pytest.mark.parametrize("block", range(4))
def test_bounds_on_coverage_hold(block):
    for seed in range(50 * block, 50 * block + 50):
        instance = tiny(seed, Goal.COVERAGE)
        demands = demands_of(instance)
        problem = reduced(demands.problem, all_served=False).problem
        best = float(best_coverage(instance)) * demands.scale - demands.slack * demands.scale
        count = instance.max_images
        assert coverage_volume_bound(problem, count) >= best
        if problem.units:
            known = greedy_images(problem, count)
            assert problem.gain(known) <= best + 2 * demands.slack * demands.scale
            columns = coverage_bound(problem, count, known, Searched(problem, 0), ample())
            assert columns.bound >= best


@pytest.mark.parametrize("goal", Goal)
def test_the_listed_images_are_the_maximal_ones(goal):
    for seed in range(150):
        problem = problem_of(tiny(seed, goal), all_served=goal is Goal.FEWEST_IMAGES)
        everything = images_of(problem)
        maximal = {
            image for image in everything if image and not any(set(image) < set(k) for k in everything)
        }
        assert set(maximal_images(problem, ample())) == maximal, seed


def test_too_many_images_are_not_listed():
    problem = problem_of(pagination([[n] for n in range(12)], 4), all_served=True)
    assert maximal_images(problem, Budget(left=1e-3)) is None


def test_both_ways_of_pricing_agree():
    rng = np.random.default_rng(5)
    for seed in range(60):
        problem = problem_of(tiny(seed, Goal.COVERAGE), all_served=False)
        if problem.units:
            prices = rng.integers(0, 50, len(problem.units))
            listed = Listed(maximal_images(problem, ample())).best(prices, ample())
            searched = Searched(problem, 0).best(prices, ample())
            assert listed[1] == searched[1]
            assert sum(int(prices[u]) for u in searched[0][0]) == searched[1]


def test_units_that_are_pairwise_too_large_form_a_clique():
    problem = problem_of(pagination([[0, 1], [2, 3], [4, 5], [6]], 3), all_served=True)
    assert clique(problem) == (0, 1, 2)


def test_volume_counts_a_shared_symbol_once():
    problem = problem_of(pagination([[0, 1], [1, 2], [2, 3]], 3), all_served=True)
    assert volume_bound(problem) == 2


def test_volume_knows_that_few_units_share_where_few_fit():
    """Symbol 1 is in two tiles, but no page holds two tiles, so nothing is shared."""
    problem = problem_of(pagination([[0, 1], [1, 2], [2, 3]], 2), all_served=True)
    assert volume_bound(problem) == 3
