from dataclasses import replace

import numpy as np
import pytest
from brute_force import best_cost
from generators import families, tiny

from solvers.selection.instance import SelectionInstance
from solvers.selection.reduce import reduce_instance


def instance(probabilities, **changes):
    p = np.array(probabilities, dtype=float)
    n, m = p.shape
    plain = SelectionInstance(
        weights=np.ones(n),
        probabilities=p,
        allowed=np.ones((n, m), dtype=np.bool_),
        existing=np.zeros(m, dtype=np.bool_),
        sizes=np.ones(m, dtype=np.int64),
        max_new=1,
    )
    return replace(plain, **changes)


@pytest.mark.parametrize("seed", range(300))
def test_the_optimum_is_one_over_the_candidates_that_are_kept(seed):
    whole = tiny(seed)
    kept = reduce_instance(whole).candidates
    place = {int(j): new for new, j in enumerate(kept)}
    fewer = replace(
        whole,
        probabilities=whole.probabilities[:, kept],
        allowed=whole.allowed[:, kept],
        existing=whole.existing[kept],
        sizes=whole.sizes[kept],
        previous=None
        if whole.previous is None
        else np.array([place.get(int(j), -1) for j in whole.previous], dtype=np.int64),
    )
    lost = sum(
        float(weight)
        for weight, j in zip(whole.weights, [] if whole.previous is None else whole.previous, strict=False)
        if j >= 0 and int(j) not in place
    )
    value, new, size, moved = best_cost(fewer)
    assert (value, new, size, moved + lost) == best_cost(whole)


def test_classes_that_no_candidate_tells_apart_become_one():
    reduced = reduce_instance(
        instance([[0.5, 1.0], [0.5, 1.0], [1.0, 0.2]], weights=np.array([1.0, 2.0, 4.0]))
    )
    assert reduced.problem.values.T.tolist() == [[1.5e6, 3e6], [4e6, 0.8e6]]


def test_equal_probabilities_with_other_permissions_stay_apart():
    allowed = np.array([[True, True], [True, False]])
    reduced = reduce_instance(instance([[0.5, 1.0], [0.5, 1.0]], allowed=allowed))
    assert reduced.problem.values.shape[1] == 2


def test_a_class_without_weight_or_hope_is_left_out():
    reduced = reduce_instance(
        instance([[0.5, 0.6], [0.0, 0.0], [0.9, 0.1]], weights=np.array([1.0, 5.0, 0.0]))
    )
    assert reduced.problem.values.shape == (1, 1)


def test_of_equal_candidates_the_first_is_kept():
    assert reduce_instance(instance([[0.5, 0.5, 0.5]])).candidates.tolist() == [0]


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({}, [1]),
        ({"sizes": np.array([1, 2])}, [0, 1]),
        ({"existing": np.array([True, False])}, [0, 1]),
        ({"existing": np.array([True, True])}, [1]),
        ({"previous": np.array([0, -1])}, [0, 1]),
        ({"previous": np.array([1, -1])}, [1]),
    ],
)
def test_a_worse_candidate_is_kept_only_where_it_may_break_a_tie(changes, kept):
    reduced = reduce_instance(instance([[0.5, 0.5], [0.2, 0.3]], **changes))
    assert reduced.candidates.tolist() == kept


def test_structured_instances_shrink():
    """Half of the candidates and a third of the classes go where families repeat."""
    whole = families(0)
    problem = reduce_instance(whole).problem
    assert problem.values.shape[0] < 0.6 * whole.probabilities.shape[1]
    assert problem.values.shape[1] < 0.7 * whole.probabilities.shape[0]
