"""``envfold propose --dump-instance``: what the solver is given, solved again by the solvers alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from spec_tables import three_families, write_table

from solvers.selection.document import load

if TYPE_CHECKING:
    from pathlib import Path


def _run(module: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def _json(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("cap", ["1", "3", "8"])
def test_the_solvers_alone_reach_the_plans_objective_on_swegym(tmp_path: Path, cap: str) -> None:
    plan = _json(
        _run(
            "partition",
            "propose",
            "swegym",
            "--cap",
            cap,
            "--dump-instance",
            "i.json",
            "--json",
            cwd=tmp_path,
        )
    )
    answer = _json(_run("solvers", "select", "i.json", "--json", cwd=tmp_path))
    assert answer["objective"] == pytest.approx(plan["objective"], abs=1e-8)
    assert answer["bound"] == pytest.approx(plan["bound"], abs=1e-8)
    assert answer["status"] == plan["status"] == "OPTIMAL"
    assert sorted(answer["chosen_names"]) == sorted(item["name"] for item in plan["environments"])


def test_what_exists_and_what_was_before_are_in_the_instance(tmp_path: Path) -> None:
    write_table(tmp_path / "specs.csv", three_families())
    first = _run("partition", "propose", "specs.csv", "--cap", "2", "--out", "plan.json", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    standing = ("--existing", "plan.json", "--previous", "plan.json")
    arguments = ("propose", "specs.csv", "--cap", "1", *standing, "--dump-instance", "new/i.json", "--json")
    done = _run("partition", *arguments, cwd=tmp_path)
    plan = _json(done)
    assert "wrote new/i.json" in done.stderr
    document = load((tmp_path / "new" / "i.json").read_bytes())
    assert document.instance.existing.sum() == 2
    assert document.instance.previous is not None
    assert (document.instance.previous >= 0).all()
    assert document.classes[0] == "task-000"
    answer = _json(_run("solvers", "select", "new/i.json", "--json", cwd=tmp_path))
    assert answer["objective"] == pytest.approx(plan["objective"], abs=1e-8)


def test_the_same_dataset_gives_the_same_bytes_and_nothing_is_overwritten(tmp_path: Path) -> None:
    write_table(tmp_path / "specs.csv", three_families())
    arguments = ("propose", "specs.csv", "--cap", "2", "--dump-instance")
    for name in ("a.json", "b.json", "a.json"):
        assert _run("partition", *arguments, name, cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    done = _run("partition", *arguments, "specs.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "something else is there" in done.stderr
