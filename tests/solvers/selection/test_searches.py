"""Greedy and swap search: valid, never worse than promised."""

from dataclasses import replace

import numpy as np
import pytest
from brute_force import best_cost, cost, selections
from generators import dense, families, tiny

from solvers.selection.greedy import greedy
from solvers.selection.problem import PROBABILITY_UNITS, integer_weights
from solvers.selection.reduce import reduce_instance
from solvers.selection.swap import swap_search

SEEDS = range(200)


def value_of(instance, value):
    return value / PROBABILITY_UNITS / integer_weights(instance.weights)[1]


def naive_greedy(problem):
    chosen = []
    while len(chosen) < problem.max_total:
        best = None
        for j in range(len(problem.new)):
            if problem.new[j] and sum(problem.new[chosen]) >= problem.max_new:
                continue
            gain = problem.value([*chosen, j]) - problem.value(chosen)
            key = (-gain, bool(problem.new[j]), j)
            if gain > 0 and (best is None or key < best):
                best = key
        if best is None:
            break
        chosen.append(best[2])
    return tuple(sorted(chosen))


@pytest.mark.parametrize("search", [greedy, lambda problem: swap_search(problem, ())])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_search_returns_is_within_the_caps(search, seed):
    instance = tiny(seed)
    reduction = reduce_instance(instance)
    chosen = tuple(int(reduction.candidates[j]) for j in search(reduction.problem))
    assert chosen in set(selections(instance))
    assert -float(cost(instance, chosen)[0]) == pytest.approx(
        value_of(instance, reduction.problem.value(search(reduction.problem)))
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_lazy_greedy_chooses_what_plain_greedy_does(seed):
    problem = reduce_instance(tiny(seed)).problem
    assert greedy(problem) == naive_greedy(problem)


@pytest.mark.parametrize("seed", SEEDS)
def test_greedy_keeps_its_guarantee(seed):
    """At least 1 - 1/e of the best with one cap, at least half with two."""
    instance = tiny(seed)
    problem = reduce_instance(instance).problem
    best = -float(best_cost(instance)[0])
    share = 1 - 1 / np.e if instance.max_total is None and not instance.existing.any() else 0.5
    assert value_of(instance, problem.value(greedy(problem))) >= share * best - 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_no_single_exchange_improves_a_swap_optimum(seed):
    problem = reduce_instance(tiny(seed)).problem
    chosen = swap_search(problem, ())
    for out in chosen:
        for into in set(range(len(problem.new))) - set(chosen):
            other = [into if j == out else j for j in chosen]
            if problem.new[other].sum() <= problem.max_new:
                assert problem.value(other) <= problem.value(chosen)


@pytest.mark.parametrize("instance", [dense(1, n=60, m=40, k=6), families(1, n=80, m=90, k=8)])
def test_swaps_never_lose_and_often_gain(instance):
    problem = reduce_instance(instance).problem
    for seed in range(10):
        rng = np.random.default_rng(seed)
        start = tuple(map(int, rng.choice(len(problem.new), instance.max_new, replace=False)))
        assert problem.value(swap_search(problem, start)) > problem.value(start)


def test_swaps_fill_places_that_are_left():
    problem = reduce_instance(dense(2, n=30, m=20, k=5)).problem
    assert len(swap_search(problem, (0,))) == 5


def test_swaps_between_existing_and_new_respect_the_cap():
    instance = replace(dense(3, n=30, m=20, k=1), existing=np.arange(20) < 6, max_total=4)
    problem = reduce_instance(instance).problem
    for start in [(), (0, 1), (0, 19)]:
        assert problem.new[list(swap_search(problem, start))].sum() <= 1
