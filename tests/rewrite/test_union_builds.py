"""Images built with podman: what the shared environment of one task holds is what its own Dockerfile builds.

Where podman's builder does not know what a Dockerfile is written in (heredocs, ``--parents``), the case has a
``Dockerfile.plain`` beside it that says the same in older words.
"""

from __future__ import annotations

import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from partition.plan.document import Environment
from partition.rewrite.program import Program
from partition.rewrite.residual import without_baked
from partition.rewrite.split import program_of
from partition.rewrite.union import SharedImage, left_of, shared_image_of
from partition.tasks.model import Kind, Tree

HERE = Path(__file__).parent
CASES = HERE.parent / "cases" / "dockerfiles"
SPLIT = runpy.run_path(str(HERE / "test_split_cases.py"))
PROGRAMS = runpy.run_path(str(HERE / "programs.py"))
BASE = "debian:bookworm"
WITH_GIT = ("chmod-before-reset", "clone-from-local-origin")

# what needs neither network nor an interpreter that the base lacks, and what podman can build
OFFLINE = (
    "add-archive",
    "arg-scopes",
    "byte-order-mark",
    "cd-in-run",
    "chmod-before-reset",
    "clone-from-local-origin",
    "copy-chown-chmod",
    "copy-directory-contents",
    "copy-exclude",
    "copy-file-or-folder",
    "copy-globs",
    "copy-heredoc",
    "copy-json",
    "copy-links",
    "copy-many-folders",
    "copy-parents",
    "copy-relative",
    "copy-run-delete",
    "crlf-heredoc",
    "dockerignore-beside-dockerfile",
    "dockerignore-negation",
    "entrypoints-that-wait",
    "env-path-prefix",
    "env-same-line",
    "escape-backtick-paths",
    "non-ascii-paths",
    "onbuild-in-parent-stage",
    "platform-same",
    "run-heredoc-has-no-errexit",
    "run-heredoc-shebang",
    "run-heredocs-on-one-line",
    "shell-bash-pipefail",
    "stage-chain-with-unused-stage",
    "tail-of-options",
    "user-switching",
    "volume",
    "without-effect",
    "workdir-variables",
)


def environment(base: str = BASE, dockerfile: str | None = None) -> Environment:
    return Environment(
        name="own",
        snapshot="",
        exists=False,
        origin="own",
        base=base,
        distribution="debian",
        release="bookworm",
        python=None,
        apt=[],
        venvs=[],
        dockerfile=dockerfile or f"FROM {base}\n",
        tasks=1,
        families={},
        predicted_yield=1.0,
        predicted_size_bytes=0,
    )


def write(tree: Tree, folder: Path) -> None:
    for entry in tree.entries:
        path = folder / entry.path
        if entry.kind is Kind.DIRECTORY:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(entry.read())


def shared(name: str, base: str) -> tuple[Program, SharedImage]:
    program = program_of(SPLIT["task_of"](CASES / name))
    assert isinstance(program, Program)
    return program, shared_image_of(environment(base), [program])


def own_context(name: str, folder: Path, base: str) -> None:
    """Write the case's context with a Dockerfile that podman understands."""
    source = CASES / name
    if (source / "context").exists():
        shutil.copytree(source / "context", folder, symlinks=True)
    folder.mkdir(exist_ok=True)
    plain = source / "Dockerfile.plain"
    if plain.exists():
        for ignore in folder.glob("*.dockerignore"):
            ignore.unlink()
    text = (plain if plain.exists() else source / "Dockerfile").read_bytes()
    (folder / "Dockerfile").write_bytes(text.replace(BASE.encode(), base.encode()))


@pytest.mark.containers
@pytest.mark.parametrize("name", OFFLINE)
def test_a_task_alone_in_its_environment_has_the_files_of_its_own_image(
    name: str, containers, differences, tmp_path: Path
) -> None:
    """Every path, kind, permission, owner and byte; all steps are baked."""
    base = PROGRAMS["tools_image"](containers, tmp_path) if name in WITH_GIT else BASE
    program, image = shared(name, base)
    assert left_of(without_baked(program, environment(base)), image) == replace(program, steps=())
    write(image.tree, tmp_path / "shared")
    own_context(name, tmp_path / "own", base)
    own = containers.tree_of(containers.build(tmp_path / "own"))
    # what podman's own default makes of it, since nobody asks for Docker's image format
    folded = containers.tree_of(containers.build(tmp_path / "shared", form="oci"))
    volumes = {step.path for step in program.steps if step.source.upper().startswith("VOLUME")}
    found = differences(own, folded)
    assert {path: found[path] for path in found if path not in volumes} == {}
