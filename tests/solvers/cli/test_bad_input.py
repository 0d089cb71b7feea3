"""What is wrong with an instance is said on stderr with file and place, and is status 1, never a crash."""

import json

import pytest
from composition.cases import families
from generators import dense
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solvers.cli.main import main
from solvers.composition.document import CompositionDocument
from solvers.composition.document import dump as dump_composition
from solvers.composition.instance import Goal
from solvers.selection.document import SelectionDocument, dump

SELECTION = {
    "kind": "selection",
    "schema_version": "1",
    "max_new": 1,
    "weights": [3, 2],
    "probabilities": [[0.5, None], [0.25, 1]],
}
COMPOSITION = {
    "kind": "composition",
    "schema_version": "1",
    "goal": "FEWEST_IMAGES",
    "capacity": 9,
    "sizes": [4, 5, 30],
    "venvs": [[0], [1]],
    "weights": [3, 2],
    "class_venvs": [0, 1],
    "package_names": ["libfoo", "libbar", "huge"],
    "venv_names": ["one", "two"],
    "class_names": ["x", "y"],
}

NO_DOCUMENTS = {
    "empty": (b"", "FILE: is empty"),
    "blank": (b" \r\n", "FILE: is empty"),
    "an image": (b"\x89PNG\r\n\x1a\n\x00", "FILE:1: byte 0 is not UTF-8; save the file as UTF-8"),
    "an archive": (b'{"kind":\n"\xff\x00"}', "FILE:2: byte 10 is not UTF-8; save the file as UTF-8"),
    "a tower of arrays": (b"[" * 10**6, "FILE: nested too deeply to be an instance"),
    "a tower of objects": (b'{"a":' * 10**6, "FILE: nested too deeply to be an instance"),
    "very many digits": (b'{"kind": 1' + b"0" * 5000 + b"}", "FILE: a number has more than 4300 digits"),
    "half of it": (b'{"kind": "selec', "FILE:1: not JSON: unterminated string starting at (column 10)"),
    "another kind": (b'{"kind": "plan", "schema_version": "1"}', "FILE: kind: is 'plan', not '{}'"),
    "a later version": (b'{"kind": "{}", "schema_version": "2"}', "FILE: schema_version: is '2', not '1'"),
}


@pytest.mark.parametrize("command", ["select", "compose"])
@pytest.mark.parametrize("case", NO_DOCUMENTS)
def test_what_is_no_instance_is_refused_in_one_line(solved, command, case):
    data, expected = NO_DOCUMENTS[case]
    kind = {"select": "selection", "compose": "composition"}[command]
    data = data.replace(b"{}", kind.encode())
    assert solved(command, data) == (1, "", f"error: {expected.format(kind)}\n")


@pytest.mark.parametrize("command", ["select", "compose"])
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path, capsys, command):
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "none", "No such file or directory")):
        assert main([command, str(path)]) == 1
        assert capsys.readouterr() == ("", f"error: {path}: not read: {why}\n")


@pytest.mark.parametrize(
    ("command", "change", "expected"),
    [
        ("select", {"weights": [float("nan"), 2]}, "weights[0]: is nan, not a finite number"),
        ("select", {"weights": [3, -2]}, "weights[1]: is -2, below 0"),
        ("select", {"weights": [3, 10**400]}, f"weights[1]: is 1{'0' * 36}..., not a finite number"),
        ("select", {"probabilities": [[0, float("nan")], [0, 0]]}, "probabilities[0][1]: is not a number"),
        ("select", {"probabilities": [[0, 0], [0, 1.5]]}, "probabilities[1][1]: is 1.5, outside [0, 1]"),
        ("select", {"probabilities": [[0, 0], [-1e-9, 0]]}, "probabilities[1][0]: is -1e-09, outside [0, 1]"),
        ("select", {"sizes": [0, -1]}, "sizes[1]: is -1, below 0"),
        ("select", {"max_new": 10**400, "max_total": -1}, "max_total: is -1, below 0"),
        ("compose", {"weights": [3, float("-inf")]}, "weights[1]: is -inf, not a finite number"),
        ("compose", {"baked": [1, float("nan")]}, "baked[1]: is not a number"),
        ("compose", {"fallback": [-0.5, 0]}, "fallback[0]: is -0.5, outside [0, 1]"),
        ("compose", {"sizes": [4, -5, 30]}, "sizes[1]: is -5, below 0"),
        ("compose", {"sizes": [4, 5, 10**400]}, f"sizes[2]: is 1{'0' * 36}..., 2**53 or more"),
        ("compose", {"venvs": [[0], [10**400]]}, f"venvs[1][0]: is 1{'0' * 36}..., not an index from 0 to 2"),
        ("compose", {"max_images": 10**400, "capacity": -1}, "capacity: is -1, below 0"),
        ("compose", {"conflicts": [[1, 1]]}, "conflicts[0]: sets package 1 against itself"),
    ],
)
def test_a_number_out_of_range_is_named_by_its_place(solved, command, change, expected):
    document = {**(SELECTION if command == "select" else COMPOSITION), **change}
    assert solved(command, document) == (1, "", f"error: FILE: {expected}\n")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"capacity": 10**400, "tiles": []}, f"[0].capacity: is 1{'0' * 36}..., 2**53 or more"),
        ({"capacity": float("nan"), "tiles": []}, "[0].capacity: is nan, not a whole number"),
        ({"capacity": 1, "tiles": [[-1]]}, "[0].tiles[0][0]: is -1, not a whole number >= 0"),
    ],
)
def test_a_number_out_of_range_in_a_pagination_file_is_named_by_its_record(solved, record, expected):
    assert solved("compose", [record]) == (1, "", f"error: FILE: {expected}\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("3 2 4\n1 2 4\n2 3 4\n", 1),
        (f"3 2 1\n1 2 4\n2 3 {10**400}\n", 3),
        ("3 2 1\n1 2 -4\n2 3 4\n", 2),
        ("3 2 1\n1 2 nan\n2 3 4\n", 2),
        ("3 2 1\n1 9 4\n2 3 4\n", 2),
    ],
    ids=["more medians than vertices", "huge", "negative", "nan", "no such vertex"],
)
def test_a_number_out_of_range_in_a_median_file_is_named_by_its_line(solved, text, line):
    status, out, err = solved("select", text)
    assert (status, out) == (1, "")
    assert err.startswith(f"error: FILE:{line}: ")


@pytest.mark.parametrize(("command", "good"), [("select", SELECTION), ("compose", COMPOSITION)])
def test_keys_that_come_twice_and_unknown_ones_are_told_with_every_other_fault(solved, command, good):
    text = json.dumps({**good, "weights": [-1, -1]}).replace("{", '{"weight": 1, "kind": 1, ', 1)
    status, out, err = solved(command, text)
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "error: FILE: kind: the key comes twice",
        "error: FILE: weight: is not a key of this format",
        "error: FILE: weights[0]: is -1, below 0",
        "error: FILE: weights[1]: is -1, below 0",
        "4 faults",
    ]


@pytest.mark.parametrize(
    ("command", "document"),
    [
        ("select", {**SELECTION, "weights": [], "probabilities": []}),
        ("select", {**SELECTION, "probabilities": [[], []]}),
        ("select", {**SELECTION, "max_new": 0}),
        ("compose", {"kind": "composition", "schema_version": "1", "goal": "FEWEST_IMAGES", "capacity": 0}
         | {"sizes": [], "venvs": []}),
        ("compose", {**COMPOSITION, "goal": "COVERAGE", "max_images": 0}),
        ("compose", {**COMPOSITION, "goal": "COVERAGE", "max_images": 1, "weights": [0, 0]}),
        ("compose", [{"capacity": 0, "tiles": []}]),
    ],
)  # fmt: skip
def test_of_nothing_the_best_is_nothing(solved, command, document):
    status, out, err = solved(command, document, "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert (answer["objective"], answer["bound"], answer["status"]) == (0, 0, "OPTIMAL")


def test_sets_of_nothing_share_one_image(solved):
    answer = json.loads(solved("compose", {**COMPOSITION, "venvs": [[], []]}, "--json")[1])
    assert [image["size"] for image in answer["images"]] == [0]
    assert json.loads(solved("compose", [{"capacity": 0, "tiles": [[], []]}], "--json")[1])["objective"] == 1


@pytest.mark.parametrize("k", [3, 10**9])
@pytest.mark.parametrize(
    ("command", "document"),
    [("select", SELECTION), ("compose", {**COMPOSITION, "goal": "COVERAGE", "max_images": 0})],
)
def test_more_places_than_there_is_to_place_are_no_fault(solved, command, document, k):
    status, out, err = solved(command, document, "--max-environments", k, "--json")
    assert (status, err, json.loads(out)["status"]) == (0, "", "OPTIMAL")


REFUSED = {
    "larger than the cap": (
        {"venvs": [[2], [1]]},
        "{} (one): it needs 30 bytes and 0 for base 0, the capacity is 9",
    ),
    "in conflict with itself": (
        {"venvs": [[0, 1], [1]], "conflicts": [[0, 1]]},
        "{} (one): it needs packages 0 and 1 (libfoo, libbar), which conflict",
    ),
    "on no base": ({"runs_on": [[], [0]]}, "{} (one): no base suits it"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_venv_that_fits_nowhere_is_refused_by_name_and_the_rest_solved(solved, case):
    change, why = REFUSED[case]
    status, out, err = solved("compose", {**COMPOSITION, **change}, "--json")
    assert status == 0
    assert err.splitlines() == [
        f"refused: {why.format('venv 0')}",
        f"refused: {why.format('class 0 (x) with its venv 0')}",
    ]
    answer = json.loads(out)
    assert (answer["status"], [image["venv_names"] for image in answer["images"]]) == ("OPTIMAL", [["two"]])
    assert [f"refused: {sentence}" for sentence in answer["refused"]] == err.splitlines()


@pytest.mark.parametrize("goal", ["COVERAGE", "FEWEST_IMAGES"])
def test_a_class_that_forbids_its_own_venv_is_refused_by_name_and_the_rest_solved(solved, goal):
    document = {**COMPOSITION, "goal": goal, "max_images": 2, "forbids": [[0], []]}
    status, out, err = solved("compose", document, "--json")
    assert (status, json.loads(out)["status"]) == (0, "OPTIMAL")
    assert (
        err == "refused: class 0 (x) with its venv 0 (one): it needs packages 0 (libfoo), which it forbids\n"
    )


@pytest.mark.parametrize("limit", [0, 60])
@pytest.mark.parametrize(
    "change",
    [{"capacity": 8}, {"conflicts": [[0, 1]]}, {"forbids": [[1], []]}],
    ids=["too large together", "in conflict", "forbidden"],
)
def test_what_too_few_images_cannot_hold_is_named(solved, change, limit):
    document = {**COMPOSITION, "max_images": 1, **change}
    status, out, err = solved("compose", document, "--json", "--time-limit", limit)
    assert status == 1
    assert err == "error: infeasible: at most 1 images cannot hold all of these venvs: one, two\n"
    answer = json.loads(out)
    assert (answer["status"], answer["objective"], answer["gap"], answer["images"]) == (
        "INFEASIBLE",
        None,
        None,
        [],
    )
    assert (answer["conflicting"], answer["conflicting_names"]) == ([0, 1], ["one", "two"])


def test_a_limit_of_zero_gives_a_checked_answer_with_a_bound(solved):
    selection = dump(SelectionDocument(instance=dense(3, n=80, m=60, k=6)))
    answer = json.loads(solved("select", selection, "--time-limit", 0, "--json")[1])
    assert (answer["status"], answer["objective"] < answer["bound"]) == ("FEASIBLE", True)
    for goal, cap in ((Goal.COVERAGE, 2), (Goal.FEWEST_IMAGES, None)):
        instance = families(4, venvs=30, packages=60, capacity=200, max_images=cap, goal=goal)
        data = dump_composition(CompositionDocument(instance=instance))
        status, out, _ = solved("compose", data, "--time-limit", 0, "--json")
        answer = json.loads(out)
        assert (status, 0 <= answer["gap"] < 1, answer["bound"] > 0) == (0, True, True)
        assert answer["status"] == ("FEASIBLE" if answer["gap"] else "OPTIMAL")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@pytest.mark.parametrize(("command", "good"), [("select", SELECTION), ("compose", COMPOSITION)])
@given(data=st.data())
@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_values_are_it_is_solved_or_refused(solved, command, good, data):
    changed = data.draw(st.dictionaries(st.sampled_from(sorted(good)), JSON, min_size=1, max_size=2))
    status, out, err = solved(command, {**good, **changed}, "--time-limit", 1)
    assert status in {0, 1}, err
    assert "Traceback" not in err
    assert bool(out) == (status == 0 or "infeasible" in err)
