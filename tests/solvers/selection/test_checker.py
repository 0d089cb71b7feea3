"""The checker refuses an answer in which one rule is broken, whichever rule it is."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.errors import CheckError
from solvers.result import Status
from solvers.selection.checker import assert_selection
from solvers.selection.instance import SelectionInstance
from solvers.selection.result import SelectionResult

INSTANCE = SelectionInstance(
    weights=np.array([2.0, 1.0, 1.0]),
    probabilities=np.array([[0.9, 0.5, 0.2, 0.9], [0.1, 0.8, 0.2, 0.1], [0.3, 0.3, 0.3, 0.3]]),
    allowed=np.array([[True, True, True, False], [True, True, True, True], [False, False, True, True]]),
    existing=np.array([False, False, True, False]),
    sizes=np.array([5, 5, 5, 5]),
    max_new=2,
    max_total=3,
)
ANSWER = SelectionResult(
    chosen=(0, 1, 2),
    assignment=(0, 1, 2),
    objective=2.9,
    bound=2.9,
    status=Status.OPTIMAL,
    method="by hand",
    tie_break=Status.OPTIMAL,
)


def test_a_right_answer_passes():
    assert_selection(INSTANCE, ANSWER)


BROKEN = {
    "is not ascending": {"chosen": (1, 0, 2)},
    "without repeats": {"chosen": (0, 1, 1, 2)},
    "is not one of 4": {"chosen": (0, 1, 2, 4)},
    "-2 is not one of": {"chosen": (-2, 0, 1, 2)},
    "2 assignments for 3": {"assignment": (0, 1)},
    "class 1 has no candidate": {"assignment": (0, -1, 2)},
    "class 1 is in 3, which is not chosen": {"assignment": (0, 3, 2)},
    "class 2 is in 0, which is not allowed": {"assignment": (0, 1, 0)},
    "class 0 is in 1 with 0.5, best is 0.9": {"assignment": (1, 1, 2)},
    "chosen 0 serves no class": {"assignment": (1, 1, 2)},
    "objective is 2.8": {"objective": 2.8},
    "objective is nan": {"objective": float("nan")},
    "is below the objective": {"bound": 2.8},
    "bound nan": {"bound": float("nan")},
    "above the total weight": {"bound": 4.1, "status": Status.FEASIBLE, "tie_break": Status.FEASIBLE},
    "OPTIMAL with a gap": {"bound": 3.0},
    "there is always an answer": {"status": Status.INFEASIBLE, "tie_break": Status.FEASIBLE},
    "tie-break is proven though": {"status": Status.FEASIBLE},
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_tampered_answer_is_refused_by_name(message):
    with pytest.raises(CheckError) as caught:
        assert_selection(INSTANCE, replace(ANSWER, **BROKEN[message]))
    assert any(message in fault for fault in caught.value.faults), caught.value.faults


@pytest.mark.parametrize(
    ("message", "changes"), [("2 new candidates", {"max_new": 1}), ("3 candidates", {"max_total": 2})]
)
def test_caps_are_checked(message, changes):
    with pytest.raises(CheckError, match=message):
        assert_selection(replace(INSTANCE, **changes), ANSWER)


def test_all_broken_rules_are_told():
    worse = replace(ANSWER, assignment=(1, -1, 2), objective=1.0, bound=0.5)
    with pytest.raises(CheckError) as caught:
        assert_selection(INSTANCE, worse)
    assert len(caught.value.faults) >= 5


def test_an_unproven_answer_with_a_gap_passes():
    assert_selection(INSTANCE, replace(ANSWER, bound=3.5, status=Status.FEASIBLE, tie_break=Status.FEASIBLE))
