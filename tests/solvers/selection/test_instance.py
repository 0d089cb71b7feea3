from dataclasses import replace

import numpy as np
import pytest
from generators import tiny

from solvers.errors import InvalidInstanceError
from solvers.selection.instance import validate
from solvers.selection.select import select
from solvers.selection.sweep import sweep

GOOD = tiny(7)
N, M = GOOD.probabilities.shape


def changed(array, place, value):
    copy = array.astype(float) if isinstance(value, float) else array.copy()
    copy[place] = value
    return copy


BROKEN = {
    "weights[1] is nan": {"weights": changed(GOOD.weights, 1, np.nan)},
    "weights[0] is inf": {"weights": changed(GOOD.weights, 0, np.inf)},
    "weights[2] is -1.0, below 0": {"weights": changed(GOOD.weights, 2, -1.0)},
    "probabilities[0, 1] is nan, not a number": {
        "probabilities": changed(GOOD.probabilities, (0, 1), np.nan)
    },
    "probabilities[1, 0] is 1.5, outside [0, 1]": {"probabilities": changed(GOOD.probabilities, (1, 0), 1.5)},
    "probabilities[1, 0] is -0.1, outside [0, 1]": {
        "probabilities": changed(GOOD.probabilities, (1, 0), -0.1)
    },
    "sizes[1] is -5, below 0": {"sizes": changed(GOOD.sizes, 1, -5)},
    "sizes add up": {"sizes": changed(GOOD.sizes, 0, 2**53)},
    "weights add up to infinity": {"weights": np.full(N, 1.7e308)},
    "previous[0] is -2": {"previous": changed(GOOD.previous, 0, -2)},
    f"previous[0] is {M}": {"previous": changed(GOOD.previous, 0, M)},
    "weights has shape": {"weights": np.ones(N + 1)},
    "probabilities has shape": {"probabilities": np.ones(N)},
    "allowed has shape": {"allowed": GOOD.allowed.T.copy().reshape(M, N)[:-1]},
    "existing has shape": {"existing": np.zeros(M + 1, dtype=np.bool_)},
    "sizes has shape": {"sizes": np.zeros((M, 1), dtype=np.int64)},
    "previous has shape": {"previous": np.zeros(N + 1, dtype=np.int64)},
    "allowed has dtype": {"allowed": GOOD.allowed.astype(float)},
    "sizes has dtype": {"sizes": GOOD.sizes.astype(float)},
    "probabilities is list": {"probabilities": GOOD.probabilities.tolist()},
    "max_new is -1, below 0": {"max_new": -1},
    "max_total is -3, below 0": {"max_total": -3},
    "max_new is 2.5, not a whole number": {"max_new": 2.5},
    "max_new is True, not a whole number": {"max_new": True},
}


@pytest.mark.parametrize("message", BROKEN)
def test_every_rule_names_the_array_and_the_place(message):
    with pytest.raises(InvalidInstanceError) as caught:
        validate(replace(GOOD, **BROKEN[message]))
    assert any(message in fault for fault in caught.value.faults)


def test_all_faults_are_reported_together():
    probabilities = changed(GOOD.probabilities, (0, 0), np.nan)
    broken = replace(GOOD, weights=-np.ones(N), probabilities=probabilities)
    with pytest.raises(InvalidInstanceError) as caught:
        validate(broken)
    assert len(caught.value.faults) == 2
    assert f"({N} such)" in caught.value.faults[0]


@pytest.mark.parametrize("solve", [select, lambda instance: sweep(instance, [1, 2])])
def test_solvers_refuse_what_validation_refuses(solve):
    with pytest.raises(InvalidInstanceError):
        solve(replace(GOOD, weights=-np.ones(N)))


def test_a_sweep_refuses_a_negative_cap():
    with pytest.raises(InvalidInstanceError, match="max_new is -1"):
        sweep(GOOD, [1, -1])


def test_validation_does_not_change_the_instance():
    before = {name: np.copy(value) for name, value in vars(GOOD).items() if isinstance(value, np.ndarray)}
    validate(GOOD)
    select(GOOD)
    for name, value in before.items():
        assert np.array_equal(getattr(GOOD, name), value)
