"""``python -m solvers compose`` as a person runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TWO_PAGES = [{"capacity": 3, "tiles": [[1, 2], [2, 3], [4, 5], [5, 6]]}]


def compose(records, *arguments):
    command = [sys.executable, "-m", "solvers", "compose", "-", *map(str, arguments)]
    text = records if isinstance(records, str) else json.dumps(records)
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120
    )


def test_sets_that_share_go_together():
    done = compose(TWO_PAGES, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert (answer["objective"], answer["bound"], answer["gap"], answer["status"]) == (2, 2, 0, "OPTIMAL")
    assert [image["venvs"] for image in answer["images"]] == [[0, 1], [2, 3]]


def test_people_get_lines_and_a_table():
    lines = compose(TWO_PAGES).stdout.splitlines()
    assert lines[0] == "objective: 2.0"
    assert lines[-2:] == ["     2        3  0 1", "     2        3  2 3"]


def test_too_few_images_are_infeasible_and_the_sets_in_conflict_are_named():
    done = compose(TWO_PAGES, "--max-environments", 1, "--json")
    assert done.returncode == 1
    assert "error: infeasible: sets that so few images cannot hold: " in done.stderr
    answer = json.loads(done.stdout)
    assert (answer["status"], answer["objective"], answer["images"]) == ("INFEASIBLE", None, [])
    assert len(answer["conflicting"]) >= 2


def test_a_set_larger_than_the_cap_is_refused_by_name_and_the_rest_solved():
    done = compose([{"capacity": 2, "tiles": [[1, 2, 3], [1]]}], "--json")
    assert done.returncode == 0
    assert done.stderr.startswith("refused: venv 0: ")
    assert [image["venvs"] for image in json.loads(done.stdout)["images"]] == [[1]]


def test_the_record_asked_for_is_solved():
    answer = json.loads(
        compose([*TWO_PAGES, {"capacity": 9, "tiles": [[1]]}], "--record", 1, "--json").stdout
    )
    assert (answer["record"], answer["records"], answer["objective"]) == (1, 2, 1)


@pytest.mark.parametrize(
    ("records", "arguments", "expected"),
    [
        ([{"capacity": -1, "tiles": []}], (), "error: stdin: [0].capacity is -1"),
        ([{"capacity": 1, "tiles": [[1], [-1]]}], (), "error: stdin: [0].tiles[1] is [-1]"),
        (TWO_PAGES, ("--record", 1), "error: stdin: has 1 records, the last is 0"),
        ([], (), "error: stdin: has no records"),
        ("{", (), "error: stdin: not JSON"),
    ],
)
def test_bad_input_is_status_1_and_names_the_place(records, arguments, expected):
    done = compose(records, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(expected)
