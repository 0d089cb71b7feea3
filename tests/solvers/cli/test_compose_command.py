"""``python -m solvers compose`` as a person runs it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from composition.cases import families

from solvers.composition.compose import compose
from solvers.composition.document import CompositionDocument, dump
from solvers.composition.instance import Goal

ROOT = Path(__file__).parents[3]
TWO_PAGES = [{"capacity": 3, "tiles": [[1, 2], [2, 3], [4, 5], [5, 6]]}]
NAMED = {
    "kind": "composition",
    "schema_version": "1",
    "goal": "FEWEST_IMAGES",
    "capacity": 40,
    "sizes": [10, 20, 5],
    "venvs": [[0, 2], [1, 2], [0]],
    "base_sizes": [3, 10],
    "weights": [4, 2],
    "class_venvs": [0, 1],
    "package_names": ["numpy", "pandas", "six"],
    "venv_names": ["early", "late", "small"],
    "base_names": ["debian 11", "debian 12"],
    "class_names": ["old tasks", "new tasks"],
}


def test_the_answer_of_a_process_is_the_librarys(tmp_path):
    path = tmp_path / "instance.json"
    instance = families(3, venvs=12, packages=20, capacity=90, max_images=3, goal=Goal.COVERAGE)
    path.write_bytes(dump(CompositionDocument(instance=instance)))
    command = [sys.executable, "-m", "solvers", "compose", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    result = compose(instance)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [f"refused: {sentence}" for sentence in result.refused]
    answer = json.loads(done.stdout)
    assert (answer["objective"], answer["bound"], answer["gap"]) == (
        result.objective,
        result.bound,
        result.gap,
    )
    assert (answer["status"], answer["method"], answer["goal"]) == (result.status, result.method, "COVERAGE")
    assert [image["venvs"] for image in answer["images"]] == [list(image.venvs) for image in result.images]
    assert answer["assignment"] == list(result.assignment)


def test_sets_that_share_go_together(solved):
    status, out, err = solved("compose", TWO_PAGES, "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert (answer["objective"], answer["bound"], answer["gap"], answer["status"]) == (2, 2, 0, "OPTIMAL")
    assert [image["venvs"] for image in answer["images"]] == [[0, 1], [2, 3]]


def test_people_get_lines_and_a_table(solved):
    lines = solved("compose", TWO_PAGES)[1].splitlines()
    assert lines[:2] == ["goal: FEWEST_IMAGES", "objective: 2.0"]
    assert [line.split() for line in lines[-3:]] == [
        ["venvs", "classes", "size", "base:", "which"],
        ["2", "0", "3", "0:", "0", "1"],
        ["2", "0", "3", "0:", "2", "3"],
    ]


def test_names_are_in_the_table(solved):
    lines = solved("compose", NAMED)[1].splitlines()
    assert lines[-1].split(maxsplit=3) == ["3", "2", "38", "debian 11: early, late, small"]


def test_names_are_in_the_answer(solved):
    answer = json.loads(solved("compose", {**NAMED, "capacity": 30}, "--json")[1])
    assert [image["base_name"] for image in answer["images"]] == ["debian 11"] * 2
    assert [image["venv_names"] for image in answer["images"]] == [["early", "small"], ["late"]]
    assert [image["package_names"] for image in answer["images"]] == [["numpy", "six"], ["pandas", "six"]]
    assert answer["assignment_names"] == {"old tasks": 0, "new tasks": 1}


def test_classes_that_no_image_serves_are_told(solved):
    document = {**NAMED, "goal": "COVERAGE", "max_images": 0}
    assert solved("compose", document)[1].splitlines()[-1].split(maxsplit=1) == ["2", "(served by none)"]
    answer = json.loads(solved("compose", document, "--json")[1])
    assert answer["assignment_names"] == {"old tasks": None, "new tasks": None}


def test_names_cannot_act_on_a_terminal(solved):
    hostile = {**NAMED, "venv_names": ["\x1b[2J", "\ud800", "\u202e"], "capacity": 30, "max_images": 1}
    for cap in (1, 2):
        _, out, err = solved("compose", hostile, "--max-environments", cap)
        assert not {"\x1b", "\ud800", "\u202e"} & set(out + err)


def test_k_replaces_that_of_the_file(solved):
    document = {**NAMED, "goal": "COVERAGE", "max_images": 0}
    answer = json.loads(solved("compose", document, "--max-environments", 7, "--json")[1])
    assert (answer["max_images"], answer["objective"], answer["status"]) == (7, 6, "OPTIMAL")


def test_the_record_asked_for_is_solved(solved):
    records = [*TWO_PAGES, {"capacity": 9, "tiles": [[1]]}]
    answer = json.loads(solved("compose", records, "--record", 1, "--json")[1])
    assert (answer["record"], answer["records"], answer["objective"]) == (1, 2, 1)


@pytest.mark.parametrize(
    ("document", "options", "expected"),
    [
        (TWO_PAGES, ("--record", 1), "has 1 records, the last is 0"),
        ([], (), "has no records"),
        (NAMED, ("--record", 0), "is one instance, without records"),
    ],
)
def test_a_record_that_is_not_there_is_status_1(solved, document, options, expected):
    assert solved("compose", document, *options) == (1, "", f"error: FILE: {expected}\n")


def test_only_the_seconds_differ_between_two_runs(solved):
    instance = families(5, venvs=15, packages=25, capacity=90, max_images=None, goal=Goal.FEWEST_IMAGES)
    data = dump(CompositionDocument(instance=replace(instance, conflicts=())))
    answers = [json.loads(solved("compose", data, "--json")[1]) for _ in range(2)]
    for answer in answers:
        del answer["seconds"]
    assert answers[0] == answers[1]
