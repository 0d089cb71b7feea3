"""The best single image at any prices, by branch and bound: exact, within the rules, the same twice."""

from itertools import chain, combinations

import numpy as np
import pytest
from composition.cases import families, tiny
from composition.searched import Searched

from solvers.budget import Budget
from solvers.composition.columns import coverage_bound
from solvers.composition.greedy import greedy_images
from solvers.composition.instance import Goal
from solvers.composition.pagination import pagination
from solvers.composition.reduce import reduced
from solvers.composition.union_knapsack import UnionKnapsack
from solvers.composition.units import demands_of


def problem_of(instance):
    return reduced(demands_of(instance).problem, all_served=False).problem


def ample():
    return Budget(left=100.0)


def best_of_all(problem, prices):
    units = range(len(problem.units))
    sets = chain.from_iterable(combinations(units, count) for count in range(len(units) + 1))
    fitting = (image for image in sets if problem.fits(problem.together(image)))
    return max(sum(int(prices[u]) for u in image) for image in fitting)


@pytest.mark.parametrize("largest", [3, 50, 10**6])
def test_it_is_the_exhaustive_optimum(largest):
    """With bases, conflicts, refusals, packages of no size and prices of 0."""
    rng = np.random.default_rng(largest)
    for seed in range(200):
        problem = problem_of(tiny(seed, Goal.COVERAGE))
        if problem.units:
            prices = rng.integers(0, largest, len(problem.units))
            images, worth = UnionKnapsack(problem).best(prices, ample())
            assert worth == best_of_all(problem, prices), seed
            assert sum(int(prices[u]) for u in images[0]) == worth
            assert all(problem.fits(problem.together(image)) for image in images)


@pytest.mark.parametrize("seed", range(4))
def test_it_agrees_with_cp_sat_on_larger_instances(seed):
    limits = {"capacity": 90, "max_images": 1, "goal": Goal.COVERAGE}
    problem = problem_of(families(seed, venvs=25, packages=50, **limits))
    rng = np.random.default_rng(seed)
    for _ in range(3):
        prices = rng.integers(0, 1000, len(problem.units))
        assert (
            UnionKnapsack(problem).best(prices, ample())[1] == Searched(problem, 0).best(prices, ample())[1]
        )


def test_huge_prices_and_sizes_are_no_less_exact_than_the_slack():
    """Gains may have up to 2**53 units: the worth is a bound even where float64 has no digits to spare."""
    instance = pagination([[n, n + 1, (3 * n) % 11] for n in range(11)], 6)
    problem = problem_of(instance_with_gains(instance))
    prices = np.random.default_rng(1).integers(2**48, 2**49, len(problem.units))
    images, worth = UnionKnapsack(problem).best(prices, ample())
    best = best_of_all(problem, prices)
    assert best <= worth <= best * (1 + 2e-9)
    assert max(sum(int(prices[u]) for u in image) for image in images) >= best * (1 - 2e-9)


def instance_with_gains(instance):
    from dataclasses import replace  # noqa: PLC0415

    count = len(instance.venvs)
    return replace(
        instance,
        goal=Goal.COVERAGE,
        max_images=2,
        sizes=np.full(len(instance.sizes), 10**12),
        capacity=6 * 10**12,
        weights=np.arange(1.0, count + 1),
        class_venvs=np.arange(count),
        baked=np.ones(count),
        fallback=np.zeros(count),
        forbids=((),) * count,
        admitted=np.ones((count, 1), dtype=np.bool_),
    )


def test_what_a_spent_budget_leaves_is_still_a_bound():
    limits = {"capacity": 90, "max_images": 1, "goal": Goal.COVERAGE}
    problem = problem_of(families(3, venvs=25, packages=50, **limits))
    prices = np.random.default_rng(3).integers(1, 1000, len(problem.units))
    exact = UnionKnapsack(problem).best(prices, ample())[1]
    for left in (0.0, 1e-3, 1e-2):
        images, worth = UnionKnapsack(problem).best(prices, Budget(left=left))
        assert sum(int(prices[u]) for u in images[0]) <= exact <= worth


def test_it_charges_the_budget_and_is_the_same_twice():
    limits = {"capacity": 90, "max_images": 1, "goal": Goal.COVERAGE}
    problem = problem_of(families(1, venvs=25, packages=50, **limits))
    prices = np.random.default_rng(1).integers(1, 1000, len(problem.units))
    budgets = ample(), ample()
    answers = [UnionKnapsack(problem).best(prices, budget) for budget in budgets]
    assert answers[0] == answers[1]
    assert budgets[0].left == budgets[1].left < 100.0


def test_the_bound_on_coverage_converges_with_it():
    for seed in range(60):
        instance = tiny(seed, Goal.COVERAGE)
        problem, count = problem_of(instance), instance.max_images
        if problem.units:
            known = greedy_images(problem, count)
            bounds = {
                coverage_bound(problem, count, known, pricing, ample()).bound
                for pricing in (UnionKnapsack(problem), Searched(problem, 0))
            }
            assert len(bounds) == 1, seed
