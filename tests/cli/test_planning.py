"""propose and sweep as a person runs them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from spec_tables import three_families, write_table

from partition.plan.document import Curve, Plan

if TYPE_CHECKING:
    from pathlib import Path


def _envfold(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "partition", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_table(tmp_path / "specs.csv", three_families())


def test_propose_prints_a_table_that_fits_and_writes_the_plan(table: Path, tmp_path: Path) -> None:
    done = _envfold("propose", table, "--cap", "3", "--out", "plan.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("60 tasks into 3 environments")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "wrote plan.json" in done.stderr
    plan = Plan.model_validate_json((tmp_path / "plan.json").read_bytes())
    assert len(plan.environments) == 3


def test_propose_json_is_the_plan_and_nothing_else(table: Path, tmp_path: Path) -> None:
    done = _envfold("propose", table, "--cap", "3", "--json", cwd=tmp_path)
    raw = json.loads(done.stdout)
    assert {
        "environments",
        "assignment",
        "refused",
        "objective",
        "bound",
        "gap",
        "status",
        "limits",
        "inputs",
        "seed",
        "schema_version",
    } <= raw.keys()
    assert {"name", "snapshot", "dockerfile", "tasks", "venvs", "predicted_size_bytes"} <= raw[
        "environments"
    ][0].keys()
    assert {"environment", "venv", "setup"} <= raw["assignment"]["task-000"].keys()


def test_sweep_writes_the_curve_three_ways_and_says_the_same_in_each(table: Path, tmp_path: Path) -> None:
    done = _envfold("sweep", table, "--max", "5", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "specs.csv-sweep"
    curve = Curve.model_validate_json((folder / "curve.json").read_bytes())
    raw = json.loads(done.stdout)
    assert raw == curve.model_dump(mode="json")
    keys = {"k", "predicted_yield", "low", "high", "bound", "gap", "status", "environments"}
    assert all(keys <= point.keys() for point in raw["points"])
    rows = list(csv.DictReader(io.StringIO((folder / "curve.csv").read_text(encoding="utf-8"))))
    ours = [float(row["predicted_yield"]) for row in rows if row["rule"] == "envfold"]
    assert ours == [point.predicted_yield for point in curve.points]
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_the_sweep_is_never_below_a_rule_and_every_point_is_proven(table: Path, tmp_path: Path) -> None:
    raw = json.loads(_envfold("sweep", table, "--max", "6", "--json", cwd=tmp_path).stdout)
    assert {point["status"] for point in raw["points"]} == {"OPTIMAL"}
    assert len(raw["comparisons"]) == 5
    for points in raw["comparisons"].values():
        for ours, rule in zip(raw["points"], points, strict=True):
            assert ours["predicted_yield"] >= rule["predicted_yield"] - 1e-9


def test_a_second_run_writes_the_same_bytes_and_never_overwrites(table: Path, tmp_path: Path) -> None:
    files = ("curve.json", "curve.csv", "curve.png")
    assert _envfold("sweep", table, "--max", "3", "--out", "out", cwd=tmp_path).returncode == 0
    before = [(tmp_path / "out" / name).read_bytes() for name in files]
    assert _envfold("sweep", table, "--max", "3", "--out", "out", cwd=tmp_path).returncode == 0
    assert [(tmp_path / "out" / name).read_bytes() for name in files] == before
    other = _envfold("sweep", table, "--max", "4", "--out", "out", cwd=tmp_path)
    assert other.returncode == 1
    assert "something else is there" in other.stderr
    assert [(tmp_path / "out" / name).read_bytes() for name in files] == before


def test_the_table_of_a_sweep_fits_80_columns(table: Path, tmp_path: Path) -> None:
    done = _envfold("sweep", table, "--max", "3", cwd=tmp_path)
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("propose", "specs.csv", "--cap", "0"), 2, "cannot hold a task"),
        (("propose", "specs.csv", "--cap", "-2"), 2, "cannot hold a task"),
        (("propose", "specs.csv", "--cap", "many"), 2, "many"),
        (("sweep", "specs.csv", "--max", "0"), 2, "no range"),
        (("sweep", "specs.csv", "--min", "5", "--max", "4"), 2, "no range"),
        (("propose", "nowhere"), 1, "nowhere"),
        (("propose", "specs.csv", "--existing", "none.txt"), 1, "none.txt"),
        (("propose", "specs.csv", "--previous", "specs.csv"), 1, "not JSON"),
    ],
)
def test_bad_calls_end_with_their_status_and_a_message(
    table: Path, tmp_path: Path, arguments: tuple[str, ...], status: int, message: str
) -> None:
    done = _envfold(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["specs.csv"]


def test_a_sweep_never_goes_above_the_presets_caps(table: Path, tmp_path: Path) -> None:
    done = _envfold("sweep", table, "--preset", "daytona", "--json", cwd=tmp_path)
    assert [point["k"] for point in json.loads(done.stdout)["points"]] == list(range(1, 11))
    above = _envfold("sweep", table, "--preset", "daytona", "--min", "11", cwd=tmp_path)
    assert above.returncode == 4
    assert "allow 10 new snapshots" in above.stderr


def test_a_full_organisation_is_a_cap_error(table: Path, tmp_path: Path) -> None:
    names = "\n".join(f"harbor__{number:012x}__snapshot" for number in range(40))
    (tmp_path / "existing.txt").write_text(names, encoding="utf-8")
    done = _envfold("propose", table, "--preset", "daytona", "--existing", "existing.txt", cwd=tmp_path)
    assert done.returncode == 4
    assert "leave no room" in done.stderr
