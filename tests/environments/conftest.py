from __future__ import annotations

import json
import os
import runpy
import subprocess
from pathlib import Path

import pytest

from partition.tasks.model import Entry, EnvironmentConfig, Kind, Task, TaskConfig, Tree

HERE = Path(__file__).parent
VENVS = runpy.run_path(str(HERE.parent / "harbor_venvs.py"))


@pytest.fixture(scope="session")
def ask_harbor():
    """Return a function that puts a question to the Harbor of one generation (see ``harbor_keys.py``)."""

    def ask(generation: str, question: dict) -> dict:
        python = VENVS["harbor_python"](generation)
        if python is None:
            version = VENVS["VERSIONS"][generation]
            missing = f"Harbor {version} is not installed: run python tests/harbor_venvs.py"
            if os.environ.get("CI"):
                pytest.fail(missing)
            pytest.skip(missing)
        done = subprocess.run(
            [python, HERE / "harbor_keys.py"],
            input=json.dumps(question),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def _tree(files: dict[str, str | bytes | None], *, name: str = "") -> Tree:
    folders = {path.rsplit("/", depth)[0] for path in files for depth in range(1, path.count("/") + 1)} | {
        path for path, content in files.items() if content is None
    }
    entries = [Entry(path=path, kind=Kind.DIRECTORY, mode=0o755) for path in folders]
    for path, content in files.items():
        if isinstance(content, str) and content.startswith("-> "):
            entries.append(Entry(path=path, kind=Kind.LINK, target=content.removeprefix("-> ")))
        elif content is not None:
            data = content.encode() if isinstance(content, str) else content
            entries.append(Entry(path=path, source=data, size=len(data)))
    return Tree(tuple(sorted(entries, key=lambda entry: entry.path)), name=name)


@pytest.fixture(scope="session")
def tree():
    """Return a function that makes a tree of {path: text or bytes, None for a folder, "-> x" for a link}."""
    return _tree


@pytest.fixture(scope="session")
def task():
    """Return a function that makes a task whose ``environment/`` holds the given files."""

    def make(
        environment: dict[str, str | bytes | None],
        *,
        name: str = "t",
        others: dict[str, str | bytes | None] | None = None,
        config: TaskConfig | None = None,
        **resources,
    ) -> Task:
        files = {f"environment/{path}": content for path, content in environment.items()}
        return Task(
            id=name,
            where=f"set/{name}",
            files=_tree({"instruction.md": "Do it.\n", **files, **(others or {})}, name=name),
            config=config or TaskConfig(environment=EnvironmentConfig(**resources)),
        )

    return make
