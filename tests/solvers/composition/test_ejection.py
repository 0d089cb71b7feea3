"""The ejection search keeps every rule, serves everything or says nothing, and its matrices are true."""

import numpy as np
import pytest
from composition.cases import families, tiny

from solvers.budget import Budget
from solvers.composition.ejection import ejection_search
from solvers.composition.fewest import starts
from solvers.composition.instance import Goal
from solvers.composition.layout import Layout
from solvers.composition.pagination import pagination
from solvers.composition.placement import by_size, first_fit
from solvers.composition.problem import mask_of
from solvers.composition.reduce import reduced
from solvers.composition.units import demands_of


def problem_of(instance):
    return reduced(demands_of(instance).problem, all_served=True).problem


def family(seed):
    limits = {"capacity": 120, "max_images": None, "goal": Goal.FEWEST_IMAGES}
    return problem_of(families(seed, venvs=40, packages=60, **limits))


def assert_serves_all(problem, images):
    assert sorted(u for image in images for u in image) == list(range(len(problem.units)))
    assert all(problem.fits(problem.together(image)) for image in images)


def test_it_finds_an_image_less_within_the_rules_wherever_there_is_one():
    """Tiny instances with conflicts, refusals, several bases and sizes of 0: the fewest images are found."""
    for seed in range(120):
        problem = problem_of(tiny(seed, Goal.FEWEST_IMAGES))
        images = first_fit(problem, by_size(problem))
        while images and (
            fewer := ejection_search(problem, images, len(images) - 1, Budget(left=0.02), seed)
        ):
            assert_serves_all(problem, fewer)
            images = tuple(image for image in fewer if image)
        assert len(images) == fewest_by_trial(problem)


def fewest_by_trial(problem):
    """Return the fewest images, by trying every partition of the units."""
    best = len(problem.units)
    partitions = [[]]
    for u in range(len(problem.units)):
        partitions = [
            [*groups[:k], (*(groups[k] if k < len(groups) else ()), u), *groups[k + 1 :]]
            for groups in partitions
            for k in range(len(groups) + 1)
        ]
    for groups in partitions:
        if len(groups) < best and all(problem.fits(problem.together(group)) for group in groups):
            best = len(groups)
    return best


@pytest.mark.parametrize("seed", range(3))
def test_it_is_no_worse_than_the_starts_on_families(seed):
    problem = family(seed)
    images = min((found for _, found in starts(problem)), key=len)
    again = ejection_search(problem, (), len(images), Budget(left=3.0), seed)
    assert_serves_all(problem, again)


def test_it_is_the_same_for_the_same_seed():
    problem = family(7)
    count = min(len(found) for _, found in starts(problem))
    twice = [ejection_search(problem, (), count, Budget(left=1.0), 3) for _ in range(2)]
    assert twice[0] == twice[1] != ()


def test_it_says_nothing_where_the_images_are_too_few():
    problem = problem_of(pagination([[0, 1], [2, 3], [4, 5]], 3))
    budget = Budget(left=0.05)
    assert ejection_search(problem, (), 2, budget, 0) == ()
    assert budget.spent
    assert ejection_search(problem, ((0,), (1,)), 0, Budget(left=1.0), 0) == ()


def test_a_layout_says_of_every_unit_what_the_problem_says():
    rng = np.random.default_rng(0)
    for seed in range(60):
        problem = problem_of(tiny(seed, Goal.FEWEST_IMAGES))
        images = first_fit(problem, by_size(problem))
        layout = Layout(problem, images, len(images) + 1)
        for _ in range(4 if problem.units else 0):
            assert_true_to(problem, layout)
            u, k = int(rng.integers(len(problem.units))), int(rng.integers(len(images) + 1))
            layout.move([u], k if layout.spare[k, u] >= 0 else -1)


def assert_true_to(problem, layout):
    for k, image in enumerate(layout.images()):
        whole = problem.together(image)
        for u, unit in enumerate(problem.units):
            joined = whole.joined(unit)
            assert layout.added[k, u] == problem.size(unit.needs & ~whole.needs)
            assert (layout.spare[k, u] >= 0) == problem.fits(joined)
            if layout.spare[k, u] >= 0:
                assert layout.spare[k, u] == problem.room(joined.bases) - problem.size(joined.needs)
        for u in image:
            others = mask_of(p for v in image if v != u for p in problem.needed[v])
            assert layout.freed[u] == problem.size(problem.units[u].needs & ~others)


def test_what_leaves_makes_room():
    for seed in range(60):
        problem = problem_of(tiny(seed, Goal.FEWEST_IMAGES))
        images = first_fit(problem, by_size(problem))
        layout = Layout(problem, images, len(images))
        weights = np.arange(1.0, len(problem.units) + 1)
        for u in range(len(problem.units)):
            cost, leaving = layout.evictions(u, weights)
            assert np.isfinite(cost).any()
            for k in np.flatnonzero(np.isfinite(cost)):
                assert cost[k] == weights[leaving[k]].sum()
                stays = [v for v in layout.images()[k] if not leaving[k, v]]
                assert problem.fits(problem.together([*stays, u]))
