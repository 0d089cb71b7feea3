"""The house keeps its rules: what stands where, how long a module is, and what its documents claim."""

from __future__ import annotations

import fnmatch
import re
import shlex
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import click
import pytest

from partition.cli.main import group
from partition.tasks.embedded import TABLES

ROOT = Path(__file__).parents[1]
FOLDERS = {"partition", "solvers", "data", "tests", "experiments", "docs"}
FILES = {
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
}
LONGEST = 400
"""Lines of a module; more says that it holds two ideas."""

# Written in two parts, so that this file does not hold what it looks for.
REGISTRIES = [
    f"{name}.{suffix}"
    for name, suffix in [
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("deb.debian", "org"),
        ("security.debian", "org"),
        ("npmjs", "org"),
        ("conda.anaconda", "org"),
        ("proxy.golang", "org"),
    ]
]


@cache
def ignored() -> list[str]:
    lines = (ROOT / ".gitignore").read_text().splitlines()
    return [line.strip("/") for line in lines if line and not line.startswith("#")]


def kept(folder: Path) -> list[Path]:
    """Return the files below `folder` that git would keep."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.name == ".git" or any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored()):
            continue
        found += kept(path) if path.is_dir() else [path]
    return found


FILES_KEPT = kept(ROOT)
MODULES = [path for path in FILES_KEPT if path.suffix == ".py"]
DOCUMENTS = [path for path in FILES_KEPT if path.suffix == ".md"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def command(marker: str) -> str:
    """Return the README's fenced block after ``<!-- command: marker -->``, as ``.ci/run`` reads it."""
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(rf"<!-- command: {marker} -->\n```\w*\n(.*?)\n```", text, re.DOTALL)
    assert len(blocks) == 1, f"README.md has {len(blocks)} blocks marked as the {marker} command"
    return blocks[0]


def test_the_top_level_holds_only_what_was_agreed() -> None:
    top = {path.relative_to(ROOT).parts[0] for path in FILES_KEPT}
    assert {name for name in top if not name.startswith(".")} <= FOLDERS | FILES
    assert {name for name in top if name.startswith(".")} <= {".ci", ".gitignore"}
    for name in FILES:
        assert (ROOT / name).is_file(), f"{name} is missing"


@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_no_module_is_longer_than_one_idea(module: Path) -> None:
    assert len(module.read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_relative_link_of_a_document_resolves(document: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", document.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\)", prose)
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{link} leads nowhere"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: no such heading"


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ +(.+?) *$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_registry_is_written_down() -> None:
    """Everyone's package index is their own; a host in a file would be somebody's."""
    pattern = re.compile("|".join(map(re.escape, REGISTRIES)).encode())
    files = [path for path in FILES_KEPT if not path.is_symlink()]
    guilty = [name_of(path) for path in files if pattern.search(path.read_bytes())]
    assert guilty == []


def test_the_main_command_installs_and_runs_a_real_command_on_a_real_dataset() -> None:
    create, install, run = (shlex.split(part) for part in command("main").split("&&"))
    assert create == ["python3", "-m", "venv", ".venv"]
    assert install == [".venv/bin/pip", "install", "."]
    program, name, dataset, *_ = run
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert Path(program).parent == Path(".venv/bin")
    assert Path(program).name in scripts
    assert name in group.list_commands(click.Context(group))
    assert dataset in TABLES


def test_the_test_command_installs_the_test_extra_and_runs_all_tests() -> None:
    create, install, run = (shlex.split(part) for part in command("test").split("&&"))
    assert create == ["python3", "-m", "venv", ".venv"]
    assert install == [".venv/bin/pip", "install", "-e", ".[test]"]
    assert run == [".venv/bin/pytest"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(requirement.startswith("pytest>") for requirement in extras["test"])


@pytest.mark.parametrize("marker", ["main", "test"])
def test_ci_reads_the_same_commands_from_the_readme(marker: str) -> None:
    script = (ROOT / ".ci" / "run").read_text()
    function = re.search(r"^command_of\(\) \{\n.*?^\}$", script, re.MULTILINE | re.DOTALL)
    assert function is not None
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{function[0]}\ncommand_of {marker}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == command(marker) + "\n"
    assert f'bash -euo pipefail -c "${marker}_command"' in script


def test_the_changelog_names_the_version_of_the_distribution() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.search(rf"^## .*{re.escape(version)}", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_every_script_says_bash_and_stops_at_the_first_failure() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert script.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_embedded_datasets_are_those_that_the_help_names() -> None:
    help_text = " ".join(group.help.split())
    for name in TABLES:
        assert re.search(rf"{re.escape(name)}\b", help_text), f"{name} is not in envfold --help"
