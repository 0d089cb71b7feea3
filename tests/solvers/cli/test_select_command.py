"""``python -m solvers select`` as a person runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from generators import dense, families

from solvers.selection.document import SelectionDocument, dump
from solvers.selection.select import select

ROOT = Path(__file__).parents[3]
PATH = "4 3 2\n1 2 1\n2 3 1\n3 4 1\n"


def solvers(*arguments, stdin=None, **others):
    command = [sys.executable, "-m", "solvers", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, check=False, cwd=ROOT, timeout=120, **others
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "instance.json"
    instance = families(1, n=40, m=30, count=3, k=3)
    names = tuple(f"environment {j}" for j in range(30))
    path.write_bytes(dump(SelectionDocument(instance=instance, candidates=names)))
    return path


def test_the_answer_is_the_librarys(file):
    done = solvers("select", file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    result = select(families(1, n=40, m=30, count=3, k=3))
    assert (answer["objective"], answer["bound"], answer["gap"]) == (result.objective, result.bound, 0)
    assert (answer["status"], answer["method"]) == ("OPTIMAL", result.method)
    assert answer["seconds"] >= 0
    assert answer["chosen"] == list(result.chosen)
    assert answer["assignment"] == list(result.assignment)
    assert answer["chosen_names"] == [f"environment {j}" for j in result.chosen]


def test_people_get_lines_and_a_table(file):
    done = solvers("select", file)
    lines = done.stdout.splitlines()
    keys = [line.split(":")[0] for line in lines[: lines.index("")]]
    assert keys[:7] == ["objective", "bound", "gap", "status", "tie_break", "seconds", "method"]
    table = lines[lines.index("") + 1 :]
    assert len(table) == 1 + 3
    assert sum(int(row.split()[0]) for row in table[1:]) == 40


def test_only_the_seconds_differ_between_two_runs(file):
    answers = [json.loads(solvers("select", file, "--json").stdout) for _ in range(2)]
    for answer in answers:
        del answer["seconds"]
    assert answers[0] == answers[1]


def test_k_replaces_that_of_the_file(file):
    one = json.loads(solvers("select", file, "--max-environments", 1, "--json").stdout)
    assert (len(one["chosen"]), one["max_new"]) == (1, 1)
    more_than_there_are = json.loads(solvers("select", file, "--max-environments", 1000, "--json").stdout)
    assert more_than_there_are["status"] == "OPTIMAL"
    none = json.loads(solvers("select", file, "--max-environments", 0, "--json").stdout)
    assert (none["chosen"], none["objective"], set(none["assignment"])) == ([], 0, {-1})


def test_without_time_a_checked_answer_with_its_bound_comes_back(tmp_path):
    path = tmp_path / "dense.json"
    path.write_bytes(dump(SelectionDocument(instance=dense(3, n=80, m=60, k=6))))
    answer = json.loads(solvers("select", path, "--time-limit", 0, "--json").stdout)
    assert answer["status"] == "FEASIBLE"
    assert 0 < answer["objective"] < answer["bound"]
    assert answer["gap"] == pytest.approx(1 - answer["objective"] / answer["bound"])


def test_a_p_median_file_gets_its_cost_in_its_own_unit():
    answer = json.loads(solvers("select", "-", "--json", stdin=PATH).stdout)
    assert (answer["median_cost"], answer["median_bound"], answer["status"]) == (2, 2, "OPTIMAL")
    assert answer["chosen_names"] == [str(j + 1) for j in answer["chosen"]]
    assert len(answer["chosen"]) == 2


def test_an_instance_without_candidates_is_solved():
    empty = {"kind": "selection", "schema_version": "1", "max_new": 2, "weights": [1], "probabilities": [[]]}
    done = solvers("select", "-", stdin=json.dumps(empty))
    assert done.returncode == 0
    assert "(served by none)" in done.stdout


def test_names_cannot_act_on_a_terminal():
    hostile = {
        "kind": "selection",
        "schema_version": "1",
        "max_new": 1,
        "weights": [1],
        "probabilities": [[1]],
        "candidates": ["\x1b[2J\ud800"],
    }
    done = solvers("select", "-", stdin=json.dumps(hostile))
    assert done.returncode == 0
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"kind": "selection",\n', "stdin:2: not JSON: "),
        ("1 2\n", "stdin:1: does not begin with"),
        ("3 1 1\n1 2 nan\n", "stdin:2: nan is not a whole number"),
    ],
)
def test_bad_input_is_status_1_and_names_the_file_and_the_line(text, expected):
    done = solvers("select", "-", stdin=text)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {expected}")
    assert "Traceback" not in done.stderr


def test_bad_numbers_name_the_file_and_the_place_in_it(tmp_path):
    path = tmp_path / "bad.json"
    bad = {"kind": "selection", "schema_version": "1", "max_new": 2, "weights": [-1] * 30}
    path.write_text(json.dumps({**bad, "probabilities": [[0.5, 1.5]] * 30}), encoding="utf-8")
    done = solvers("select", path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"error: {path}: weights[0]: is -1, below 0"
    assert done.stderr.splitlines()[-1] == "60 faults, 20 shown"


def test_a_missing_file_is_status_1(tmp_path):
    done = solvers("select", tmp_path / "none.json")
    assert done.returncode == 1
    assert done.stderr == f"error: {tmp_path / 'none.json'}: not read: No such file or directory\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["select"],
        ["nonsense"],
        ["select", "x", "--time-limit", "-1"],
        ["select", "x", "--time-limit", "nan"],
        ["select", "x", "--max-environments", "-1"],
        ["select", "x", "--max-environments", "1.5"],
        ["select", "x", "--seed", "-1"],
    ],
)
def test_a_wrong_call_is_status_2(arguments):
    done = solvers(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: " in done.stderr


def test_a_full_disk_is_status_1(file):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "solvers", "select", str(file)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr == "error: the answer was not written: No space left on device\n"


def test_nothing_of_partition_is_imported(file):
    code = (
        "import sys; from solvers.cli.main import main; main(sys.argv[1:]);"
        "sys.exit(any(name.split('.')[0] == 'partition' for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "select", str(file)],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0
