"""Selection instances as JSON: what is written is read back, and what is wrong is named by its place."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from generators import families, tiny, with_history
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.documents import MAX_FAULTS, DocumentError
from solvers.errors import InvalidInstanceError
from solvers.selection.document import SelectionDocument, dump, load
from solvers.selection.select import select

GOOD = {
    "kind": "selection",
    "schema_version": "1",
    "max_new": 1,
    "weights": [3, 2.5],
    "probabilities": [[0.5, None, 1], {"levels": [0.25, 0.75], "level_of": [1, -1, 0]}],
}


def faults_of(document):
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(DocumentError) as raised:
        load(data)
    return [str(fault) for fault in raised.value.faults]


def same(one, other):
    names = ("weights", "existing", "sizes", "allowed", "max_new", "max_total", "previous")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    pairs.append((np.where(one.allowed, one.probabilities, 0), other.probabilities))
    return all(np.array_equal(*pair) for pair in pairs)


@given(st.integers(0, 10**6))
@settings(derandomize=True, deadline=None)
def test_what_is_written_is_read_back_and_written_the_same(seed):
    instance = tiny(seed)
    data = dump(SelectionDocument(instance=instance))
    document = load(data)
    assert same(instance, document.instance)
    assert dump(document) == data


def test_names_and_every_other_field_survive():
    instance = with_history(families(1, n=30, m=20, count=3), 1, max_total=7)
    classes = tuple(f"class {i} é" for i in range(30))
    candidates = tuple(f"candidate {j}" for j in range(20))
    read = load(dump(SelectionDocument(instance=instance, classes=classes, candidates=candidates)))
    assert same(instance, read.instance)
    assert (read.classes, read.candidates) == (classes, candidates)


def test_a_written_instance_has_the_same_answer():
    instance = with_history(families(2, n=60, m=40, count=4), 2, max_total=9)
    assert select(load(dump(SelectionDocument(instance=instance))).instance) == select(instance)


def test_what_may_be_left_out_is_nothing():
    instance = load(json.dumps(GOOD).encode()).instance
    assert instance.probabilities.tolist() == [[0.5, 0, 1], [0.75, 0, 0.25]]
    assert instance.allowed.tolist() == [[True, False, True], [True, False, True]]
    assert (instance.existing.any(), instance.sizes.any()) == (False, False)
    assert (instance.max_total, instance.previous) == (None, None)


def test_the_example_of_the_docs_is_an_instance():
    text = (Path(__file__).parents[3] / "docs" / "solvers.md").read_text(encoding="utf-8")
    document = load(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0].encode())
    result = select(document.instance)
    assert [document.candidates[j] for j in result.chosen] == ["py3.9-django-4.1"]


@pytest.mark.parametrize(("weights", "rows"), [([], []), ([1.0], [[]])], ids=["no classes", "no candidates"])
def test_an_empty_instance_is_an_instance(weights, rows):
    instance = load(json.dumps({**GOOD, "weights": weights, "probabilities": rows}).encode()).instance
    assert select(instance).objective == 0


def test_few_distinct_probabilities_make_a_small_document():
    rng = np.random.default_rng(0)
    instance = families(0, n=100, m=200)
    few = replace(instance, probabilities=rng.choice(rng.random(9), size=(100, 200)))
    assert len(dump(SelectionDocument(instance=few))) < 3 * few.probabilities.size + 10_000


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"probabilities": [[0.5, None, 1.5], [0, 0, 0]]}, "probabilities[0][2]: is 1.5, outside [0, 1]"),
        ({"probabilities": [[0, 0, 0], [0, -0.1, 0]]}, "probabilities[1][1]: is -0.1, outside [0, 1]"),
        ({"probabilities": [[0, 0, float("nan")], [0, 0, 0]]}, "probabilities[0][2]: is not a number"),
        ({"probabilities": [[0, 0, 10**400], [0, 0, 0]]}, "probabilities[0][2]: is 1000"),
        ({"probabilities": [[0, 0, True], [0, 0, 0]]}, "probabilities[0][2]: is true, neither"),
        ({"probabilities": [[0, 0, "1"], [0, 0, 0]]}, "probabilities[0][2]: is a string, neither"),
        ({"probabilities": [[0, 0, 0], [0, 0]]}, "probabilities[1]: has 2 entries for 3 candidates"),
        ({"probabilities": [[0, 0, 0], 7]}, "probabilities[1]: is a number, neither"),
        ({"probabilities": "all"}, "probabilities: is a string, not an array of rows"),
        (
            {"probabilities": [[0], {"levels": [2], "level_of": [0]}]},
            "probabilities[1].levels[0]: is 2, outside [0, 1]",
        ),
        (
            {"probabilities": [[0], {"levels": [1], "level_of": [1]}]},
            "probabilities[1].level_of[0]: is 1, not an index from -1 to 0",
        ),
        ({"probabilities": [[0], {"levels": [1]}]}, "probabilities[1].level_of: is missing"),
        (
            {"probabilities": [[0], {"levels": [], "level_of": [], "x": 1}]},
            "probabilities[1].x: is not a key",
        ),
        ({"weights": [1, -2]}, "weights[1]: is -2, below 0"),
        ({"weights": [1, float("inf")]}, "weights[1]: is inf, not a finite number"),
        ({"weights": [1, float("nan")]}, "weights[1]: is nan, not a finite number"),
        ({"weights": [1]}, "weights: has 1 entries for 2 rows of probabilities"),
        ({"weights": [1e308, 1e308]}, "weights add up to infinity"),
        ({"sizes": [0, -1, 0]}, "sizes[1]: is -1, below 0"),
        ({"sizes": [0, 0.5, 0]}, "sizes[1]: is 0.5, not a whole number of bytes"),
        ({"sizes": [0, 2**53, 0]}, "sizes[1]: is 9007199254740992, 2**53 or more"),
        ({"existing": [True, 1, False]}, "existing[1]: is 1, not true or false"),
        ({"existing": [True]}, "probabilities[0]: has 3 entries for 1 candidates"),
        ({"previous": [0, 3]}, "previous[1]: is 3, not an index from -1 to 2"),
        ({"previous": [-2, 0]}, "previous[0]: is -2, not an index from -1 to 2"),
        ({"candidates": ["a", 1, "c"]}, "candidates[1]: is 1, not a string"),
        ({"classes": ["a"]}, "classes: has 1 entries for 2 rows of probabilities"),
        ({"max_new": -1}, "max_new: is -1, below 0"),
        ({"max_new": 1.0}, "max_new: is 1.0, not a whole number"),
        ({"max_new": None}, "max_new: is null, not a whole number"),
        ({"max_total": True}, "max_total: is true, not a whole number"),
        ({"kind": "composition"}, "kind: is 'composition', not 'selection'"),
        ({"schema_version": 1}, "schema_version: is 1, not '1'"),
        ({"max_old": 1}, "max_old: is not a key of this format"),
    ],
)
def test_a_fault_is_named_by_its_place(change, expected):
    assert any(fault.startswith(expected) for fault in faults_of({**GOOD, **change}))


def test_every_fault_is_reported():
    faults = faults_of(
        {**GOOD, "weights": [-1, "x"], "probabilities": [[2, 2, 0], [0, 0, None]], "max_new": -3}
    )
    assert [fault.split(":")[0] for fault in faults] == [
        "weights[0]",
        "weights[1]",
        "max_new",
        "probabilities[0][0]",
        "probabilities[0][1]",
    ]


def test_of_very_many_faults_the_first_are_kept_and_the_rest_counted():
    with pytest.raises(DocumentError) as raised:
        load(json.dumps({**GOOD, "weights": [-1] * (MAX_FAULTS + 500)}).encode())
    assert len(raised.value.faults) + raised.value.more == MAX_FAULTS + 501


@pytest.mark.parametrize("key", ["kind", "schema_version", "max_new", "weights", "probabilities"])
def test_what_is_needed_is_missed(key):
    assert faults_of({name: value for name, value in GOOD.items() if name != key}) == [f"{key}: is missing"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ":1: not JSON: expecting value (column 1)"),
        (b'{"kind": "selection",\n "max_new": }', ":2: not JSON: expecting value (column 13)"),
        (b"[1]", "is an array, not an object"),
        (b'{\n"a": "\xff"}', ":2: byte 8 is not UTF-8; save the file as UTF-8"),
        (b"[" * 100_000, "nested too deeply to be an instance"),
    ],
    ids=["nothing", "broken", "an array", "no UTF-8", "a tower"],
)
def test_what_is_no_json_object_is_refused_with_its_line(data, expected):
    assert faults_of(data) == [expected]


def test_keys_that_come_twice_are_named_beside_the_other_faults():
    text = json.dumps({**GOOD, "max_new": -1}).replace("[1, -1, 0]}", '[1, -1, 0], "levels": [1, 1]}')
    assert faults_of(text.replace("{", '{"max_new": 2, ', 1).encode()) == [
        "max_new: the key comes twice",
        "probabilities[1].levels: the key comes twice",
        "max_new: is -1, below 0",
    ]


def test_a_number_of_very_many_digits_is_refused():
    assert faults_of(b'{"max_new": ' + b"9" * 10_000 + b"}") == ["a number has more than 4300 digits"]


def test_names_that_do_not_fit_are_not_written():
    with pytest.raises(InvalidInstanceError, match="99 names for"):
        dump(SelectionDocument(instance=tiny(3), classes=("a",) * 99))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from([*GOOD, "max_total", "sizes", "existing", "previous", "classes"]), JSON)
)
@settings(derandomize=True, deadline=None)
def test_whatever_the_values_are_the_answer_is_an_instance_or_its_faults(values):
    try:
        document = load(json.dumps({**GOOD, **values}).encode())
    except DocumentError:
        return
    assert load(dump(document)).instance.max_new == document.instance.max_new


@given(
    st.binary(max_size=40)
    | st.text(alphabet='{}[]":,0123456789.eE-+ntrufalsNI ', max_size=40).map(str.encode)
)
@settings(derandomize=True, deadline=None)
def test_whatever_the_bytes_are_the_faults_are_told(data):
    with pytest.raises(DocumentError):
        load(data)
