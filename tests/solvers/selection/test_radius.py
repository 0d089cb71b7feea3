"""Each part of the CP-SAT model alone, by forcing what is chosen."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from generators import dense, families, tiny

from solvers.budget import Budget
from solvers.selection.branch import better_than
from solvers.selection.greedy import greedy
from solvers.selection.lagrangian import dual_at
from solvers.selection.radius import SelectionModel, steps_of
from solvers.selection.reduce import reduce_instance

NOTHING = np.zeros(0, dtype=np.int64)


def endless():
    return Budget(left=1e9)


def force(model, chosen):
    for j, variable in enumerate(model.opened):
        model.model.add(variable == (j in chosen))


def subsets(m):
    return [chosen for count in range(m + 1) for chosen in combinations(range(m), count)]


@pytest.mark.parametrize("seed", range(40))
def test_steps_add_up_to_the_value_of_every_selection(seed):
    problem = reduce_instance(tiny(seed)).problem
    m = len(problem.new)
    for forced in [(), (0,)][: m + 1]:
        steps = steps_of(problem, np.array(forced, dtype=np.int64))
        for chosen in subsets(m):
            if not set(forced) <= set(chosen):
                continue
            met = []
            total = steps.base
            for gain, reasons, parent in zip(steps.gains, steps.reasons, steps.parents, strict=True):
                met.append(bool(set(reasons) & set(chosen)) or (parent >= 0 and met[parent]))
                total += gain * met[-1]
            assert total == problem.value(chosen)


def test_classes_with_the_same_candidates_share_their_steps():
    few = reduce_instance(families(0, n=50, m=40)).problem
    steps = steps_of(few, NOTHING)
    pairs = int((few.values > 0).sum())
    assert len(steps.gains) < pairs / 3


@pytest.mark.parametrize("seed", range(12))
def test_the_value_expression_reaches_exactly_the_value(seed):
    problem = reduce_instance(tiny(seed)).problem
    for chosen in subsets(len(problem.new))[::5]:
        model = SelectionModel(problem, NOTHING)
        force(model, chosen)
        proof = model.maximise(model.value, chosen, endless(), seed=0)
        assert proof.proven
        assert proof.bound == problem.value(chosen)


def test_a_floor_that_cannot_be_reached_is_infeasible():
    problem = reduce_instance(tiny(7)).problem
    model = SelectionModel(problem, NOTHING)
    model.add_floor(problem.value(range(len(problem.new))) + 1)
    with pytest.raises(RuntimeError, match="INFEASIBLE"):
        model.maximise(model.value, (), endless(), seed=0)


@pytest.mark.parametrize(("max_new", "max_total"), [(0, 5), (2, 5), (5, 2), (1, 3), (5, 5)])
def test_caps_hold_alone(max_new, max_total):
    instance = replace(dense(0, n=5, m=5, k=5), existing=np.array([True, True, False, False, False]))
    problem = reduce_instance(instance).problem
    problem = replace(problem, max_new=max_new, max_total=max_total)
    model = SelectionModel(problem, NOTHING)
    model.add_caps()
    proof = model.maximise(model.count(np.ones(5, dtype=np.bool_)), (), endless(), seed=0)
    assert proof.bound == min(max_total, 2 + min(max_new, 3))
    assert problem.new[list(proof.chosen)].sum() <= max_new


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 7, 8, 10, 11, 13, 14])
def test_staying_counts_what_the_cost_counts(seed):
    reduction = reduce_instance(tiny(seed))
    problem, ties = reduction.problem, reduction.ties
    for chosen in subsets(len(problem.new))[::4]:
        model = SelectionModel(problem, NOTHING)
        force(model, chosen)
        proof = model.maximise(model.add_staying(ties), chosen, endless(), seed=0)
        assert proof.bound == -ties.cost(problem, chosen)[2]


def test_size_and_forced_candidates():
    reduction = reduce_instance(dense(1, n=6, m=5, k=5))
    problem, ties = reduction.problem, reduction.ties
    forced = np.array([1, 3])
    proof = SelectionModel(problem, forced)
    smallest = proof.maximise(-proof.size(ties.sizes), (1, 3), endless(), seed=0)
    assert smallest.chosen == (1, 3)
    assert -smallest.bound == ties.sizes[forced].sum()


@pytest.mark.parametrize(
    "instance", [dense(2, n=25, m=15, k=4), families(4, n=120, m=80, count=5, k=7)], ids=["dense", "families"]
)
def test_cp_sat_and_branch_and_bound_agree(instance):
    problem = reduce_instance(instance).problem
    start = greedy(problem)
    model = SelectionModel(problem, NOTHING)
    model.add_caps()
    proof = model.maximise(model.value, start, endless(), seed=0)
    dual = dual_at(problem, problem.best(start))
    tree = better_than(problem.value(start) - problem.unit, problem, dual.multipliers, dual.bound, endless())
    assert proof.proven
    assert tree.ended
    assert proof.bound == problem.value(proof.chosen) == tree.value


def test_without_time_the_incumbent_comes_back():
    problem = reduce_instance(dense(3, n=60, m=40, k=5)).problem
    model = SelectionModel(problem, NOTHING)
    model.add_caps()
    proof = model.maximise(model.value, greedy(problem), Budget(left=0.0), seed=0)
    assert not proof.proven
    assert problem.value(proof.chosen) >= problem.value(greedy(problem))
