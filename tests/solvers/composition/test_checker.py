"""The checker refuses an answer in which one rule is broken, whichever rule it is."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.composition.checker import assert_composition
from solvers.composition.instance import CompositionInstance, Goal
from solvers.composition.result import ComposedImage, CompositionResult
from solvers.errors import CheckError
from solvers.result import Status

INSTANCE = CompositionInstance(
    sizes=np.array([3, 2, 4, 1]),
    venvs=((0, 1), (1, 2), (3,)),
    base_sizes=np.array([1, 2]),
    runs_on=np.array([[True, False], [True, True], [True, True]]),
    capacity=9,
    goal=Goal.COVERAGE,
    max_images=2,
    conflicts=((0, 2),),
    weights=np.array([2.0, 1.0, 4.0]),
    class_venvs=np.array([0, 1, 2]),
    baked=np.array([1.0, 0.5, 0.75]),
    fallback=np.array([0.5, 0.25, 0.0]),
    forbids=((), (3,), ()),
    admitted=np.array([[True, True], [True, True], [True, False]]),
)
FIRST = ComposedImage(base=0, venvs=(0, 2), packages=(0, 1, 3), size=7)
SECOND = ComposedImage(base=1, venvs=(1,), packages=(1, 2), size=8)
ANSWER = CompositionResult(
    goal=Goal.COVERAGE,
    images=(FIRST, SECOND),
    assignment=(0, 1, 0),
    objective=5.5,
    bound=5.5,
    status=Status.OPTIMAL,
    method="by hand",
)
FEWEST = replace(INSTANCE, goal=Goal.FEWEST_IMAGES)
FEWEST_ANSWER = replace(ANSWER, goal=Goal.FEWEST_IMAGES, objective=2.0, bound=2.0)


def test_a_right_answer_passes():
    assert_composition(INSTANCE, ANSWER)
    assert_composition(FEWEST, FEWEST_ANSWER)


BOTH = ComposedImage(base=0, venvs=(0, 1), packages=(0, 1, 2), size=10)
BROKEN = {
    "goal is FEWEST_IMAGES": {"goal": Goal.FEWEST_IMAGES},
    "image 0 has base 2": {"images": (replace(FIRST, base=2), SECOND)},
    "image 0 holds venv 3": {"images": (replace(FIRST, venvs=(0, 3)), SECOND)},
    "not ascending": {"images": (replace(FIRST, venvs=(2, 0)), SECOND)},
    "2 assignments for 3": {"assignment": (0, 1)},
    "class 1 is in image 2 of 2": {"assignment": (0, 2, 0)},
    "holds venv 0, which does not run on base 1": {"images": (replace(FIRST, base=1, size=8), SECOND)},
    "lists packages (0, 1)": {"images": (replace(FIRST, packages=(0, 1)), SECOND)},
    "says its size is 6": {"images": (replace(FIRST, size=6), SECOND)},
    "above the capacity 9": {"images": (BOTH, SECOND)},
    "holds packages 0 and 2, which conflict": {"images": (BOTH, SECOND)},
    "3 images, at most 2 allowed": {"images": (FIRST, SECOND, SECOND)},
    "class 1 is in image 0, which does not admit it": {"assignment": (0, 0, 0)},
    "class 2 is in image 1, which does not admit it": {"assignment": (0, 1, 1)},
    "class 0 passes with 0.5 in image 1, best is 1.0": {"assignment": (1, 1, 0)},
    "class 2 passes with 0.0 in image -1": {"assignment": (0, 1, -1)},
    "objective is 5.4": {"objective": 5.4},
    "objective is nan": {"objective": float("nan")},
    "is below the objective": {"bound": 5.4},
    "bound nan": {"bound": float("nan")},
    "above the total weight": {"bound": 7.1, "status": Status.FEASIBLE},
    "OPTIMAL with a gap": {"bound": 6.0},
    "there is always an answer": {"status": Status.UNKNOWN},
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_tampered_answer_is_refused_by_name(message):
    with pytest.raises(CheckError) as caught:
        assert_composition(INSTANCE, replace(ANSWER, **BROKEN[message]))
    assert any(message in fault for fault in caught.value.faults), caught.value.faults


BROKEN_FEWEST = {
    "venv 1 is in no image": {"images": (FIRST,), "assignment": (0, -1, 0), "objective": 1.0, "bound": 1.0},
    "class 1 has no image that admits it and holds its venv 1": {
        "images": (FIRST, ComposedImage(base=1, venvs=(1, 2), packages=(1, 2, 3), size=9)),
        "assignment": (0, -1, 0),
    },
    "objective is 1": {"objective": 1.0, "bound": 1.0},
    "bound 3.0 is above the objective": {"bound": 3.0, "status": Status.FEASIBLE},
    "status is INFEASIBLE with images": {"status": Status.INFEASIBLE},
    "INFEASIBLE with a bound of 2.0": {
        "status": Status.INFEASIBLE,
        "images": (),
        "assignment": (-1, -1, -1),
        "objective": 0.0,
    },
}


@pytest.mark.parametrize("message", BROKEN_FEWEST)
def test_a_tampered_answer_of_fewest_images_is_refused_by_name(message):
    with pytest.raises(CheckError) as caught:
        assert_composition(FEWEST, replace(FEWEST_ANSWER, **BROKEN_FEWEST[message]))
    assert any(message in fault for fault in caught.value.faults), caught.value.faults


def test_all_broken_rules_are_told():
    worse = replace(ANSWER, assignment=(1, -1, 1), objective=3.0, bound=0.5)
    with pytest.raises(CheckError) as caught:
        assert_composition(INSTANCE, worse)
    assert len(caught.value.faults) >= 5


def test_an_unproven_answer_with_a_gap_passes():
    assert_composition(INSTANCE, replace(ANSWER, bound=6.5, status=Status.FEASIBLE))
