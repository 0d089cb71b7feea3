"""All maximal images, what the relaxation over them says, and which of them a choice of few can hold."""

from itertools import combinations

import numpy as np
import pytest
from composition.cases import families, tiny
from composition.exhaustive import fewest_images

from solvers.budget import Budget
from solvers.composition.columns import fewest_bound
from solvers.composition.covering_lp import covering_bound
from solvers.composition.fewest import starts
from solvers.composition.instance import Goal
from solvers.composition.listing import maximal_images
from solvers.composition.pagination import pagination
from solvers.composition.pricing import Listed
from solvers.composition.reduce import reduced
from solvers.composition.units import demands_of


def problem_of(instance):
    return reduced(demands_of(instance).problem, all_served=True).problem


def ample():
    return Budget(left=100.0)


def drawn(seed, tiles, symbols, size, capacity):
    """Return a pagination problem of random tiles of about equal size."""
    rng = np.random.default_rng(seed)
    lists = [sorted(map(int, rng.choice(symbols, size, replace=False))) for _ in range(tiles)]
    return problem_of(pagination(lists, capacity))


def test_images_are_listed_once_each_and_fit_and_nothing_can_be_added():
    limits = {"capacity": 130, "max_images": None, "goal": Goal.FEWEST_IMAGES}
    problem = problem_of(families(1, venvs=30, packages=40, **limits))
    images = list(maximal_images(problem, ample()))
    assert len(set(images)) == len(images) > 30
    for image in images:
        whole = problem.together(image)
        assert problem.fits(whole)
        others = set(range(len(problem.units))) - set(image)
        assert not any(problem.fits(whole.joined(problem.units[u])) for u in others)


def test_sizes_beyond_float32_are_exact():
    """Two units fit into 2^24 + 1 bytes to the byte; with one byte less they do not."""
    for capacity, images in ((2**24 + 1, {(0, 1)}), (2**24, {(0,), (1,)})):
        problem = problem_of(pagination([[0], [1]], 1))
        problem = type(problem)(sizes=(2**24, 1), base_sizes=(0,), capacity=capacity, units=problem.units)
        assert set(maximal_images(problem, ample())) == images


def test_as_many_images_as_allowed_are_listed_and_no_more():
    problem = drawn(0, 20, 30, 6, 15)
    count = len(maximal_images(problem, ample()))
    assert len(maximal_images(problem, ample(), count)) == count
    assert maximal_images(problem, ample(), count - 1) is None


def test_a_hopeless_listing_ends_before_the_budget_is_spent():
    problem = drawn(1, 90, 60, 4, 40)
    budget = Budget(left=2.0)
    assert maximal_images(problem, budget) is None
    assert budget.left > 0


def test_the_bound_holds_on_tiny_instances():
    for seed in range(150):
        instance = tiny(seed, Goal.FEWEST_IMAGES)
        problem = problem_of(instance)
        if problem.units:
            known = min((images for _, images in starts(problem)), key=len)
            listed = Listed(maximal_images(problem, ample()))
            columns = covering_bound(problem, known, listed, ample())
            assert columns.converged
            assert columns.bound <= fewest_images(instance)


@pytest.mark.parametrize("seed", range(3))
def test_the_prices_are_the_best_and_no_image_is_worth_more_than_is_said(seed):
    problem = drawn(seed, 30, 40, 8, 20)
    known = min((images for _, images in starts(problem)), key=len)
    listed = Listed(maximal_images(problem, ample()))
    columns = covering_bound(problem, known, listed, ample())
    assert listed.worths(columns.prices).max() == columns.worth
    earlier = fewest_bound(problem, known, listed, ample())
    best = columns.prices.sum() / columns.worth
    assert best >= earlier.prices.sum() / earlier.worth - 1e-5
    assert columns.bound >= earlier.bound


def test_images_that_the_prices_exclude_are_in_no_choice_of_few():
    problem = drawn(3, 9, 14, 4, 9)
    listed = Listed(maximal_images(problem, ample()))
    columns = covering_bound(problem, tuple((u,) for u in range(9)), listed, ample())
    for count in range(columns.bound, columns.bound + 2):
        least = int(columns.prices.sum()) - (count - 1) * columns.worth
        usable = set(listed.at_least(columns.prices, least))
        for choice in combinations(listed.images, count):
            if len({u for image in choice for u in image}) == 9:
                assert usable.issuperset(choice)


def test_the_most_valuable_images_come_first_and_of_equals_the_earlier():
    problem = drawn(4, 20, 30, 6, 15)
    listed = Listed(maximal_images(problem, ample()))
    prices = np.arange(20) % 5
    worths = listed.worths(prices)
    assert worths.tolist() == [sum(int(prices[u]) for u in image) for image in listed.images]
    order = sorted(range(len(worths)), key=lambda place: (-worths[place], place))
    assert listed.most(prices, 17) == tuple(listed.images[place] for place in order[:17])
    assert len(listed.most(prices, 10**6)) == len(worths)
