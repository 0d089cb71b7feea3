from dataclasses import replace

import numpy as np
import pytest
from generators import tiny

from solvers.selection.problem import WEIGHT_UNITS, Problem, integer_weights, scale_of
from solvers.selection.reduce import reduce_instance


def test_whole_weights_stay_as_they_are():
    weights, units = integer_weights(np.array([3.0, 0.0, 45320.0]))
    assert weights.tolist() == [3, 0, 45320]
    assert units == 1.0


@pytest.mark.parametrize("weights", [[0.25, 0.5], [1e-9, 3e-9], [1e12 + 0.5, 7.0], [1 / 3] * 1000])
def test_other_weights_become_multiples_of_a_power_of_two(weights):
    whole, units = integer_weights(np.array(weights))
    assert np.log2(units) == int(np.log2(units))
    assert WEIGHT_UNITS / 2 - 1000 <= whole.sum() <= WEIGHT_UNITS + 1000
    assert whole / units == pytest.approx(weights, abs=sum(weights) * 2**-25)


def test_slack_covers_what_rounding_can_change():
    instance = replace(tiny(3), weights=np.array([1 / 3] * len(tiny(3).weights)))
    scale = scale_of(instance)
    weights, units = integer_weights(instance.weights)
    total = instance.weights.sum()
    assert scale.slack >= (0.5e-6 * total + abs(weights.sum() / units - total)) * (1 - 1e-9)


def test_the_unit_divides_every_value():
    for seed in range(40):
        problem = reduce_instance(tiny(seed)).problem
        assert not (problem.values % problem.unit).any()


def test_the_value_of_nothing_is_zero():
    problem = reduce_instance(tiny(7)).problem
    assert problem.value(()) == 0


@pytest.mark.parametrize(("m", "n"), [(0, 3), (3, 0), (7, 5), (300, 400), (3, 40_000)])
def test_the_excess_is_the_same_in_parts_and_at_once(m, n):
    rng = np.random.default_rng(m + n)
    values = rng.integers(0, 10**6, (m, n)).astype(np.float64)
    problem = Problem(values=values, new=np.ones(m, dtype=np.bool_), max_new=2, max_total=m, unit=1)
    levels = rng.integers(0, 10**6, n).astype(np.float64)
    assert problem.excess(levels).tolist() == np.maximum(values - levels, 0).sum(axis=1).tolist()
