from itertools import combinations

import numpy as np
import pytest
from generators import tiny

from solvers.budget import Budget
from solvers.selection.greedy import greedy
from solvers.selection.instance import SelectionInstance
from solvers.selection.lagrangian import dual_at
from solvers.selection.reduce import reduce_instance
from solvers.selection.ties import break_ties, without_idle


def optima(problem):
    chosen = [
        chosen
        for count in range(min(problem.max_total, len(problem.new)) + 1)
        for chosen in combinations(range(len(problem.new)), count)
        if problem.new[list(chosen)].sum() <= problem.max_new
    ]
    best = max(map(problem.value, chosen))
    return [found for found in chosen if problem.value(found) == best]


@pytest.mark.parametrize("nodes", [0, 1, 10**6], ids=["by CP-SAT", "tree cut off", "by tree"])
@pytest.mark.parametrize("seed", range(120))
def test_from_any_optimum_the_lexicographically_best_is_found(seed, nodes):
    reduction = reduce_instance(tiny(seed))
    problem, ties = reduction.problem, reduction.ties
    same = optima(problem)
    dual = dual_at(problem, problem.best(greedy(problem)))
    for start in {same[0], same[-1]}:
        result = break_ties(problem, ties, dual, start, Budget(left=1e9), nodes=nodes, seed=0)
        assert result.proven
        assert result.chosen in same
        assert ties.cost(problem, result.chosen) == min(ties.cost(problem, chosen) for chosen in same)


@pytest.mark.parametrize("seed", range(120))
def test_members_that_add_nothing_are_taken_out(seed):
    reduction = reduce_instance(tiny(seed))
    problem, ties = reduction.problem, reduction.ties
    everyone = tuple(range(len(problem.new)))
    lean = without_idle(problem, ties, everyone)
    assert problem.value(lean) == problem.value(everyone)
    assert ties.cost(problem, lean) <= ties.cost(problem, everyone)
    for j in lean:
        rest = [k for k in lean if k != j]
        assert problem.value(rest) < problem.value(lean) or ties.cost(problem, rest) >= ties.cost(
            problem, lean
        )


@pytest.mark.parametrize("nodes", [0, 10**6], ids=["by CP-SAT", "by tree"])
def test_a_free_candidate_that_someone_may_stay_in_is_added(nodes):
    """It adds no value, but costs nothing and spares a move."""
    instance = SelectionInstance(
        weights=np.ones(2),
        probabilities=np.array([[1.0, 1.0], [1.0, 0.0]]),
        allowed=np.ones((2, 2), dtype=np.bool_),
        existing=np.array([False, True]),
        sizes=np.array([5, 0]),
        max_new=1,
        previous=np.array([1, -1]),
    )
    reduction = reduce_instance(instance)
    dual = dual_at(reduction.problem, np.zeros(reduction.problem.values.shape[1]))
    result = break_ties(reduction.problem, reduction.ties, dual, (0,), Budget(left=1e9), nodes=nodes, seed=0)
    assert (result.chosen, result.proven) == ((0, 1), True)


def test_without_budget_an_open_question_is_not_called_proven():
    statuses = set()
    for seed in range(120):
        reduction = reduce_instance(tiny(seed))
        problem, ties = reduction.problem, reduction.ties
        start = optima(problem)[-1]
        dual = dual_at(problem, problem.best(greedy(problem)))
        result = break_ties(problem, ties, dual, start, Budget(left=0.0), nodes=0, seed=0)
        best = min(ties.cost(problem, chosen) for chosen in optima(problem))
        assert not result.proven or ties.cost(problem, result.chosen) == best
        statuses.add(result.proven)
    assert statuses == {True, False}
