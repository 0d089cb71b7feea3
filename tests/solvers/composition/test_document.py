"""Composition instances as JSON: what is written is read back, and what is wrong is named by its place."""

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.composition.compose import compose
from solvers.composition.document import CompositionDocument, dump, load
from solvers.composition.instance import CompositionInstance, Goal
from solvers.documents import DocumentError
from solvers.errors import InvalidInstanceError

GOOD = {
    "kind": "composition",
    "schema_version": "1",
    "goal": "COVERAGE",
    "capacity": 9,
    "max_images": 2,
    "sizes": [1, 2, 3],
    "venvs": [[0, 1], [1, 2]],
    "weights": [3, 2.5],
    "class_venvs": [0, 1],
}


@st.composite
def instances(draw):
    """Any valid instance of at most a few of everything."""
    packages, bases, n = draw(st.integers(0, 4)), draw(st.integers(0, 3)), draw(st.integers(0, 4))
    sets = st.lists(st.integers(0, packages - 1), max_size=4) if packages else st.just([])
    venvs = draw(st.lists(sets.map(tuple), max_size=4))
    goal = draw(st.sampled_from(Goal))
    pairs = st.permutations(range(packages)).map(lambda order: tuple(order[:2]))
    chances = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 1.0]), min_size=n, max_size=n)
    flags = st.booleans() | st.just(True)
    count = st.integers(0, 3)
    return CompositionInstance(
        sizes=np.array(
            draw(st.lists(st.integers(0, 9), min_size=packages, max_size=packages)), dtype=np.int64
        ),
        venvs=tuple(venvs),
        base_sizes=np.array(
            draw(st.lists(st.integers(0, 9), min_size=bases, max_size=bases)), dtype=np.int64
        ),
        runs_on=np.array([[draw(flags) for _ in range(bases)] for _ in venvs], dtype=np.bool_).reshape(
            len(venvs), bases
        ),
        capacity=draw(st.integers(0, 30)),
        goal=goal,
        max_images=draw(count if goal is Goal.COVERAGE else st.none() | count),
        conflicts=tuple(draw(st.lists(pairs, max_size=2))) if packages > 1 else (),
        weights=np.array(
            draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n)), dtype=np.float64
        ),
        class_venvs=np.array([draw(st.integers(-1, len(venvs) - 1)) for _ in range(n)], dtype=np.int64),
        baked=np.array(draw(chances | st.just([1.0] * n)), dtype=np.float64),
        fallback=np.array(draw(chances | st.just([0.0] * n)), dtype=np.float64),
        forbids=tuple(tuple(draw(sets)) for _ in range(n)),
        admitted=np.array([[draw(flags) for _ in range(bases)] for _ in range(n)], dtype=np.bool_).reshape(
            n, bases
        ),
    )


def faults_of(document):
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(DocumentError) as raised:
        load(data)
    return [str(fault) for fault in raised.value.faults]


def same(one, other):
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        if isinstance(getattr(one, field.name), np.ndarray)
        else getattr(one, field.name) == getattr(other, field.name)
        for field in fields(one)
    )


@given(instances())
@settings(derandomize=True, deadline=None)
def test_what_is_written_is_read_back_and_written_the_same(instance):
    data = dump(CompositionDocument(instance=instance))
    document = load(data)
    assert same(instance, document.instance)
    assert dump(document) == data


def test_names_survive():
    instance = load(json.dumps(GOOD).encode()).instance
    names = {
        "package_names": ("numpy é", "b", "c"),
        "venv_names": ("one", "two"),
        "base_names": ("debian",),
        "class_names": ("x", "\ud800"),
    }
    read = load(dump(CompositionDocument(instance=instance, **names)))
    assert same(instance, read.instance)
    assert {key: getattr(read, key) for key in names} == names


def test_what_may_be_left_out_is_one_free_base_for_all_and_venvs_that_always_pass():
    instance = load(json.dumps(GOOD).encode()).instance
    assert instance.base_sizes.tolist() == [0]
    assert (instance.runs_on.all(), instance.admitted.all()) == (True, True)
    assert (instance.baked.tolist(), instance.fallback.tolist()) == ([1, 1], [0, 0])
    assert (instance.conflicts, instance.forbids) == ((), ((), ()))


def test_what_is_left_out_is_not_written():
    document = json.loads(dump(load(json.dumps(GOOD).encode())))
    assert document == GOOD


def test_null_is_what_is_left_out():
    optional = (
        "base_sizes",
        "runs_on",
        "conflicts",
        "baked",
        "fallback",
        "forbids",
        "admitted",
        "venv_names",
    )
    instance = load(json.dumps({**GOOD, **dict.fromkeys(optional)}).encode()).instance
    assert same(instance, load(json.dumps(GOOD).encode()).instance)


def test_the_example_of_the_docs_is_an_instance():
    text = (Path(__file__).parents[3] / "docs" / "solvers.md").read_text(encoding="utf-8")
    examples = [
        example for example in re.findall(r"```json\n(.*?)```", text, re.DOTALL) if "composition" in example
    ]
    document = load(examples[0].encode())
    result = compose(document.instance)
    assert [[document.venv_names[v] for v in image.venvs] for image in result.images] == [
        ["django 4.1", "django 3.2"]
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"venvs": [], "weights": [], "class_venvs": []},
        {"sizes": [], "venvs": [[], []]},
        {"base_sizes": []},
        {"max_images": 0},
        {"goal": "FEWEST_IMAGES", "max_images": None},
    ],
    ids=["no venvs", "no packages", "no bases", "no images", "no limit"],
)
def test_an_empty_instance_is_an_instance(change):
    assert compose(load(json.dumps({**GOOD, **change}).encode()).instance).images is not None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"goal": "BEST"}, "goal: is 'BEST', neither COVERAGE nor FEWEST_IMAGES"),
        ({"goal": []}, "goal: is an array, neither COVERAGE nor FEWEST_IMAGES"),
        ({"capacity": -1}, "capacity: is -1, below 0"),
        ({"capacity": 1.5}, "capacity: is 1.5, not a whole number of bytes"),
        ({"capacity": 2**53}, "capacity: is 9007199254740992, 2**53 or more"),
        ({"capacity": float("nan")}, "capacity: is nan, not a whole number of bytes"),
        ({"max_images": -1}, "max_images: is -1, below 0"),
        ({"max_images": True}, "max_images: is true, not a whole number"),
        ({"max_images": None}, "max_images: is missing, the goal COVERAGE needs a number"),
        ({"sizes": [1, -2, 3]}, "sizes[1]: is -2, below 0"),
        ({"sizes": [1, 10**400, 3]}, "sizes[1]: is 1000"),
        ({"sizes": [2**52, 2**52, 0]}, "sizes add up to 9007199254740992 bytes or more"),
        ({"base_sizes": [float("inf")]}, "base_sizes[0]: is inf, not a whole number of bytes"),
        ({"venvs": [[0, 3], []]}, "venvs[0][1]: is 3, not an index from 0 to 2"),
        ({"venvs": [[0, -1], []]}, "venvs[0][1]: is -1, not an index from 0 to 2"),
        ({"venvs": [[0, True], []]}, "venvs[0][1]: is true, not an index"),
        ({"venvs": [[], 7]}, "venvs[1]: is a number, not an array"),
        ({"venvs": None}, "venvs: is null, not an array"),
        ({"runs_on": [[0]]}, "runs_on: has 1 entries for 2 venvs"),
        ({"runs_on": [[0], [1]]}, "runs_on[1][0]: is 1, not an index from 0 to 0"),
        ({"conflicts": [[0, 1, 2]]}, "conflicts[0]: has 3 packages, not 2"),
        ({"conflicts": [[0, 1], [2, 2]]}, "conflicts[1]: sets package 2 against itself"),
        ({"conflicts": [[0, 5]]}, "conflicts[0][1]: is 5, not an index from 0 to 2"),
        ({"weights": [1, -2]}, "weights[1]: is -2, below 0"),
        ({"weights": [1, float("nan")]}, "weights[1]: is nan, not a finite number"),
        ({"weights": [1e308, 1e308]}, "weights add up to infinity"),
        ({"class_venvs": [0, 2]}, "class_venvs[1]: is 2, not an index from -1 to 1"),
        ({"class_venvs": [0]}, "class_venvs: has 1 entries for 2 weights"),
        ({"class_venvs": None}, "class_venvs: is missing, and there are weights of classes"),
        ({"weights": None}, "class_venvs: has 2 entries for 0 weights"),
        ({"baked": [1, 1.5]}, "baked[1]: is 1.5, outside [0, 1]"),
        ({"fallback": [float("nan"), 0]}, "fallback[0]: is not a number"),
        ({"fallback": ["1", 0]}, "fallback[0]: is a string, not a number"),
        ({"forbids": [[3], []]}, "forbids[0][0]: is 3, not an index from 0 to 2"),
        ({"admitted": [[0], [0], [0]]}, "admitted: has 3 entries for 2 weights"),
        ({"package_names": ["a"]}, "package_names: has 1 entries for 3 sizes"),
        ({"venv_names": ["a", 1]}, "venv_names[1]: is 1, not a string"),
        ({"base_names": ["a", "b"]}, "base_names: has 2 entries for 1 bases"),
        ({"class_names": "ab"}, "class_names: is a string, not an array"),
        ({"kind": "selection"}, "kind: is 'selection', not 'composition'"),
        ({"schema_version": 1}, "schema_version: is 1, not '1'"),
        ({"max_new": 1}, "max_new: is not a key of this format"),
    ],
)
def test_a_fault_is_named_by_its_place(change, expected):
    assert [fault for fault in faults_of({**GOOD, **change}) if fault.startswith(expected)]


@pytest.mark.parametrize("key", ["kind", "schema_version", "goal", "capacity", "sizes", "venvs"])
def test_what_is_needed_is_missed_and_nothing_blamed_for_it(key):
    assert faults_of({name: value for name, value in GOOD.items() if name != key}) == [f"{key}: is missing"]


def test_every_fault_is_reported():
    text = json.dumps({**GOOD, "capacity": -1, "venvs": [[9], 1], "baked": [2, 0], "extra": 1})
    assert faults_of(text.replace('"goal"', '"goal": "COVERAGE", "goal"').encode()) == [
        "goal: the key comes twice",
        "extra: is not a key of this format",
        "venvs[0][0]: is 9, not an index from 0 to 2",
        "venvs[1]: is a number, not an array",
        "baked[0]: is 2, outside [0, 1]",
        "capacity: is -1, below 0",
    ]


def test_names_that_do_not_fit_are_not_written():
    instance = load(json.dumps(GOOD).encode()).instance
    with pytest.raises(InvalidInstanceError, match="1 names for 2 venv_names"):
        dump(CompositionDocument(instance=instance, venv_names=("a",)))
    with pytest.raises(InvalidInstanceError, match="capacity"):
        dump(CompositionDocument(instance=replace(instance, capacity=-1)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(
            [
                *GOOD,
                "base_sizes",
                "runs_on",
                "conflicts",
                "baked",
                "fallback",
                "forbids",
                "admitted",
                "base_names",
            ]
        ),
        JSON,
    )
)
@settings(derandomize=True, deadline=None)
def test_whatever_the_values_are_the_answer_is_an_instance_or_its_faults(values):
    try:
        document = load(json.dumps({**GOOD, **values}).encode())
    except DocumentError:
        return
    assert same(load(dump(document)).instance, document.instance)
