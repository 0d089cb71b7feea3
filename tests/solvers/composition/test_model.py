"""Each part of the CP-SAT model alone, by forcing one variable."""

from dataclasses import replace

import pytest
from composition.cases import tiny

from solvers.budget import Budget
from solvers.composition.compose import demands_of
from solvers.composition.cover import CoverModel
from solvers.composition.instance import Goal
from solvers.composition.model import ImagesModel, ranked
from solvers.composition.problem import Problem, Unit, mask_of, members
from solvers.composition.reduce import reduced
from solvers.result import Status

PROBLEM = Problem(
    sizes=(3, 2, 4),
    base_sizes=(1, 2),
    capacity=8,
    units=(
        Unit(needs=0b011, excludes=0b100, bases=0b11, gain=5),
        Unit(needs=0b100, excludes=0, bases=0b10, gain=4),
        Unit(needs=0b010, excludes=0, bases=0b01, gain=1),
        Unit(needs=0b001, excludes=0, bases=0b11, gain=2),
    ),
)


def solved(model):
    return model.solve(Budget(left=5.0), 0)


def with_units(model, *units):
    for u in units:
        model.model.add(model.placed[0][u] == 1)
    return solved(model)


@pytest.mark.parametrize(
    ("units", "possible", "why"),
    [
        ((0,), True, "5 bytes and a base of 1"),
        ((0, 1), False, "unit 0 excludes package 2"),
        ((1, 2), False, "no base suits both"),
        ((0, 2, 3), True, "units 2 and 3 need nothing new"),
        ((1,), True, "4 bytes and a base of 2"),
        ((1, 3), False, "7 bytes and a base of 2"),
    ],
)
def test_an_image_holds_only_what_goes_together(units, possible, why):
    outcome = with_units(ImagesModel(PROBLEM, 1), *units)
    assert (outcome.status is not Status.INFEASIBLE) == possible, why
    assert PROBLEM.fits(PROBLEM.together(units)) == possible, why


def test_a_placed_unit_has_its_packages_and_a_base_that_it_runs_on():
    model = ImagesModel(PROBLEM, 1)
    model.model.add(model.placed[0][1] == 1)
    model.model.add(model.held[0][2] == 0)
    assert solved(model).status is Status.INFEASIBLE
    model = ImagesModel(PROBLEM, 1)
    model.model.add(model.placed[0][1] == 1)
    model.model.add(model.based[0][0] == 1)
    assert solved(model).status is Status.INFEASIBLE


@pytest.mark.parametrize(("count", "status"), [(1, Status.INFEASIBLE), (2, Status.OPTIMAL)])
def test_all_units_need_two_images(count, status):
    model = ImagesModel(PROBLEM, count)
    model.serve_all()
    assert solved(model).status is status


def test_ordering_the_images_loses_no_answer_and_bars_permuted_ones():
    model = ImagesModel(PROBLEM, 2)
    model.serve_all()
    ranks = model.order_images((0, 1))
    assert sorted(ranks) == [0, 1, 2, 3]
    images = solved(model).images
    assert 0 in images[0]
    assert 1 in images[1]
    model.model.add(model.placed[0][1] == 1)
    assert solved(model).status is Status.INFEASIBLE


def test_a_unit_counts_once_however_many_images_could_hold_it():
    model = ImagesModel(PROBLEM, 2)
    model.model.maximize(model.serve_at_most_once())
    outcome = solved(model)
    assert outcome.bound == PROBLEM.gain(outcome.images) == 12


def test_ranking_orders_images_by_their_first_unit_and_keeps_each_unit_once():
    assert ranked([(2, 3), (0, 2), (1, 3)], [3, 0, 1, 2]) == ((2, 3), (0,), (1,))
    assert ranked([(1,), (1,)], [0, 1]) == ((1,),)


def test_picking_among_images_finds_the_most_valuable():
    model = CoverModel(PROBLEM, ((0, 2, 3), (1,), (2, 3)), 1)
    model.serve_most()
    assert model.solve(Budget(left=5.0), 0) == ((0, 2, 3),)
    assert (model.status, model.bound) == (Status.OPTIMAL, 8)


def test_masks_and_positions_are_inverse():
    assert members(mask_of([7, 0, 3])) == [0, 3, 7]
    assert members(0) == []


@pytest.mark.parametrize("goal", Goal)
def test_reducing_keeps_what_can_be_served(goal):
    """Serving the units that are left serves all that fit, and is worth as much."""
    everything = goal is Goal.FEWEST_IMAGES
    for seed in range(150):
        problem = demands_of(tiny(seed, goal)).problem
        small = reduced(problem, all_served=everything)
        images = small.images(tuple((u,) for u in range(len(small.names))))
        wholes = [problem.together(image) for image in images]
        fitting = [unit for unit in problem.units if problem.fits(problem.empty.joined(unit))]
        served = [unit for unit in fitting if any(whole.implies(unit) for whole in wholes)]
        assert all(unit.gain == 0 for unit in fitting if unit not in served)
        if everything:
            assert served == fitting
        else:
            assert small.problem.gain([range(len(small.names))]) == sum(unit.gain for unit in fitting)


def test_equal_packages_are_merged_and_sizes_added():
    problem = replace(PROBLEM, units=(Unit(needs=0b111, excludes=0, bases=0b11, gain=1),), capacity=20)
    assert reduced(problem, all_served=True).problem.sizes == (9,)
