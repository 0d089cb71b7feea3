from itertools import combinations

import numpy as np
import pytest
from generators import dense, families, tiny

from solvers.budget import Budget
from solvers.selection.branch import all_worth, better_than
from solvers.selection.greedy import greedy
from solvers.selection.lagrangian import dual_at
from solvers.selection.reduce import reduce_instance


def all_selections(problem):
    for count in range(min(problem.max_total, len(problem.new)) + 1):
        for chosen in combinations(range(len(problem.new)), count):
            if problem.new[list(chosen)].sum() <= problem.max_new:
                yield chosen


def start_of(problem):
    dual = dual_at(problem, problem.best(greedy(problem)))
    return dual.multipliers, dual.bound


def endless():
    return Budget(left=1e9)


@pytest.mark.parametrize("seed", range(200))
def test_the_tree_ends_with_the_best_selection(seed):
    problem = reduce_instance(tiny(seed)).problem
    tree = better_than(-problem.unit, problem, *start_of(problem), endless())
    best = max(problem.value(chosen) for chosen in all_selections(problem))
    assert tree.ended
    assert tree.value == tree.bound == best
    assert problem.value(tree.found[0]) == best
    assert tree.found[0] in set(all_selections(problem))


@pytest.mark.parametrize("seed", range(60))
def test_nothing_is_better_than_the_best(seed):
    problem = reduce_instance(tiny(seed)).problem
    best = max(problem.value(chosen) for chosen in all_selections(problem))
    tree = better_than(best, problem, *start_of(problem), endless())
    assert tree.found == ()
    assert tree.bound == best


@pytest.mark.parametrize("seed", range(200))
def test_every_cheapest_best_selection_without_idle_members_is_found(seed):
    reduction = reduce_instance(tiny(seed))
    problem, ties = reduction.problem, reduction.ties
    best = max(problem.value(chosen) for chosen in all_selections(problem))
    optima = {chosen for chosen in all_selections(problem) if problem.value(chosen) == best}
    lean = {chosen for chosen in optima if not any(set(other) < set(chosen) for other in optima)}
    cost = {chosen: ties.cost(problem, chosen)[:2] for chosen in lean}
    expected = {chosen for chosen in lean if cost[chosen] == min(cost.values())}
    tree = all_worth(
        best,
        problem,
        start_of(problem)[0],
        endless(),
        costs=np.stack([ties.new, ties.sizes], axis=1).astype(np.int64),
        at_most=max(cost.values()),
        nodes=10**6,
    )
    assert tree.ended
    assert expected <= set(tree.found) <= optima
    assert {ties.cost(problem, chosen)[:2] for chosen in tree.found} == {min(cost.values())}


def test_an_unfinished_tree_still_has_a_bound():
    problem = reduce_instance(dense(0, n=80, m=50, k=6)).problem
    lower = problem.value(greedy(problem))
    multipliers, bound = start_of(problem)
    cut = better_than(lower, problem, multipliers, bound, Budget(left=0.05))
    full = better_than(lower, problem, multipliers, bound, endless())
    assert not cut.ended
    assert full.ended
    assert full.value <= cut.bound <= bound


def test_no_budget_means_no_node():
    problem = reduce_instance(dense(0, n=20, m=15, k=3)).problem
    tree = better_than(0, problem, *start_of(problem), Budget(left=0.0))
    assert (tree.nodes, tree.found, tree.bound) == (0, (), start_of(problem)[1])


def test_structure_keeps_the_tree_small():
    problem = reduce_instance(families(0, k=12)).problem
    lower = problem.value(greedy(problem))
    assert better_than(lower, problem, *start_of(problem), endless()).nodes < 200
