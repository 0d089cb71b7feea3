"""Each channel with Harbor itself on podman: the gold solution passes, and doing nothing does not."""

from __future__ import annotations

import hashlib
import json
import os
import random
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest
from programs import file, folder, program, sh

from partition.rewrite.channel import Delivered, deliver, payload_of
from partition.rewrite.setup import Setup, setup_of
from partition.tasks.model import Entry, Kind, Task, Tree

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.harbor, pytest.mark.containers]

TEST = """\
#!/bin/bash
reward=0
cd /work || exit 1
if sha256sum -c sum && [ "$(cat answer)" = "$GREETING" ] &&
    [ "$(id -un)" = "$WHO" ] && [ "$PWD" = /work ] &&
    ! [ -e /opt/envfold ] && ! [ -e /setup_files/setup.sh ] &&
    ! grep -rqs left-over /var/lib/envfold /tmp; then
    reward=1
fi
echo $reward >/logs/verifier/reward.txt
"""
SOLVE = '#!/bin/bash\nset -eu\ncd /work\nprintf "%s" "$GREETING" >answer\n'


@pytest.fixture(scope="module")
def harbor(containers):
    """Return the command, with podman-compose beside it."""
    python = runpy.run_path(str(ROOT / "tests" / "harbor_venvs.py"))["harbor_python"]("content")
    lacking = None
    if python is None:
        lacking = "no Harbor: python tests/harbor_venvs.py makes its environment"
    elif not (python.parent / "podman-compose").exists() and shutil.which("podman-compose") is None:
        lacking = f"no podman-compose: {python} -m pip install podman-compose"
    if lacking:
        if os.environ.get("CI"):
            pytest.fail(lacking)
        pytest.skip(lacking)
    return python.parent


def write(tree: Tree, target: Path) -> None:
    target.mkdir(parents=True)
    for entry in tree.entries:
        path = target / entry.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.kind is Kind.DIRECTORY:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(entry.read())
            path.chmod(entry.mode)


def source(name: str, user: str) -> Task:
    """Return a task that only folding changes."""
    texts = {
        "instruction.md": "Write $GREETING to /work/answer.\n",
        "task.toml": f'# kept\n[agent]\ntimeout_sec = 120.0\n\n[environment.env]\nWHO = "{user}"\n',
        "solution/solve.sh": SOLVE,
        "tests/test.sh": TEST,
        "environment/Dockerfile": "FROM debian:bookworm\n",
    }  # fmt: skip
    entries = tuple(
        Entry(path=path, source=text.encode(), size=len(text), mode=0o755 if path.endswith(".sh") else 0o644)
        for path, text in sorted(texts.items())
    )
    return Task(id=name, where=name, files=Tree(entries, name=name))


def folded(channel: str, size: int) -> tuple[str, Task, Setup, object]:
    user = "root" if channel == "scripts" else "app"
    name = f"{channel}-{size}"
    data = random.Random(size).randbytes(size)
    made = program(
        sh(2, f"useradd --create-home app; echo left-over-{name} >&2"),
        folder(3, "/work"),
        file(4, "/work/data", data, 0o640, owner=user),
        sh(5, "sha256sum data >sum && chown $WHO . sum", environment=(("WHO", user),), workdir="/work"),
        environment=(("GREETING", "hi, it's me"),),
        workdir="/work",
        user=None if user == "root" else user,
    )
    setup = setup_of(made, ["/work"], hidden=["WHO"])
    assert isinstance(setup, Setup)
    return name, source(name, user), setup, made


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """Write small and large tasks for every channel, all of them with one environment."""
    made = [
        folded(channel, size)
        for channel in ("healthcheck", "scripts", "setup-files")
        for size in (100, 200_000)
    ]
    payloads = {payload_of(setup, name.rpartition("-")[0]) for name, _, setup, _ in made} - {None}
    assert len(payloads) == 2, "the large healthcheck and the large scripts"
    dockerfile = (
        b"FROM debian:bookworm\nCOPY payload/ /opt/envfold/payload/\nRUN mkdir /work\nWORKDIR /work\n"
    )
    shared = [Entry(path="Dockerfile", source=dockerfile, size=len(dockerfile))]
    shared += [
        Entry(path=f"payload/{hashlib.sha256(each).hexdigest()}", source=each, size=len(each))
        for each in sorted(payloads)
    ]
    root = tmp_path_factory.mktemp("tasks")
    for name, task, setup, steps in made:
        channel = name.rpartition("-")[0]
        delivered = deliver(task, setup, steps, Tree(tuple(shared)), channel)
        assert isinstance(delivered, Delivered), str(delivered)
        write(delivered.files, root / ("fork" if channel == "setup-files" else "stock") / name)
    return root


def rewards(harbor: Path, tasks: Path, jobs: Path, agent: str, *options: str) -> dict[str, float | str]:
    """Return {task: reward, or why there is none} of one job."""
    env = {**os.environ, "PATH": f"{harbor}:{os.environ['PATH']}", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [harbor / "harbor", "run", "-p", tasks, "-a", agent, "-e", "podman", "--yes", "-n", "2", "-o", jobs,
         *options],
        env=env, cwd=jobs.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    found: dict[str, float | str] = {}
    for path in jobs.glob("*/*/result.json"):
        result = json.loads(path.read_text())
        verified = result.get("verifier_result") or {}
        why = (result.get("exception_info") or {}).get("exception_message", "no reward")
        found[result["task_name"].rpartition("/")[2]] = verified.get("rewards", {}).get("reward", why)
    return found


@pytest.mark.parametrize(("agent", "reward"), [("oracle", 1.0), ("nop", 0.0)])
def test_healthcheck_and_scripts_with_small_and_large_set_ups(harbor, tasks, tmp_path, agent, reward):
    names = [f"{channel}-{size}" for channel in ("healthcheck", "scripts") for size in (100, 200_000)]
    assert rewards(harbor, tasks / "stock", tmp_path / "jobs", agent) == dict.fromkeys(names, reward)


@pytest.mark.parametrize(("solve", "reward"), [("true", 1.0), ("false", 0.0)])
def test_setup_files_with_what_a_fork_does(harbor, tasks, tmp_path, solve, reward):
    found = rewards(
        harbor, tasks / "fork", tmp_path / "jobs", "fork_agent:ForkAgent", "--agent-kwarg", f"solve={solve}"
    )
    assert found == {"setup-files-100": reward, "setup-files-200000": reward}
