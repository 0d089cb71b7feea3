"""An exported set-up does in a real container what the plan says."""

from __future__ import annotations

import os
import runpy
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import images
import pytest
from spec_tables import write_table

import partition
from partition.rewrite.export import get_specs_module, with_set_ups

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.containers

URL = "https://github.com/"
PYTHON = "3.11"


def git(folder: Path, *arguments: str) -> str:
    """Run git as nobody in particular, at a time of its own."""
    variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        ["git", "-C", folder, *arguments],
        env={**os.environ, **variables, **identity},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Return a folder with a bare repository and its three commits; the task starts at the second."""
    folder = tmp_path_factory.mktemp("origin")
    work = folder / "work"
    work.mkdir()
    git(work, "init", "--quiet", "--initial-branch=main")
    ids = []
    for number in (1, 2, 3):
        (work / "setup.py").write_text(
            f"from setuptools import setup\nsetup(name='tiny', version='{number}', py_modules=['tiny'])\n"
        )
        (work / "tiny.py").write_text(f"ANSWER = {number}\n")
        git(work, "add", ".")
        git(work, "commit", "--quiet", "--message", f"release {number}")
        git(work, "tag", f"v{number}")
        ids.append(git(work, "rev-parse", "HEAD"))
    bare = folder / "bare" / "own" / "tiny.git"
    bare.parent.mkdir(parents=True)
    git(work, "clone", "--quiet", "--bare", str(work), str(bare))
    git(bare, "update-server-info")
    return folder / "bare", ids


@pytest.fixture(scope="module")
def address(commits: tuple[Path, list[str]]) -> Iterator[str]:
    """Serve the repository on this machine: inside of a container set-up would find it, and refuse."""
    handler = partial(_Quiet, directory=str(commits[0]))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Keep quiet."""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return an exported module: one pair's list is baked, the other's is installed as of its date."""
    folder = tmp_path_factory.mktemp("specs")
    rows = [
        {
            "task_id": f"{repo}-{number}",
            "repo": f"own/{repo}",
            "version": "2.0",
            "python": PYTHON,
            "pip": pip,
            "created_at": created,
        }
        for repo, pip, created, count in (
            ("tiny", ["six==1.16.0"], "", 5),
            ("dated", ["six", "toml==0.10.2"], "2021-01-01", 1),
            ("later", ["six==1.16.0", "toml==0.10.1"], "2021-01-01", 1),
        )
        for number in range(count)
    ]
    plan = partition.propose(str(write_table(folder / "tasks.csv", rows)), cap=1)
    (folder / "specs.py").write_bytes(get_specs_module(with_set_ups(plan)))
    return runpy.run_path(str(folder / "specs.py"))


@pytest.fixture(scope="module")
def image(containers: Any, module: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the image built from `dockerfile_for`, on a stand-in for its base."""
    folder = tmp_path_factory.mktemp("image")
    text = module["dockerfile_for"]("tiny-0")
    assert text == module["get_specs"]("own/tiny", "2.0")["dockerfile"]
    assert text.startswith(f"FROM {images.python_image(PYTHON).removeprefix('docker.io/library/')}\n")
    images.make_python(PYTHON)
    (folder / "Dockerfile").write_text(text)
    return containers.build(folder)


@pytest.fixture
def started(
    containers: Any, image: str, address: str, commits: tuple[Path, list[str]], request: Any
) -> Iterator[Any]:
    """Return a container of the image in which git asks this machine for what is at the clone's URL."""
    variables = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{address}.insteadOf",
        "GIT_CONFIG_VALUE_0": URL,
    }
    if getattr(request, "param", "given") == "given":
        variables["BASE_COMMIT"] = commits[1][1]
    with containers.started(image, env=variables) as container:
        yield container


def run(container: Any, script: str) -> Any:
    return container.execute(["sh", "-s"], data=script.encode())


def says(container: Any, command: str) -> str:
    done = container.execute(["sh", "-c", command])
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def test_the_repository_is_at_its_commit_and_later_ones_cannot_be_found(
    started: Any, commits: tuple[Path, list[str]], module: dict[str, Any]
) -> None:
    _, ids = commits
    script = module["get_specs"]("own/tiny", "2.0")["setups"]["tiny-0"]
    done = run(started, script)
    assert done.returncode == 0, done.stderr.decode()
    assert says(started, "git -C /testbed rev-parse HEAD") == ids[1]
    assert (
        says(started, "cd / && python3 -c 'import tiny, six; print(tiny.ANSWER, six.__version__)'")
        == "2 1.16.0"
    )
    for command in (
        f"git -C /testbed cat-file -e {ids[2]}",
        f"git -C /testbed log --all --format=%H | grep {ids[2]}",
        "git -C /testbed fsck --lost-found --no-reflogs | grep -i commit",
        "git -C /testbed tag | grep v3",
        "git -C /testbed remote | grep .",
        "git -C /testbed reflog | grep .",
        "grep -rl 'release 3' /testbed/.git",
    ):
        assert started.execute(["sh", "-c", command]).returncode != 0, command
    assert says(started, f"git -C /testbed cat-file -e {ids[0]} && git -C /testbed tag") == "v1\nv2"
    again = run(started, script)
    assert (again.returncode, again.stderr) == (0, b"")


@pytest.mark.parametrize("started", ["without"], indirect=True)
def test_without_a_commit_the_set_up_fails_before_it_fetches_and_says_what_to_set(
    started: Any, module: dict[str, Any]
) -> None:
    done = run(started, module["setup_for"]("tiny-0"))
    assert done.returncode != 0
    assert "set BASE_COMMIT in the environment of the container" in done.stderr.decode()
    assert started.execute(["test", "-e", "/testbed"]).returncode == 1


def test_packages_are_those_of_the_tasks_date(started: Any, module: dict[str, Any]) -> None:
    script = module["setup_for"]("dated-0").replace("own/dated", "own/tiny")
    assert "--exclude-newer 2021-01-01" in script
    done = run(started, script)
    assert done.returncode == 0, done.stderr.decode()
    # the image bakes six 1.16.0 of May 2021
    assert (
        says(started, "python3 -c 'import six, toml; print(six.__version__, toml.__version__)'")
        == "1.15.0 0.10.2"
    )


def test_versions_that_are_asked_for_and_are_newer_than_the_task_are_installed_all_the_same(
    started: Any, module: dict[str, Any]
) -> None:
    done = run(started, module["setup_for"]("later-0").replace("own/later", "own/tiny"))
    assert done.returncode == 0, done.stderr.decode()
    command = "python3 -c 'import six, toml; print(six.__version__, toml.__version__)'"
    assert says(started, command) == "1.16.0 0.10.1"
