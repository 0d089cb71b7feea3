"""Every heuristic serves everything within the rules; every search only improves."""

import pytest
from composition.cases import families, tiny

from solvers.budget import Budget
from solvers.composition.compose import demands_of
from solvers.composition.dissolve import dissolved
from solvers.composition.fewest import starts
from solvers.composition.greedy import greedy_images, refilled
from solvers.composition.instance import Goal
from solvers.composition.knapsack import best_image, filled
from solvers.composition.neighbourhood import searched
from solvers.composition.overload import overload_and_remove
from solvers.composition.pagination import pagination
from solvers.composition.placement import best_fusion, by_size, first_fit
from solvers.composition.reduce import reduced
from solvers.composition.set_cover import cover
from solvers.result import Status


def problem_of(instance):
    return reduced(demands_of(instance).problem, all_served=instance.goal == Goal.FEWEST_IMAGES).problem


def assert_serves_all(problem, images):
    assert {u for image in images for u in image} == set(range(len(problem.units)))
    assert all(problem.fits(problem.together(image)) for image in images)


@pytest.mark.parametrize("heuristic", [first_fit, best_fusion, overload_and_remove])
def test_a_heuristic_serves_everything_within_the_rules(heuristic):
    for seed in range(150):
        problem = problem_of(tiny(seed, Goal.FEWEST_IMAGES))
        images = heuristic(problem, by_size(problem))
        assert_serves_all(problem, images)
        fewer = dissolved(problem, images)
        assert_serves_all(problem, fewer)
        assert len(fewer) <= len(images)


def test_overload_and_remove_brings_together_what_first_fit_parts():
    """Two families in turn: first come, first served mixes them, eviction sorts them out."""
    tiles = [[0, 1, 2], [10, 11, 12], [0, 1, 3], [10, 11, 13], [0, 2, 3], [10, 12, 13]]
    problem = problem_of(pagination(tiles, 4))
    assert len(overload_and_remove(problem, range(6))) == 2


def test_dissolving_moves_one_unit_out_of_the_way():
    problem = problem_of(pagination([[0, 1, 2], [3, 4], [5], [6, 7, 8]], 5))
    images = ((0, 2), (1,), (3,))
    assert len(dissolved(problem, images)) == 2


@pytest.mark.parametrize("seed", range(3))
def test_searches_on_coverage_only_improve(seed):
    limits = {"capacity": 90, "max_images": 4, "goal": Goal.COVERAGE}
    problem = problem_of(families(seed, venvs=20, packages=40, **limits))
    profits = [unit.gain for unit in problem.units]
    alone, better = filled(problem, profits), best_image(problem, profits)
    assert problem.gain([better]) >= problem.gain([alone])
    images = greedy_images(problem, 4)
    again = refilled(problem, images, 4)
    assert problem.gain(again) >= problem.gain(images)
    freed = searched(problem, again, 4, Budget(left=0.3), seed)
    assert problem.gain(freed) >= problem.gain(again)
    assert len(freed) <= 4
    assert all(problem.fits(problem.together(image)) for image in freed)


def test_the_neighbourhood_search_is_the_same_for_the_same_seed():
    problem = problem_of(families(4, venvs=20, packages=40, capacity=90, max_images=4, goal=Goal.COVERAGE))
    start = greedy_images(problem, 4)
    twice = [searched(problem, start, 4, Budget(left=0.3), 9) for _ in range(2)]
    assert twice[0] == twice[1]


def test_every_start_serves_a_larger_instance():
    limits = {"capacity": 120, "max_images": None, "goal": Goal.FEWEST_IMAGES}
    problem = problem_of(families(5, venvs=40, packages=60, **limits))
    for _, images in starts(problem):
        assert_serves_all(problem, images)


def test_a_cover_is_found_or_refuted_or_left_open():
    columns = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert set(cover(4, columns, 2, Budget(left=9.0)).images) in ({(0, 1), (2, 3)}, {(1, 2), (0, 3)})
    assert cover(4, columns, 1, Budget(left=9.0)).status is Status.INFEASIBLE
    assert cover(5, columns, 4, Budget(left=9.0)).status is Status.INFEASIBLE
    assert cover(4, [], 4, Budget(left=9.0)).status is Status.INFEASIBLE
    assert cover(4, columns, 2, Budget(left=0.0)).status is Status.UNKNOWN
