from dataclasses import replace
from itertools import pairwise

import pytest
from brute_force import assigned_cost, best_cost
from generators import dense, families, tiny, with_history

from solvers.result import Limits, Status
from solvers.selection.checker import assert_selection
from solvers.selection.select import select
from solvers.selection.sweep import sweep


@pytest.mark.parametrize("seed", range(100))
def test_every_point_is_as_good_as_brute_force(seed):
    instance = tiny(seed)
    for k, result in enumerate(sweep(instance, range(5))):
        capped = replace(instance, max_new=k)
        assert assigned_cost(capped, result.assignment) == best_cost(capped)
        assert (result.status, result.tie_break) == (Status.OPTIMAL, Status.OPTIMAL)


def test_points_come_in_the_order_asked_for():
    instance = families(3, n=60, m=60, count=4)
    up = sweep(instance, [1, 2, 5])
    assert sweep(instance, [5, 1, 2, 1]) == (up[2], up[0], up[1], up[0])
    assert sweep(instance, []) == ()


@pytest.mark.parametrize(
    ("instance", "limits"),
    [
        (families(5, n=100, m=120, count=6), Limits()),
        (with_history(families(6, n=100, m=120, count=6), 6, max_total=9), Limits()),
        (dense(3, n=80, m=60, k=1), Limits(deterministic_time=0.2)),
        (dense(3, n=80, m=60, k=1), Limits(deterministic_time=0.0)),
    ],
    ids=["families", "with history", "dense", "dense without time"],
)
def test_neither_objective_nor_bound_falls_with_k(instance, limits):
    points = sweep(instance, range(1, 13), limits)
    for k, point in enumerate(points, start=1):
        assert_selection(replace(instance, max_new=k), point)
    for fewer, more in pairwise(points):
        assert more.objective >= fewer.objective - 1e-9
        assert more.bound >= fewer.bound - 1e-9


def test_a_point_of_a_sweep_is_what_select_finds_alone():
    instance = families(7, n=100, m=120, count=6)
    for k, point in zip([3, 8], sweep(instance, [3, 8]), strict=True):
        alone = select(replace(instance, max_new=k))
        assert assigned_cost(instance, point.assignment) == assigned_cost(instance, alone.assignment)


def test_beyond_the_best_possible_nothing_changes():
    instance = families(8, n=30, m=40, count=3, versions=4)
    points = sweep(instance, [20, 30, 400])
    assert points[0].chosen == points[1].chosen == points[2].chosen


def test_forty_points_of_a_real_size_are_all_proven():
    """400 classes, 600 candidates, 11 families of 20 versions: value and ties, for K = 1 to 40."""
    points = sweep(families(0), range(1, 41))
    assert [point.status for point in points] == [Status.OPTIMAL] * 40
    assert [point.tie_break for point in points] == [Status.OPTIMAL] * 40
