"""What set-up leaves behind in the container, and what it does not."""

from __future__ import annotations

import pytest
from programs import ROOT, file, folder, program, run_setup, setup, sh, tools_image

from partition.rewrite.program import Run
from partition.rewrite.setup import setup_of

pytestmark = pytest.mark.containers


@pytest.fixture(scope="module")
def tools(containers, tmp_path_factory):
    return tools_image(containers, tmp_path_factory.mktemp("tools"))


def test_a_folder_that_only_let_the_container_start_is_gone_before_the_first_step(containers, tools):
    made = setup(
        sh(1, "mkdir /app && git init -q /kept/new && mkdir /app/sub"),
        folder(2, "/app/sub"),
        folders=("/app", "/app/sub", "/kept", "/own"),
    )
    with containers.started(tools) as container:
        listed = b"/app\n/app/sub\n/kept\n/elsewhere\n"
        container.execute(["mkdir", "-p", "/app/sub", "/kept/old", "/elsewhere", "/own", "/var/lib/envfold"])
        container.execute(["tee", "/var/lib/envfold/folders"], data=listed)
        done = run_setup(container, made, workdir="/app/sub")
        assert done.returncode == 0, done.stderr
        shown = container.execute(["ls", "-d", "/kept/old", "/elsewhere", "/own", "/var/lib/envfold/folders"])
        assert shown.stdout.split() == [b"/elsewhere", b"/kept/old", b"/own"]


def test_nothing_holds_what_a_step_copied_and_removed(containers, tools):
    secret = "c0py-run-delete-5ecret"
    generator = (
        f"echo {secret} | sha256sum >/answer; echo {secret} >&2\n"
        f"sleep 1000 & sh -c ': {secret}; sleep 2000' & setsid sleep 3000 &\n"
    )
    made = setup(
        file(1, "/gen.sh", generator.encode()),
        sh(2, "sh /gen.sh", environment=(("TOKEN", secret),)),
        sh(3, "rm /gen.sh"),
        Run(line=4, source="", state=ROOT, argv=(), script=f"#!/bin/sh\nKEY={secret} setsid sleep 4000 &\n"),
    )
    look = (
        "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | grep -ac '[c]0py-run-delete-5ecret'\n"
        "grep -rlaE '[c]0py-run-delete-5ecret' / --exclude-dir=proc --exclude-dir=sys\n"
        "ls -A /var/lib/envfold /opt; busybox ps -o args | grep '[s]leep [0-9]'"
    )
    with containers.started(tools) as container:
        container.execute(
            ["sh", "-c", "mkdir -p /opt/envfold/payload; cat >/opt/envfold/payload/1"], data=secret.encode()
        )
        assert container.execute(["sh", "-c", look]).stdout.decode().split()[:2] == [
            "0",
            "/opt/envfold/payload/1",
        ]
        assert run_setup(container, made).returncode == 0
        assert container.execute(["sh", "-c", look]).stdout.decode().split() == [
            "0",
            "/opt:",
            "/var/lib/envfold:",
            "done",
        ]


def test_other_tasks_folders_are_removed_last(containers, tools):
    made = setup_of(program(sh(1, "ls /venvs/other")), remove=("/venvs/other", "/venvs/it's"))
    with containers.started(tools) as container:
        container.execute(["mkdir", "-p", "/venvs/other/lib", "/venvs/it's", "/venvs/own"])
        assert run_setup(container, made).returncode == 0
        assert container.execute(["ls", "/venvs"]).stdout == b"own\n"
