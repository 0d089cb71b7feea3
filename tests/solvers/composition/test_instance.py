"""Every fault of an instance or a file is told."""

import json
from dataclasses import replace

import numpy as np
import pytest

from solvers.composition.compose import compose
from solvers.composition.instance import CompositionInstance, Goal, validate
from solvers.composition.pagination import pagination, read_pagination
from solvers.documents import DocumentError
from solvers.errors import InvalidInstanceError

RIGHT = CompositionInstance(
    sizes=np.array([3, 2]),
    venvs=((0, 1), (1,)),
    base_sizes=np.array([1]),
    runs_on=np.ones((2, 1), dtype=np.bool_),
    capacity=9,
    goal=Goal.COVERAGE,
    max_images=2,
    conflicts=(),
    weights=np.array([2.0, 1.0]),
    class_venvs=np.array([0, 1]),
    baked=np.array([1.0, 0.5]),
    fallback=np.array([0.5, 0.25]),
    forbids=((), ()),
    admitted=np.ones((2, 1), dtype=np.bool_),
)

BROKEN = {
    "sizes is list, not a numpy array": {"sizes": [3, 2]},
    "sizes has dtype float64": {"sizes": np.array([3.0, 2.0])},
    "sizes[1] is -2, below 0": {"sizes": np.array([3, -2])},
    "base_sizes[0] is -1, below 0": {"base_sizes": np.array([-1])},
    "sizes add up to": {"sizes": np.array([2**53, 1])},
    "runs_on has shape (1, 1), expected (2, 1)": {"runs_on": np.ones((1, 1), dtype=np.bool_)},
    "admitted has shape (2, 2)": {"admitted": np.ones((2, 2), dtype=np.bool_)},
    "weights[0] is nan": {"weights": np.array([np.nan, 1.0])},
    "weights[1] is inf": {"weights": np.array([1.0, np.inf])},
    "weights[1] is -1.0, below 0": {"weights": np.array([1.0, -1.0])},
    "weights add up to infinity": {"weights": np.array([1.7e308, 1.7e308])},
    "baked[0] is nan, not a number": {"baked": np.array([np.nan, 0.5])},
    "baked[1] is 1.5, outside [0, 1]": {"baked": np.array([0.5, 1.5])},
    "fallback[0] is -0.1, outside [0, 1] (2 such)": {"fallback": np.array([-0.1, 2.0])},
    "class_venvs[1] is 2, outside -1..1": {"class_venvs": np.array([0, 2])},
    "venvs[1] holds 2, not one of 2 packages": {"venvs": ((0,), (2,))},
    "venvs[0] holds True": {"venvs": ((True,), (0,))},
    "forbids[0] holds -1": {"forbids": ((-1,), ())},
    "forbids has 1 entries, expected 2": {"forbids": ((),)},
    "conflicts[0] holds 9": {"conflicts": ((0, 9),)},
    "conflicts[0] has 1 packages, not 2": {"conflicts": ((0,),)},
    "conflicts[0] sets package 1 against itself": {"conflicts": ((1, 1),)},
    "capacity is -1, below 0": {"capacity": -1},
    "capacity is 2.5, not a whole number": {"capacity": 2.5},
    "capacity is 9007199254740992": {"capacity": 2**53},
    "max_images is True, not a whole number": {"max_images": True},
    "max_images is -1, below 0": {"max_images": -1},
    "max_images is None, the goal COVERAGE needs a number": {"max_images": None},
    "goal is 'MOST'": {"goal": "MOST"},
}


def test_a_right_instance_passes():
    validate(RIGHT)


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_instance_is_refused_by_name(message):
    with pytest.raises(InvalidInstanceError) as caught:
        compose(replace(RIGHT, **BROKEN[message]))
    assert any(message in fault for fault in caught.value.faults), caught.value.faults


def test_all_faults_are_told():
    broken = replace(
        RIGHT, weights=np.array([np.nan, -1.0]), baked=np.array([2.0, np.nan]), venvs=((7,), (8,))
    )
    with pytest.raises(InvalidInstanceError) as caught:
        validate(broken)
    assert len(caught.value.faults) == 6


BAD_FILES = {
    ":1: not JSON: expecting value (column 2)": "[",
    "is an object, not an array of records": "{}",
    "[0]: is a number, not a record": "[1]",
    "[0].capacity: is missing": '[{"tiles": []}]',
    "[0].capacity: is true, not a whole number": '[{"tiles": [], "capacity": true}]',
    "[0].capacity: is 9007199254740992, 2**53 or more": '[{"tiles": [], "capacity": 9007199254740992}]',
    "[0].capacity: the key comes twice": '[{"tiles": [], "capacity": 1, "capacity": 2}]',
    "[1].tiles: is missing": '[{"tiles": [], "capacity": 1}, {"capacity": 1}]',
    "[0].tiles[1][0]: is -1, not a whole number >= 0": '[{"tiles": [[0], [-1]], "capacity": 1}]',
    "[0].tiles[0][1]: is nan, not a whole number >= 0": '[{"tiles": [[0, NaN]], "capacity": 1}]',
    "[0].tiles[0]: is a string, not an array": '[{"tiles": ["ab"], "capacity": 1}]',
}


@pytest.mark.parametrize("message", BAD_FILES)
def test_a_broken_pagination_file_is_refused_by_name(message):
    with pytest.raises(DocumentError) as caught:
        read_pagination(BAD_FILES[message])
    assert list(map(str, caught.value.faults)) == [message]


def test_all_faults_of_a_pagination_file_are_told():
    with pytest.raises(DocumentError) as caught:
        read_pagination('[{"tiles": [[-1]], "capacity": -1}, 7]')
    assert len(caught.value.faults) == 3


def test_a_pagination_file_is_read_as_unit_sizes_with_repeats_and_gaps_closed():
    (instance,) = read_pagination(json.dumps([{"tiles": [[5, 9, 5], [9, 70]], "capacity": 2}]))
    validate(instance)
    assert instance.venvs == ((0, 1), (1, 2))
    assert instance.sizes.tolist() == [1, 1, 1]
    assert instance.venvs == pagination([[5, 9], [9, 70]], 2).venvs
