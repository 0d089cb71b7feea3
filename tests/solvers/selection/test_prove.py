from itertools import combinations

import pytest
from generators import dense, families, tiny

from solvers.budget import Budget
from solvers.selection.greedy import greedy
from solvers.selection.lagrangian import dual_at
from solvers.selection.prove import prove
from solvers.selection.reduce import reduce_instance


def proved(problem, units):
    start = greedy(problem)
    return prove(problem, dual_at(problem, problem.best(start)), start, Budget(left=units), seed=0)


@pytest.mark.parametrize("seed", range(150))
def test_the_best_selection_is_found_from_greedy(seed):
    problem = reduce_instance(tiny(seed)).problem
    best = proved(problem, 1e9)
    assert best.proven
    assert best.value == problem.value(best.chosen)
    assert best.value == max(
        problem.value(chosen)
        for count in range(min(problem.max_total, len(problem.new)) + 1)
        for chosen in combinations(range(len(problem.new)), count)
        if problem.new[list(chosen)].sum() <= problem.max_new
    )


def test_shared_steps_go_to_cp_sat_and_others_to_the_tree():
    shared = proved(reduce_instance(families(0, n=150, m=200, count=5, k=9)).problem, 1e9)
    own = proved(reduce_instance(dense(0, n=100, m=50, k=4)).problem, 1e9)
    assert shared.proven
    assert own.proven
    assert shared.methods == ("CP-SAT",)
    assert own.nodes > 0
    assert "CP-SAT" not in own.methods


@pytest.mark.parametrize("units", [0.0, 0.02, 0.1, 0.3])
def test_a_cut_off_proof_brackets_the_optimum(units):
    problem = reduce_instance(dense(1, n=80, m=50, k=5)).problem
    cut, full = proved(problem, units), proved(problem, 1e9)
    assert full.proven
    assert cut.value == problem.value(cut.chosen) <= full.value <= cut.bound


def test_what_one_method_leaves_open_the_other_takes_up():
    problem = reduce_instance(dense(1, n=80, m=50, k=5)).problem
    assert [method.split()[0] for method in proved(problem, 0.3).methods] == ["branch", "CP-SAT"]
