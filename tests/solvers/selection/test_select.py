"""The entry point against brute force, and the laws that every answer obeys."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from brute_force import assigned_cost, best_cost
from generators import dense, families, tiny, with_history
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.result import Limits, Status
from solvers.selection.checker import assert_selection
from solvers.selection.greedy import greedy
from solvers.selection.instance import SelectionInstance
from solvers.selection.reduce import reduce_instance
from solvers.selection.select import select

HELPERS = Path(__file__).parents[1]
seeds = st.integers(0, 10**6)
laws = settings(derandomize=True, deadline=None, max_examples=60)


@pytest.mark.parametrize("seed", range(600))
def test_every_part_of_the_answer_is_as_good_as_brute_force(seed):
    instance = tiny(seed)
    result = select(instance)
    assert assigned_cost(instance, result.assignment) == best_cost(instance)
    assert result.status is Status.OPTIMAL
    assert result.tie_break is Status.OPTIMAL
    assert result.gap == 0


@pytest.mark.parametrize("seed", range(40))
def test_without_time_a_checked_answer_with_a_bound_comes_back(seed):
    instance = tiny(seed)
    result = select(instance, Limits(deterministic_time=0))
    best = -float(best_cost(instance)[0])
    assert result.objective <= best + 1e-9
    assert result.bound >= best - 1e-9


@given(seed=seeds)
@laws
def test_one_more_environment_never_hurts(seed):
    instance = tiny(seed)
    more = replace(
        instance,
        max_new=instance.max_new + 1,
        max_total=None if instance.max_total is None else instance.max_total + 1,
    )
    assert select(more).objective >= select(instance).objective - 1e-9


@given(seed=seeds)
@laws
def test_one_more_candidate_never_hurts(seed):
    instance = tiny(seed)
    m = len(instance.sizes) - 1
    fewer = replace(
        instance,
        probabilities=instance.probabilities[:, :m],
        allowed=instance.allowed[:, :m],
        existing=instance.existing[:m],
        sizes=instance.sizes[:m],
        previous=None,
    )
    assert select(fewer).objective <= select(instance).objective + 1e-9


@given(seed=seeds)
@laws
def test_an_environment_that_exists_is_no_worse_than_one_to_build(seed):
    instance = tiny(seed)
    free = replace(instance, existing=np.ones_like(instance.existing))
    assert select(free).objective >= select(instance).objective - 1e-9


@given(seed=seeds)
@laws
def test_the_order_of_classes_and_candidates_does_not_matter(seed):
    instance = tiny(seed)
    rng = np.random.default_rng(seed)
    n, m = instance.probabilities.shape
    rows, columns = rng.permutation(n), rng.permutation(m)
    place = np.append(np.argsort(columns), -1)
    shuffled = replace(
        instance,
        weights=instance.weights[rows],
        probabilities=instance.probabilities[np.ix_(rows, columns)],
        allowed=instance.allowed[np.ix_(rows, columns)],
        existing=instance.existing[columns],
        sizes=instance.sizes[columns],
        previous=None if instance.previous is None else place[instance.previous[rows]],
    )
    assert assigned_cost(shuffled, select(shuffled).assignment) == assigned_cost(
        instance, select(instance).assignment
    )


@given(seed=seeds)
@laws
def test_a_class_twice_is_a_class_of_twice_the_weight(seed):
    instance = tiny(seed)
    rows = np.append(np.arange(len(instance.weights)), 0)
    twice = replace(
        instance,
        weights=instance.weights[rows],
        probabilities=instance.probabilities[rows],
        allowed=instance.allowed[rows],
        previous=None if instance.previous is None else instance.previous[rows],
    )
    weights = instance.weights.copy()
    weights[0] *= 2
    heavier = replace(instance, weights=weights)
    assert assigned_cost(twice, select(twice).assignment) == assigned_cost(
        heavier, select(heavier).assignment
    )


@given(seed=seeds, factor=st.sampled_from([2.0, 0.5, 1024.0, 3.0]))
@laws
def test_scaling_the_weights_scales_the_objective_and_nothing_else(seed, factor):
    instance = tiny(seed)
    scaled = select(replace(instance, weights=instance.weights * factor))
    plain = select(instance)
    assert scaled.chosen == plain.chosen
    assert scaled.objective == pytest.approx(factor * plain.objective)


def empty(n, m):
    return SelectionInstance(
        weights=np.ones(n),
        probabilities=np.ones((n, m)),
        allowed=np.ones((n, m), dtype=np.bool_),
        existing=np.zeros(m, dtype=np.bool_),
        sizes=np.ones(m, dtype=np.int64),
        max_new=2,
    )


@pytest.mark.parametrize(
    "instance",
    [
        empty(0, 0),
        empty(0, 3),
        empty(3, 0),
        replace(empty(3, 3), max_new=0),
        replace(empty(3, 3), max_total=0),
        replace(empty(3, 3), allowed=np.zeros((3, 3), dtype=np.bool_)),
    ],
    ids=["nothing", "no class", "no candidate", "no new one", "none at all", "nothing allowed"],
)
def test_where_nothing_can_be_chosen_the_empty_answer_is_optimal(instance):
    result = select(instance)
    assert result.chosen == ()
    assert set(result.assignment) <= {-1}
    assert (result.objective, result.bound, result.status) == (0.0, 0.0, Status.OPTIMAL)


def test_a_cap_of_zero_still_reuses_what_exists():
    instance = replace(empty(2, 3), max_new=0, existing=np.array([False, True, False]))
    assert select(instance).chosen == (1,)


def test_more_places_than_candidates_serve_everyone_best():
    instance = replace(dense(0, n=30, m=8, k=8), max_new=1000)
    result = select(instance)
    assert result.objective == pytest.approx(instance.weights @ instance.probabilities.max(axis=1))


def test_a_class_goes_where_it_is_allowed_even_if_it_never_passes_there():
    instance = replace(
        empty(2, 2),
        probabilities=np.array([[1.0, 0.0], [0.0, 0.0]]),
        allowed=np.array([[True, True], [True, False]]),
    )
    assert select(instance).assignment == (0, 0)


def test_equally_good_places_keep_the_previous_one():
    instance = replace(empty(4, 3), previous=np.array([2, 2, 1, -1]))
    result = select(instance)
    assert result.chosen == (2,)
    spread = replace(
        empty(3, 3),
        probabilities=np.array([[1.0, 0.2, 0.2], [0.2, 1.0, 0.2], [0.7, 0.7, 0.1]]),
        previous=np.array([-1, -1, 1]),
    )
    assert select(spread).assignment == (0, 1, 1)


def test_probabilities_that_differ_beyond_six_digits_are_equal():
    instance = replace(
        empty(1, 2), probabilities=np.array([[0.5, 0.5 + 1e-9]]), sizes=np.array([1, 2], dtype=np.int64)
    )
    assert select(instance).chosen == (0,)


@pytest.mark.parametrize(
    "instance",
    [
        families(1, n=150, m=200, k=9),
        with_history(families(2, n=150, m=200, k=6), 5, max_total=9),
        dense(1, n=40, m=30, k=4),
    ],
    ids=["families", "with history", "dense"],
)
def test_real_structure_is_proven_with_its_ties(instance):
    result = select(instance)
    assert (result.status, result.tie_break) == (Status.OPTIMAL, Status.OPTIMAL)
    assert_selection(instance, result)


def test_a_large_dense_instance_has_a_good_answer_and_a_good_bound():
    """No structure helps here: the answer beats greedy and the gap stays small (naive: a factor 2)."""
    instance = dense(0, n=1000, m=400, k=10)
    problem = reduce_instance(instance).problem
    result = select(instance, Limits(deterministic_time=1.0))
    assert result.objective >= problem.value(greedy(problem)) / 1e6
    assert result.gap < 0.04
    assert result.status is Status.FEASIBLE


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from generators import dense, families, tiny, with_history
from solvers.result import Limits
from solvers.selection.select import select
from solvers.selection.sweep import sweep

for seed in range(20):
    print(select(tiny(seed)))
print(select(dense(0, n=60, m=40, k=5), Limits(deterministic_time=0.3)))
print(sweep(families(0, n=120, m=150), range(1, 9)))
print(sweep(with_history(families(1, n=120, m=150), 1, max_total=7), range(1, 9)))
"""


def test_fresh_processes_give_the_same_bytes():
    """Whatever the hash seed and the number of threads."""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(HELPERS)],
            env={"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed, threads in [("1", "1"), ("2", "2")]
    ]
    assert outputs[0]
    assert outputs[0] == outputs[1]
