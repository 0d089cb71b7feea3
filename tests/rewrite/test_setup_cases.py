"""Every case that can be built without network: set-up in a started container does what the build does."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from programs import run_setup, tools_image

from partition.rewrite.program import Program
from partition.rewrite.setup import Setup, setup_of
from partition.rewrite.split import program_of
from partition.rewrite.union import shared_image

HERE = Path(__file__).parent
BUILDS = runpy.run_path(str(HERE / "test_union_builds.py"))

pytestmark = pytest.mark.containers


@pytest.mark.parametrize("name", BUILDS["OFFLINE"])
def test_set_up_alone_makes_the_files_of_the_tasks_own_image(name, containers, differences, tmp_path):
    base = tools_image(containers, tmp_path) if name in BUILDS["WITH_GIT"] else BUILDS["BASE"]
    program = program_of(BUILDS["SPLIT"]["task_of"](BUILDS["CASES"] / name))
    assert isinstance(program, Program)
    image = shared_image(BUILDS["environment"](base), (), [program.workdir])
    made = setup_of(program, image.folders)
    assert isinstance(made, Setup), str(made)
    BUILDS["write"](image.tree, tmp_path / "shared")
    BUILDS["own_context"](name, tmp_path / "own", base)
    own = containers.tree_of(containers.build(tmp_path / "own"))
    tag = containers.build(tmp_path / "shared")
    with containers.started(tag, env=dict(program.environment), workdir=program.workdir) as container:
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr.decode()
        found = differences(own, containers.tree_of(container))
    volumes = {step.path for step in program.steps if step.source.upper().startswith("VOLUME")}
    ours = {"/var/lib/envfold", "/var/lib/envfold/done"}
    # the clone's origin is gone, so nobody knows that its history came from here: it is cut
    if name == "clone-from-local-origin":
        ours |= {path for path in found if "/.git/" in path}
    left = {path: found[path] for path in sorted(found.keys() - volumes - ours)}
    assert left == {}, left
