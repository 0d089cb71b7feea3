"""Whatever ends a run, nothing half-written stands at the output, and the next run gives the same bytes."""

from __future__ import annotations

import fcntl
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from made_datasets import as_parquet, plan_for, write_tasks

from partition.errors import InputError
from partition.plan.document import dump, load_plan
from partition.rewrite.rewrite import Options, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from partition.plan.document import Plan

TASKS = 110
"""Several parts."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``tasks.parquet``, ``plan.json`` and in ``whole`` what undisturbed runs write."""
    folder = tmp_path_factory.mktemp("place")
    source = as_parquet(write_tasks(folder / "tasks", TASKS), folder / "tasks.parquet")
    plan = plan_for(source, 3)
    (folder / "plan.json").write_bytes(dump(plan))
    (folder / "whole").mkdir()
    for out in ("out.parquet", "out"):
        finish(folder, folder / "whole", out)
    return folder


@pytest.fixture
def plan(place: Path) -> Plan:
    return load_plan(place / "plan.json")


def run(
    place: Path, folder: Path, out: str, *more: str, limit: Callable[[], None] | None = None
) -> subprocess.Popen[bytes]:
    """Start ``envfold rewrite`` in `folder`."""
    command = [
        "rewrite",
        str(place / "plan.json"),
        str(place / "tasks.parquet"),
        out,
        "--workers",
        "2",
        *more,
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "partition", *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=limit,  # noqa: PLW1509 - this process has no threads
    )


def finish(place: Path, folder: Path, out: str) -> None:
    """Run to the end; a worker of a killed run may hold the lock for a moment."""
    for _ in range(100):
        process = run(place, folder, out)
        _, said = process.communicate()
        if process.returncode == 0:
            return
        assert b"another process" in said, said.decode()
        time.sleep(0.1)
    pytest.fail("the lock was never released")


def contents(folder: Path, out: str) -> dict[str, bytes | str]:
    """Return every file of an output and its documents."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.partition("/")[0].partition(".")[0] != out.partition(".")[0] or path.is_dir():
            continue
        found[name] = str(path.readlink()) if path.is_symlink() else path.read_bytes()
    return found


def expected(place: Path, out: str) -> dict[str, bytes | str]:
    whole = contents(place / "whole", out)
    if out == "out":
        return {name: data for name, data in whole.items() if name.startswith("out/")}
    return {name: data for name, data in whole.items() if not name.startswith("out/")}


def count(folder: Path) -> int:
    return len(list(folder.glob("*.json"))) if folder.is_dir() else 0


MOMENTS: dict[str, Callable[[Path], bool]] = {
    "folder": lambda partial: partial.is_dir(),
    "state": lambda partial: (partial / "state.json").exists(),
    "first record": lambda partial: count(partial / "records") >= 1,
    "second record": lambda partial: count(partial / "records") >= 2,
    "rows": lambda partial: (partial / "tasks.parquet").exists() or (partial / "dataset/plan.json").exists(),
    "manifest": lambda partial: any(partial.glob("**/manifest.json")),
}


@pytest.mark.parametrize("out", ["out.parquet", "out"])
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_bytes(
    place: Path, tmp_path: Path, out: str
) -> None:
    partial = tmp_path / f"{out}.partial"
    for reached in MOMENTS.values():
        process = run(place, tmp_path, out)
        while process.poll() is None and not reached(partial):
            time.sleep(0.002)
        process.kill()
        _, said = process.communicate()
        assert process.returncode in {-9, 0} or b"another process" in said, said.decode()
        if process.returncode == 0:
            break
        assert not (tmp_path / out).exists()
    if process.returncode != 0:
        finish(place, tmp_path, out)
    assert not partial.exists()
    assert contents(tmp_path, out) == expected(place, out)


@pytest.mark.parametrize(("out", "most"), [("out.parquet", 60_000), ("out", 20_000)])
def test_a_full_disk_leaves_nothing_half_written(place: Path, tmp_path: Path, out: str, most: int) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    process = run(place, tmp_path, out, limit=limit)
    _, said = process.communicate()
    assert process.returncode == 1, said.decode()
    assert b"not written" in said
    assert b"run the same command again" in said
    assert {path.name for path in tmp_path.iterdir()} == {f"{out}.partial"}
    finish(place, tmp_path, out)
    assert contents(tmp_path, out) == expected(place, out)


class TestTheUnfinishedFolder:
    @pytest.fixture
    def interrupted(self, place: Path, tmp_path: Path) -> Path:
        process = run(place, tmp_path, "out")
        while process.poll() is None and not MOMENTS["first record"](tmp_path / "out.partial"):
            time.sleep(0.002)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 30
        with (tmp_path / "out.partial" / "lock").open() as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
        return tmp_path / "out"

    def test_a_second_process_is_refused(self, place: Path, plan: Plan, interrupted: Path) -> None:
        with (interrupted.with_name("out.partial") / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with pytest.raises(InputError, match="another process is writing out"):
                rewrite(plan, str(place / "tasks.parquet"), str(interrupted), Options(workers=1))

    def test_a_run_for_something_else_says_what_differs_and_what_to_remove(
        self, place: Path, plan: Plan, interrupted: Path
    ) -> None:
        with pytest.raises(InputError, match="interrupted run with another channel") as caught:
            rewrite(
                plan, str(place / "tasks.parquet"), str(interrupted), Options(channel="scripts", workers=1)
            )
        assert f"remove {interrupted}.partial to start anew" in caught.value.hint

    def test_a_part_that_was_changed_meanwhile_is_written_again(self, place: Path, interrupted: Path) -> None:
        victim = next(interrupted.with_name("out.partial").glob("dataset/**/solve.sh"))
        victim.write_text("something else")
        # the same command: the manifest names the output as the command does
        finish(place, interrupted.parent, "out")
        assert contents(interrupted.parent, "out") == expected(place, "out")

    def test_a_folder_of_somebody_else_is_not_taken_over(
        self, place: Path, plan: Plan, tmp_path: Path
    ) -> None:
        (tmp_path / "out.partial").mkdir()
        (tmp_path / "out.partial" / "thesis.tex").write_text("mine")
        with pytest.raises(InputError, match=r"holds thesis\.tex"):
            rewrite(plan, str(place / "tasks.parquet"), str(tmp_path / "out"), Options(workers=1))
        assert (tmp_path / "out.partial" / "thesis.tex").read_text() == "mine"
