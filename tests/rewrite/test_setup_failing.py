"""Where set-up stops, and what it says: failing steps, kills, another set-up in its way."""

from __future__ import annotations

import pytest
from programs import ROOT, file, read, run_setup, setup, sh, tools_image

from partition.rewrite.program import Run

pytestmark = pytest.mark.containers

SHELLS = (("sh",), ("busybox", "ash"))


@pytest.fixture(scope="module")
def tools(containers, tmp_path_factory):
    return tools_image(containers, tmp_path_factory.mktemp("tools"))


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_a_failing_step_ends_it_with_its_own_status_and_names_its_line(containers, tools, shell):
    made = setup(sh(3, "true"), sh(12, "echo why >&2; exit 42"), sh(13, "touch /after"))
    with containers.started(tools) as container:
        done = run_setup(container, made, shell=shell)
        assert done.returncode == 42
        assert b"Dockerfile:12" in done.stderr
        assert b"why" in done.stderr
        assert container.execute(["test", "-e", "/after"]).returncode == 1
        again = run_setup(container, made, shell=shell)
        assert again.returncode == 42
        assert b"Dockerfile:12 failed before" in again.stderr
        assert container.execute(["test", "-e", "/after"]).returncode == 1


def test_errexit_is_what_the_shell_of_the_step_makes_of_it(containers, tools):
    body = "false\nset -u\ntouch /reached\n"
    made = setup(Run(line=1, source="", state=ROOT, argv=("/bin/sh", "-c", body)))
    strict = setup(Run(line=1, source="", state=ROOT, argv=("/bin/bash", "-euc", body)))
    with containers.started(tools) as container:
        assert run_setup(container, made).returncode == 0
        assert container.execute(["test", "-e", "/reached"]).returncode == 0
    with containers.started(tools) as container:
        assert run_setup(container, strict).returncode == 1


def test_killed_in_a_command_it_says_so_and_killed_elsewhere_it_goes_on(containers, tools):
    made = setup(
        file(1, "/one", b"1"),
        sh(2, "echo >>/count; if [ -e /slow ]; then sleep 60; fi"),
        file(3, "/two", b"2"),
    )
    with containers.started(tools) as container:
        container.execute(
            ["sh", "-c", "touch /slow; mkdir -p /var/lib/envfold/run; cat >/setup"], data=made.payload
        )
        container.execute(["sh", "-c", "sh /setup & while ! [ -e /count ]; do sleep 0.1; done; kill -9 $!"])
        done = run_setup(container, made)
        assert done.returncode == 75
        assert b"Dockerfile:2 was interrupted" in done.stderr
        assert read(container, "/count") == "\n"
    with containers.started(tools) as container:
        # what a kill between two steps leaves
        container.execute(
            ["sh", "-c", "mkdir -p /var/lib/envfold/run; cat >/var/lib/envfold/step"],
            data=f"2 safe Dockerfile:2 {made.digest}\n".encode(),
        )
        assert run_setup(container, made).returncode == 0
        assert container.execute(["test", "-e", "/one"]).returncode == 1
        assert read(container, "/two") == "2"


def test_two_at_once_and_another_tasks_set_up_are_told_apart(containers, tools):
    slow = setup(sh(1, "touch /begun; sleep 60"))
    with containers.started(tools) as container:
        container.execute(["sh", "-c", "cat >/setup"], data=slow.payload)
        container.execute(
            ["sh", "-c", "setsid sh /setup >/dev/null 2>&1 & while ! [ -e /begun ]; do sleep 0.1; done"]
        )
        done = run_setup(container, slow)
        assert (done.returncode, b"is running already" in done.stderr) == (75, True)
    with containers.started(tools) as container:
        assert run_setup(container, setup(sh(1, "true"))).returncode == 0
        done = run_setup(container, slow)
        assert (done.returncode, b"set up for another task" in done.stderr) == (75, True)


def test_it_must_be_root(containers, tools):
    with containers.started(tools) as container:
        container.execute(["sh", "-c", "cat >/setup"], data=setup(sh(1, "true")).payload)
        assert container.execute(["sh", "/setup"], user="app").returncode == 77
