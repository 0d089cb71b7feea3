"""``envfold count`` from end to end."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from partition.cli.main import main

DOCKERFILE = b"FROM python:3.12\nRUN pip install numpy\n"
NAME = "harbor__53e1b0642aa1__snapshot"


def files(dockerfile: bytes = DOCKERFILE, toml: bytes = b"", **others: bytes) -> dict[str, bytes]:
    return {
        "instruction.md": b"Do it.\n",
        "task.toml": b'version = "1.0"\n' + toml,
        "environment/Dockerfile": dockerfile,
        "tests/test.sh": b"exit 0\n",
        **others,
    }


def write_directory(root, tasks: dict[str, dict[str, bytes]]):
    for name, content in tasks.items():
        for path, data in content.items():
            place = root / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    return str(root)


def write_parquet(path, tasks: dict[str, dict[str, bytes]]):
    rows = []
    for name, content in tasks.items():
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz") as archive:
            for place, data in content.items():
                member = tarfile.TarInfo(f"{name}/{place}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        rows.append({"path": name, "task_binary": stream.getvalue()})
    pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    status = main(["count", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def document(capsys, *arguments: str) -> dict:
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


@pytest.fixture
def tasks() -> dict[str, dict[str, bytes]]:
    return {
        "a": files(toml=b"[environment]\nmemory_mb = 2048\n"),
        "b": files(toml=b'[environment]\nmemory = "4G"\n'),
        "c": files(DOCKERFILE.rstrip(b"\n")),
        "d": files(toml=b'[verifier]\nenvironment_mode = "separate"\n', **{"tests/Dockerfile": b"FROM a\n"}),
        "e": files(**{"environment/docker-compose.yaml": b"services: {}\n"}),
    }


@pytest.mark.parametrize("kind", ["directory", "parquet"])
def test_json_has_the_keys_that_others_read(capsys, tmp_path, tasks, kind):
    write = write_directory if kind == "directory" else write_parquet
    found = document(capsys, write(tmp_path / ("set" if kind == "directory" else "set.parquet"), tasks))
    assert found["tasks"] == 5
    assert found["snapshots"] == 3
    assert found["key"] == "content"
    assert found["environment_snapshots"] == 2
    assert found["verifier_snapshots"] == 1
    assert found["unfoldable"] == [{"task": "e", "reason": "compose"}]
    assert found["false_duplicates_saved"] == 1
    (collision,) = found["resource_collisions"]
    assert collision["snapshot"] == NAME
    assert collision["tasks"] == 3
    assert [wish["memory_mb"] for wish in collision["resources"]] == [2048, 4096, None]
    assert {(cap["preset"], cap["holds"], cap["enforced"]) for cap in found["caps"]} == {
        ("daytona", True, False),
        ("daytona-60", True, False),
        ("dataset", True, False),
    }
    assert found["faults"] == []


def test_same_input_gives_the_same_bytes(capsys, tmp_path, tasks):
    root = write_directory(tmp_path / "set", tasks)
    assert run(capsys, root, "--json") == run(capsys, root, "--json")
    assert run(capsys, root) == run(capsys, root)


def test_the_text_fits_eighty_columns_and_has_the_number(capsys, tmp_path, tasks):
    tasks = {f"{name}-{'x' * 100}": content for name, content in tasks.items()}
    status, out, err = run(capsys, write_directory(tmp_path / "set", tasks), "--cap", "9")
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert ["snapshots", "3"] in [line.split()[:2] for line in out.splitlines()]
    for part in ("Left alone", "False duplicates", "Resource collisions", "holds"):
        assert part in out


@pytest.mark.parametrize("kind", ["directory", "parquet"])
def test_no_byte_is_written_to_any_file(tmp_path, tasks, kind):
    """The kernel refuses them (RLIMIT_FSIZE), and the count is the same."""
    write = write_directory if kind == "directory" else write_parquet
    source = write(tmp_path / ("set" if kind == "directory" else "set.parquet"), tasks)
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
        "from partition.cli.main import main; sys.exit(main(['count', sys.argv[1], '--json']))"
    )
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-c", program, source], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["snapshots"] == 3
    assert sorted(tmp_path.rglob("*")) == before


def test_neither_locale_nor_time_nor_permissions_change_the_answer(tmp_path, tasks):
    """CASES 6; CASES 26: both ways to forbid the network leave the key alone."""
    tasks["b"] = files(toml=b"[environment]\nallow_internet = false\n", **{"environment/é/日本": b"1"})
    tasks["c"] = files(toml=b'[environment]\nnetwork_mode = "no-network"\n', **{"environment/é/日本": b"1"})
    source = write_directory(tmp_path / "set", tasks)
    answers = []
    for locale in ("C", "C.UTF-8"):
        done = subprocess.run(
            [sys.executable, "-m", "partition", "count", source, "--json"],
            capture_output=True,
            check=True,
            env={**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        )
        answers.append(json.loads(done.stdout))
        for path in (tmp_path / "set").rglob("*"):
            os.utime(path, (0, 0))
            path.chmod(0o700)
    assert answers[0] == answers[1]
    assert (answers[0]["snapshots"], answers[0]["faults"]) == (3, [])


def test_the_legacy_key_gives_other_names(capsys, tmp_path):
    root = write_directory(tmp_path / "set", {"a": files(**{"environment/.git/HEAD": b"x"}), "b": files()})
    assert document(capsys, root)["snapshots"] == 1
    legacy = document(capsys, root, "--key", "legacy")
    assert (legacy["snapshots"], legacy["key"], legacy["false_duplicates_saved"]) == (2, "legacy", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cap", "2"], "--cap: 3 snapshots to build, and 2 are allowed"),
        (["--cap", "2", "--strict"], "--cap: 3 snapshots to build, and 2 are allowed"),
    ],
)
def test_a_cap_that_would_be_exceeded_is_status_4_after_the_result(
    capsys, tmp_path, tasks, arguments, message
):
    status, out, err = run(capsys, write_directory(tmp_path / "set", tasks), *arguments)
    assert status == 4
    assert "snapshots                                3" in out
    assert "EXCEEDED" in out
    assert message in err
    assert "hint:" in err


def test_presets_are_enforced_when_they_are_named(capsys, tmp_path):
    many = {f"t{number}": files(b"FROM a:%d\n" % number) for number in range(11)}
    root = write_directory(tmp_path / "set", many)
    assert run(capsys, root)[0] == 0
    assert run(capsys, root, "--preset", "daytona")[0] == 4
    assert run(capsys, root, "--preset", "daytona-60", "--preset", "dataset")[0] == 4
    status, out, _ = run(capsys, root, "--preset", "dataset", "--json")
    assert status == 4
    broken = [cap for cap in json.loads(out)["caps"] if not cap["holds"]]
    assert {key: broken[0][key] for key in ("preset", "cap", "limit", "value")} == {
        "preset": "dataset",
        "cap": "snapshots of the dataset",
        "limit": 9,
        "value": 11,
    }


@pytest.mark.parametrize("text", [f"{NAME}\nother\n", json.dumps([NAME, "other"])])
def test_existing_snapshots_cost_nothing(capsys, tmp_path, tasks, text, monkeypatch):
    root = write_directory(tmp_path / "set", tasks)
    existing = tmp_path / "existing"
    existing.write_text(text)
    found = document(capsys, root, "--cap", "2", "--existing", str(existing))
    assert (found["existing_snapshots"], found["new_snapshots"]) == (1, 2)
    organisation = next(cap for cap in found["caps"] if cap["cap"] == "snapshots of the organisation")
    assert organisation["value"] == 4
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert document(capsys, root, "--existing", "-")["new_snapshots"] == 2


def test_a_target_is_part_of_the_names(capsys, tmp_path, tasks):
    existing = tmp_path / "existing"
    existing.write_text(NAME.replace("__snapshot", "__us__snapshot"))
    root = write_directory(tmp_path / "set", tasks)
    assert document(capsys, root, "--existing", str(existing))["existing_snapshots"] == 0
    assert document(capsys, root, "--existing", str(existing), "--target", "us")["existing_snapshots"] == 1


def test_a_bad_task_is_listed_and_counted_and_strict_stops(capsys, tmp_path, tasks):
    tasks["bad"] = files(toml=b"[environment\n")
    root = write_directory(tmp_path / "set", tasks)
    status, out, err = run(capsys, root, "--json")
    found = json.loads(out)
    assert status == 0
    assert (found["tasks"], found["uncounted"], found["snapshots"]) == (5, 1, 3)
    assert [(fault["task"], fault["where"]) for fault in found["faults"]] == [
        ("bad", f"{root}/bad/task.toml:2")
    ]
    assert f"{root}/bad/task.toml:2" in err
    assert run(capsys, root, "--strict")[0] == 1


def test_a_dockerfile_at_fault_is_named_with_its_line(capsys, tmp_path):
    root = write_directory(tmp_path / "set", {"a": files(b"FROM a\nCOPPY x y\n")})
    status, _, err = run(capsys, root, "--strict")
    assert status == 1
    assert f"{root}/a/environment/Dockerfile:2" in err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--cap", "0"], 2), (["--cap", "-3"], 2), (["--preset", "x"], 2), (["--key", "x"], 2)],
)
def test_a_call_that_means_nothing_is_usage(capsys, tmp_path, tasks, arguments, status):
    found = run(capsys, write_directory(tmp_path / "set", tasks), *arguments)
    assert found[:2] == (status, "")
    assert found[2]


def test_what_cannot_be_read_is_the_inputs_fault(capsys, tmp_path, tasks):
    root = write_directory(tmp_path / "set", tasks)
    assert run(capsys, str(tmp_path / "nowhere"))[0] == 1
    status, out, err = run(capsys, root, "--existing", str(tmp_path / "nowhere"))
    assert (status, out) == (1, "")
    assert "nowhere: cannot be read: No such file or directory" in err


def test_a_dataset_with_nothing_but_faults_is_an_error(capsys, tmp_path):
    root = write_directory(tmp_path / "set", {"a": files(toml=b"[environment\n")})
    assert run(capsys, root)[0] == 1


def test_each_distinct_row_of_a_spec_table_counts_as_one_environment(capsys):
    found = document(capsys, "swegym")
    assert (found["tasks"], found["specs"], found["snapshots"]) == (2438, 2438, 387)
    assert found["unfoldable"] == []
    assert found["false_duplicates_saved"] == 0
    assert run(capsys, "swegym", "--cap", "10")[0] == 4
