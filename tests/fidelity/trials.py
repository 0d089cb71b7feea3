"""Runs trials with Harbor on podman and records each one as it ends: a run goes on where it stopped."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
harbor_python = runpy.run_path(str(TESTS / "harbor_venvs.py"))["harbor_python"]

AGENTS = {
    "oracle": ("-a", "oracle"),
    "nop": ("-a", "nop"),
    "fork-oracle": ("-a", "fork_agent:ForkAgent", "--agent-kwarg", "solve=true"),
    "fork-nop": ("-a", "fork_agent:ForkAgent", "--agent-kwarg", "solve=false"),
}
"""Options of Harbor by the name of an agent; a fork's upload ``setup_files/`` first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one trial ended with.

    Parameters
    ----------
    phase
        The tree of tasks: ``before``, or the channel that set-up comes through.
    reward
        None where the trial ended without one.
    why
        The exception in that case.
    """

    phase: str
    task: str
    agent: str
    reward: float | None
    why: str = ""

    @property
    def expected(self) -> float:
        """1 for the gold solution, 0 for doing nothing."""
        return 1.0 if self.agent.endswith("oracle") else 0.0


def bin_of_harbor() -> Path:
    """Return the folder of the command, with podman-compose beside it.

    Raises
    ------
    FileNotFoundError
        Harbor's virtual environment has not been made.
    """
    python = harbor_python("content")
    if python is None or not (python.parent / "podman-compose").exists():
        raise FileNotFoundError("no Harbor with podman-compose: python tests/harbor_venvs.py makes it")
    return python.parent


def recorded(path: Path) -> list[Trial]:
    """Return the trials that a file of lines holds; a line that was cut short is none."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            found.append(Trial(**json.loads(line)))
        except ValueError:
            continue
    return found


def run(
    phase: str, tree: Path, names: list[str], agent: str, *, work: Path, results: Path, at_once: int = 2
) -> None:
    """Run what `results` has no reward for yet.

    Parameters
    ----------
    tree
        The folder of tasks; only `names` of it are run.
    work
        Where Harbor may write.
    """
    done = {
        each.task for each in recorded(results)
        if (each.phase, each.agent) == (phase, agent) and each.reward is not None
    }  # fmt: skip
    wanted = [each for each in names if each not in done]
    if not wanted:
        return
    root = work / f"{phase}-{agent}"
    shutil.rmtree(root, ignore_errors=True)
    for each in wanted:
        shutil.copytree(tree / each, root / "tasks" / each, symlinks=True)
    tools = bin_of_harbor()
    env = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": str(TESTS / "rewrite"),
        # the OCI format has no place for SHELL, and podman's builder would ignore it
        "BUILDAH_FORMAT": "docker",
    }
    command = [
        tools / "harbor", "run", "-p", root / "tasks", *AGENTS[agent], "-e", "podman", "--yes",
        "-n", str(at_once), "-o", root / "jobs",
    ]  # fmt: skip
    seen: set[Path] = set()
    with (root / "harbor.log").open("wb") as log:
        process = subprocess.Popen(command, env=env, cwd=root, stdout=log, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None:
                time.sleep(2)
                _record(root / "jobs", phase, agent, results, seen)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    _record(root / "jobs", phase, agent, results, seen)
    if process.returncode and len(seen) < len(wanted):
        raise RuntimeError(
            f"Harbor ended with status {process.returncode}: {(root / 'harbor.log').read_text()[-3000:]}"
        )


def _record(jobs: Path, phase: str, agent: str, results: Path, seen: set[Path]) -> None:
    for path in sorted(jobs.glob("*/*/result.json")):
        if path in seen:
            continue
        try:
            document = json.loads(path.read_text())
        except ValueError:
            continue
        if not document.get("finished_at"):
            continue
        seen.add(path)
        verified = document.get("verifier_result") or {}
        reward = (verified.get("rewards") or {}).get("reward")
        failed = document.get("exception_info") or {}
        why = f"{failed.get('exception_type', '')}: {failed.get('exception_message', '')}" if failed else ""
        name = document["task_name"].rpartition("/")[2]
        trial = Trial(phase=phase, task=name, agent=agent, reward=reward, why=why[-1500:])
        with results.open("a") as lines:
            lines.write(json.dumps(asdict(trial)) + "\n")
        sys.stderr.write(f"{phase:12} {agent:12} {name:24} {reward} {why[:100]}\n")
