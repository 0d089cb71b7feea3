import math

import pytest

from solvers.budget import Budget
from solvers.errors import InvalidLimitsError
from solvers.result import Limits


@pytest.mark.parametrize("time", [-1.0, -math.inf, math.nan])
def test_a_time_that_cannot_mean_anything_is_refused(time):
    with pytest.raises(InvalidLimitsError, match="deterministic_time"):
        Limits(deterministic_time=time)


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_that_no_solver_takes_is_refused(seed):
    with pytest.raises(InvalidLimitsError, match="seed"):
        Limits(seed=seed)


def test_no_time_and_endless_time_are_limits():
    assert Limits(deterministic_time=0).deterministic_time == 0
    assert Limits(deterministic_time=math.inf).deterministic_time == math.inf


def test_a_budget_is_spent_by_the_work_charged_to_it():
    budget = Budget(left=1.0)
    budget.charge_steps(10, 1000)
    assert 0 < budget.left < 1
    budget.charge(2.0)
    assert budget.spent
