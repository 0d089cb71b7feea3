from itertools import combinations

import numpy as np
import pytest
from generators import dense, families, tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.selection.fixing import survivors
from solvers.selection.greedy import greedy
from solvers.selection.lagrangian import Ascent, Pace, dual_at
from solvers.selection.reduce import reduce_instance

PACE = Pace(first=1.0, last=1e-3, patience=30)


def all_selections(problem):
    for count in range(min(problem.max_total, len(problem.new)) + 1):
        for chosen in combinations(range(len(problem.new)), count):
            if problem.new[list(chosen)].sum() <= problem.max_new:
                yield chosen


def any_multipliers(problem, seed):
    rng = np.random.default_rng(seed)
    top = problem.values.max(axis=0, initial=0.0)
    return np.floor(rng.random(len(top)) * (top + 1))


@given(seed=st.integers(0, 10**6))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_any_multipliers_bound_every_selection(seed):
    problem = reduce_instance(tiny(seed)).problem
    bound = dual_at(problem, any_multipliers(problem, seed)).bound
    assert all(problem.value(chosen) <= bound for chosen in all_selections(problem))


@given(seed=st.integers(0, 10**6))
@settings(derandomize=True, deadline=None, max_examples=200)
def test_the_relaxation_opens_the_set_worth_most(seed):
    problem = reduce_instance(tiny(seed)).problem
    dual = dual_at(problem, any_multipliers(problem, seed))
    most = max(dual.worth[list(chosen)].sum() for chosen in all_selections(problem))
    assert dual.worth[dual.opened].sum() == most
    assert tuple(sorted(map(int, dual.opened))) in set(all_selections(problem))


@given(seed=st.integers(0, 10**6), share=st.floats(0.5, 1.0))
@settings(derandomize=True, deadline=None, max_examples=300)
def test_fixing_loses_no_selection_of_the_asked_value(seed, share):
    problem = reduce_instance(tiny(seed)).problem
    dual = dual_at(problem, any_multipliers(problem, seed))
    lower = int(share * max(problem.value(chosen) for chosen in all_selections(problem)))
    left = survivors(problem, dual, lower)
    for chosen in all_selections(problem):
        if problem.value(chosen) >= lower:
            assert set(chosen) <= set(map(int, left.possible))
            assert set(map(int, left.forced)) <= set(chosen)


@pytest.mark.parametrize(("instance", "gap"), [(families(2, k=8), 0.001), (dense(0, n=200, m=80, k=5), 0.06)])
def test_ascent_comes_near_the_value_of_greedy(instance, gap):
    problem = reduce_instance(instance).problem
    lower = problem.value(greedy(problem))
    ascent = Ascent(problem, problem.best(greedy(problem)), PACE)
    before = ascent.best.bound
    ascent.run(lower, 500)
    assert lower <= ascent.best.bound < before
    assert ascent.best.bound <= (1 + gap) * lower


@pytest.mark.parametrize("seed", range(60))
def test_an_ascent_keeps_its_multipliers_valid(seed):
    """Below 0 they would charge for a class that nobody serves, and the bound would prove nothing."""
    problem = reduce_instance(tiny(seed)).problem
    ascent = Ascent(problem, any_multipliers(problem, seed), PACE)
    best = max(problem.value(chosen) for chosen in all_selections(problem))
    for _ in range(30):
        ascent.run(0, 1)
        assert (ascent._current.multipliers >= 0).all()
        assert ascent._current.bound >= best


def test_the_bound_is_whole_and_proven_by_the_multipliers_alone():
    problem = reduce_instance(dense(4, n=50, m=30, k=4)).problem
    ascent = Ascent(problem, problem.best(greedy(problem)), PACE)
    ascent.run(0, 100)
    assert (ascent.best.multipliers == np.rint(ascent.best.multipliers)).all()
    assert dual_at(problem, ascent.best.multipliers).bound == ascent.best.bound


def test_an_ascent_in_two_parts_is_the_same_as_in_one():
    problem = reduce_instance(dense(5, n=50, m=30, k=4)).problem
    start = problem.best(greedy(problem))
    whole, parts = Ascent(problem, start, PACE), Ascent(problem, start, PACE)
    whole.run(0, 80)
    parts.run(0, 30)
    parts.run(0, 50)
    assert whole.best.bound == parts.best.bound
    assert np.array_equal(whole.share, parts.share)


def test_narrowing_to_survivors_never_loosens_the_bound():
    problem = reduce_instance(families(3, k=6)).problem
    lower = problem.value(greedy(problem))
    ascent = Ascent(problem, problem.best(greedy(problem)), PACE)
    ascent.run(lower, 100)
    before = ascent.best.bound
    ascent.narrow(survivors(problem, ascent.best, lower).possible)
    assert ascent.best.bound <= before
    assert len(ascent.problem.new) < len(problem.new)


def test_an_ascent_stops_when_nothing_is_left_to_gain():
    problem = reduce_instance(dense(6, n=20, m=10, k=10)).problem
    everything = tuple(range(10))
    ascent = Ascent(problem, problem.best(everything), PACE)
    ascent.run(problem.value(everything), 100)
    assert ascent.steps == 0
