from __future__ import annotations

import base64
import difflib
import gzip
import hashlib
import subprocess
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import file, program, setup, sh

from partition.rewrite.carried import VARIABLES
from partition.rewrite.channel import (
    LARGEST_COMMAND,
    Channel,
    Delivered,
    added_path,
    deliver,
    payload_of,
    without_channel,
)
from partition.rewrite.refusal import Refused
from partition.rewrite.script_edits import CALL, READ, with_call, with_section, without_call, without_section
from partition.rewrite.task_config import UneditableError, edited
from partition.tasks.config import read_config
from partition.tasks.model import Entry, Kind, Task, Tree

CONFIG = "[environment]\ncpus = 1\n"
FILES = {
    "instruction.md": b"Do it.",
    "solution/solve.sh": b"#!/bin/bash\nset -e\ntrue\n",
    "tests/test.sh": b"true",
    "tests/data.bin": bytes(range(256)),
    "environment/Dockerfile": b"FROM x\n",
    "environment/old/file": b"",
}
SHARED = Tree((Entry(path="Dockerfile", source=b"FROM y\n", size=7),))
RUN = sh(2, "make")
BIG = setup(
    file(1, "/x", b"".join(hashlib.sha256(bytes([i, j])).digest() for i in range(99) for j in range(99)))
)


def task(config: str = CONFIG, **changed: bytes | None) -> Task:
    files = {
        "task.toml": config.encode(),
        **FILES,
        **{name.replace("__", "/"): data for name, data in changed.items()},
    }
    names = {
        "solution/solve": "solution/solve.sh",
        "tests/test": "tests/test.sh",
        "instruction": "instruction.md",
    }
    entries = [
        Entry(
            path=names.get(path, path),
            source=data,
            size=len(data),
            mode=0o755 if path.endswith(".sh") else 0o644,
        )
        for path, data in files.items()
        if data is not None and path not in {names.get(name.replace("__", "/")) for name in changed}
    ]
    folders = [
        Entry(path=each, kind=Kind.DIRECTORY)
        for each in ("environment", "environment/old", "solution", "tests")
    ]
    tree = Tree(tuple(sorted([*entries, *folders], key=lambda entry: entry.path)), name="t")
    return Task(id="t", where="d/t", files=tree, config=read_config(config.encode(), where="task.toml"))


def delivered(of: Task, channel: str = "healthcheck", *, made=None, **state) -> Delivered:
    found = deliver(of, made or setup(RUN), program(RUN, **state), SHARED, channel)
    assert isinstance(found, Delivered), str(found)
    return found


def config_of(found: Delivered) -> dict:
    return tomllib.loads(found.files.by_path["task.toml"].read().decode())


def refused(of: Task, channel: str = "healthcheck", *, steps=(RUN,), **state) -> str:
    found = deliver(of, setup(*steps), program(*steps, **state), SHARED, channel)
    assert isinstance(found, Refused)
    assert all(reason.task == "t" and reason.where for reason in found.reasons)
    return str(found)


# --- files


@pytest.mark.parametrize("channel", list(Channel))
def test_only_the_environment_task_toml_and_what_the_channel_adds_change(channel):
    before, found = task(), delivered(task(), channel)
    after = found.files
    assert after.entries == tuple(sorted(after.entries, key=lambda entry: entry.path))
    assert after.name == "t"
    assert [entry.path for entry in after.entries if entry.path.startswith("environment")] == [
        "environment",
        "environment/Dockerfile",
    ]
    assert after.by_path["environment/Dockerfile"].read() == b"FROM y\n"
    for path in before.files.by_path.keys() | after.by_path.keys():
        if path.startswith("environment") or path == "task.toml":
            continue
        old, new = before.files.get(path), after.get(path)
        if old is None:
            assert added_path(path, channel)
        elif old.kind is Kind.FILE:
            assert without_channel(path, new.read()) == old.read()
            assert new.mode == old.mode
            changed = channel is Channel.SCRIPTS and path in {
                "instruction.md",
                "solution/solve.sh",
                "tests/test.sh",
            }
            assert (new.read() != old.read()) is changed


@settings(derandomize=True, deadline=None)
@given(
    st.binary(max_size=60), st.sampled_from([b"", b"#!/bin/sh", b"#!/bin/sh -e\n", b"#!/usr/bin/env bash\n"])
)
def test_what_is_put_in_comes_out_again(data, start):
    for script in (start + data, CALL[:-1] + data, data + CALL):
        if CALL not in script:
            assert without_call(with_call(script)) == script
    assert without_section(with_section(data, "```` `x`")) == data
    assert without_section(data) == data


def test_the_section_is_one_fenced_block_whatever_the_set_up_holds():
    text = with_section(b"Do it.\n", "echo '```'\n````\n").decode()
    assert text.startswith("Do it.\n\n")
    assert text.count("`````") == 2


# --- task.toml


MESSY = [
    "",
    "# only a comment",
    "version = '1.0'  # why\r\n[environment] # here\r\ncpus   =  2\r\n\r\n[agent]\r\n  timeout_sec = 1e2\r\n",
    "[agent]\nuser=1\n[environment.env]\nB='x'\n\n\n[verifier]\n[environment]\n  memory_mb = 1_024 # kept\n",
    "environment = {cpus = 1, env = {A = 'own'}}\n[agent]\nuser = 'me'\n",
    "environment.cpus = 1\nenvironment.env.Z = '1'\n[metadata]\nx = [\n 1, # one\n 2 ]\n",
    "[metadata]\nx = \"ü\"\ny = '''\n[environment]\n'''\n[[steps]]\nname = 'a'\n[environment]\n",
    "[environment]\n[environment.healthcheck]\ncommand = '''\ntest -e \"/x\"\n'''\nretries = 9\n",
    "[verifier]\nuser = 'root'\n[verifier.env]\nA = '${A:-b}'\n[verifier.environment]\ncpus = 1\n",
]  # fmt: skip


@pytest.mark.parametrize("text", MESSY, ids=range(len(MESSY)))
def test_every_other_byte_of_task_toml_stays(text):
    user = None if "healthcheck" in text else "app"
    env = (("A", 'it\'s "1"\n\t\\'), ("PATH", "/x"))
    found = delivered(task(text), environment=env, workdir="/w", user=user)
    before, after = text.split("\n"), found.files.by_path["task.toml"].read().decode().split("\n")
    lost = [line[2:] for line in difflib.ndiff(before, after) if line.startswith("- ") and line[2:].strip()]
    # what is written on one line, and a command that now comes after set-up
    assert all(line.startswith(("environment = {", "command = ", "test -e", "'''")) for line in lost), lost


def test_what_the_dockerfile_says_about_the_container_goes_to_task_toml_under_the_tasks_own():
    said = {"environment": (("A", "1"), ("B", "2")), "workdir": "/w", "user": "app:x"}
    config = config_of(delivered(task(), **said))
    assert config["environment"] | {"healthcheck": None} == {
        "cpus": 1, "workdir": "/w", "env": {"A": "1", "B": "2"}, "healthcheck": None,
    }  # fmt: skip
    assert (config["agent"], config["verifier"]) == ({"user": "app:x"}, {"user": "app:x"})
    own = (
        "environment = {workdir = '/own', env = {A = '${A}'}}\n[agent]\nuser = 7\n[verifier]\nuser = 'root'\n"
    )
    config = config_of(delivered(task(own), **said))
    assert config["environment"]["workdir"] == "/own"
    assert config["environment"]["env"] == {"A": "${A}", "B": "2"}
    assert (config["agent"]["user"], config["verifier"]["user"]) == (7, "root")
    plain = config_of(delivered(task(), user="0:0"))
    assert "agent" not in plain
    assert plain["environment"]["workdir"] == "/"


def test_a_verifier_with_an_image_of_its_own_keeps_its_user():
    config = config_of(delivered(task("[verifier]\nenvironment_mode = 'separate'\n"), user="app"))
    assert config["agent"] == {"user": "app"}
    assert "user" not in config["verifier"]


LATER = (("A", "${HOME}"), ("PATH", "/own/bin:/bin"))


def test_what_the_host_would_take_or_expand_comes_from_a_file_and_not_from_task_toml():
    env = (*LATER, ("B", "plain"))
    found = delivered(task(), made=setup(RUN, later=LATER), environment=env)
    assert config_of(found)["environment"]["env"] == {"B": "plain", "BASH_ENV": VARIABLES}
    assert config_of(delivered(task(), environment=(("B", "plain"),)))["environment"]["env"] == {"B": "plain"}


def test_what_the_image_or_the_task_sets_is_not_said_again():
    env = (*LATER, ("B", "plain"))
    found = deliver(task(), setup(RUN), program(RUN, environment=env), SHARED, "healthcheck", provided=env)
    assert isinstance(found, Delivered)
    assert "env" not in config_of(found)["environment"]
    own = task("[environment.env]\nA = 'x'\nPATH = '${PATH}'\n")
    assert config_of(delivered(own, environment=LATER))["environment"]["env"] == {"A": "x", "PATH": "${PATH}"}


def test_variables_of_a_file_are_refused_where_it_cannot_set_them():
    assert "ENV A.B holds `$`" in refused(task(), environment=(("A.B", "$5"),))
    own = task("[environment.env]\nBASH_ENV = '/own'\n")
    found = deliver(own, setup(RUN, later=LATER), program(RUN, environment=LATER), SHARED, "healthcheck")
    assert isinstance(found, Refused)
    assert "sets BASH_ENV, and another file there must set A, PATH" in str(found)


def test_the_scripts_read_the_file_after_set_up():
    found = delivered(task(), "scripts", made=setup(RUN, later=LATER), environment=LATER).files.by_path
    assert found["tests/test.sh"].read() == CALL + READ + b"true"
    assert f"run `. {VARIABLES}` after it" in found["instruction.md"].read().decode()
    for path in ("tests/test.sh", "solution/solve.sh", "instruction.md"):
        assert without_channel(path, found[path].read()) == FILES[path]


def test_lines_that_end_as_on_an_old_macintosh_are_refused():
    """Harbor reads them, TOML does not allow them."""
    assert "cannot be edited" in refused(task("[environment]\rcpus = 1\r"))


def test_a_document_that_cannot_be_added_to_is_not_changed():
    with pytest.raises(UneditableError):
        edited(b"environment = 'x'\n", {("environment", "workdir"): "/"})


@pytest.mark.parametrize(
    "text",
    [
        "agent = 5\n",
        "[verifier]\ncollect = 3\n",
        "[environment]\nbuild_timeout_sec = inf\n",
    ],
)
def test_values_that_harbor_refuses_end_neither_here_nor_in_a_crash(text):
    for channel in Channel:
        found = deliver(task(text), setup(RUN), program(RUN, user="app"), SHARED, channel)
        assert isinstance(found, Delivered | Refused)


# --- healthcheck


def check(config: dict) -> dict:
    return config["environment"]["healthcheck"]


def test_a_small_set_up_is_the_healthcheck_itself():
    made = setup(RUN)
    found = check(config_of(delivered(task(), made=made)))
    assert found["retries"] == 1
    assert found["timeout_sec"] == 1800
    packed = found["command"].partition("printf %s ")[2].partition(" ")[0]
    assert gzip.decompress(base64.b64decode(packed)) == made.payload
    assert subprocess.run(["sh", "-n"], input=found["command"].encode(), check=False).returncode == 0
    assert payload_of(made, "healthcheck") is None


def test_a_large_set_up_lies_in_the_image_under_its_hash():
    found = delivered(task(), made=BIG)
    assert found.payload == payload_of(BIG, "healthcheck") == BIG.payload
    command = check(config_of(found))["command"]
    assert f"sh /opt/envfold/payload/{hashlib.sha256(BIG.payload).hexdigest()}" in command
    assert len(command) < 1000
    assert payload_of(BIG, "setup-files") is None


def test_the_command_never_reaches_what_linux_takes():
    steps = [file(1, "/x", hashlib.shake_256(b"x").digest(64_000))]
    made = setup(*steps)
    assert payload_of(made, "healthcheck") is None
    command = check(config_of(delivered(task(), made=made)))["command"]
    assert LARGEST_COMMAND - 10_000 < len(command) < LARGEST_COMMAND + 1000 < 1 << 17


def test_the_tasks_own_healthcheck_runs_after_set_up_with_its_retries():
    own = (
        "[environment]\nbuild_timeout_sec = 4000\n[environment.healthcheck]\n"
        "command = 'test -e /x'\nretries = 9\nstart_period_sec = 3.0\n"
    )
    found = check(config_of(delivered(task(own))))
    assert found["command"].endswith("; } || exit $?\ntest -e /x")
    assert (found["retries"], found["timeout_sec"], found["start_period_sec"]) == (9, 4000, 3.0)
    longer = own + "timeout_sec = 9000\n"
    assert check(config_of(delivered(task(longer))))["timeout_sec"] == 9000
    assert "its own healthcheck ran as app" in refused(task(own), user="app")


def test_steps_are_set_up_by_the_healthcheck_alone():
    steps = "[environment]\n[[steps]]\nname = 'a'\n"
    assert "command" in check(config_of(delivered(task(steps))))
    for channel in ("scripts", "setup-files"):
        assert "d/t/task.toml: has steps" in refused(task(steps), channel)


# --- scripts


def test_scripts_run_the_set_up_first_and_the_instruction_shows_it():
    made = setup(RUN)
    found = delivered(task(), "scripts", made=made).files.by_path
    assert found["solution/solve.sh"].read() == b"#!/bin/bash\n" + CALL + b"set -e\ntrue\n"
    assert found["tests/test.sh"].read() == CALL + b"true"
    for folder in ("solution", "tests"):
        assert found[f"{folder}/envfold-setup.sh"].read() == made.payload
    assert made.script.rstrip("\n") in found["instruction.md"].read().decode()
    large = delivered(task(), "scripts", made=BIG)
    assert large.payload == BIG.payload
    assert len(large.files.by_path["instruction.md"].read()) < 2000
    assert "can read it" in large.notes[0]


def test_a_script_ends_with_the_status_of_a_set_up_that_fails(tmp_path):
    script = tmp_path / "solve.sh"
    (tmp_path / "envfold-setup.sh").write_text("exit 42\n")
    script.write_bytes(with_call(b"#!/bin/bash\ntouch reached\n"))
    assert subprocess.run(["bash", script], cwd=tmp_path, check=False).returncode == 42
    assert not (tmp_path / "reached").exists()


def test_without_a_solution_only_the_tests_call_it_and_a_separate_verifier_is_left_alone():
    found = delivered(task(solution__solve=None), "scripts").files.by_path
    assert "solution/envfold-setup.sh" not in found
    assert "tests/envfold-setup.sh" in found
    found = delivered(task("[verifier]\nenvironment_mode = 'separate'\n"), "scripts").files.by_path
    assert found["tests/test.sh"].read() == b"true"
    assert "tests/envfold-setup.sh" not in found


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (b"#!/usr/bin/env python3\n", "is run by python3"),
        (b"#!/usr/bin/env -S python3 -u\n", "is run by python3"),
        (b"#!/usr/bin/perl -w\n", "is run by perl"),
        (b"#!/bin/bash\r\ntrue\r\n", "has carriage returns"),
        (b"#!\n", "starts with #! and nothing behind it"),
        (with_call(b"true\n"), "calls a set-up already"),
    ],
)
def test_a_script_that_cannot_call_a_shell_script_is_refused(script, why):
    assert f"d/t/tests/test.sh: {why}" in refused(task(tests__test=script), "scripts")
    found = delivered(task(tests__test=script))
    assert found.files.by_path["tests/test.sh"].read() == script
    assert bool(found.notes) is (b"\r" in script)


def test_scripts_cannot_set_up_for_another_user_nor_hide_anything():
    assert "USER is app" in refused(task(), "scripts", user="app")
    assert "agent.user is 7" in refused(task("[agent]\nuser = 7\n"), "scripts")
    secret = (file(3, "/gen.py", b""), sh(4, "python /gen.py && rm /gen.py"))
    assert "Dockerfile:4: removes /gen.py" in refused(task(), "scripts", steps=secret)
    assert isinstance(deliver(task(), setup(*secret), program(*secret), SHARED, "healthcheck"), Delivered)
    assert "not UTF-8" in refused(task(), "scripts", steps=(sh(1, "echo \udcff"),))


# --- setup_files


def test_setup_files_hold_one_script_that_removes_itself(tmp_path):
    found = delivered(task(), "setup-files", made=BIG).files.by_path
    assert found["setup_files"].kind is Kind.DIRECTORY
    assert found["setup_files/setup.sh"].mode == 0o755
    script = tmp_path / "setup.sh"
    head = found["setup_files/setup.sh"].read().decode().splitlines()[:2]
    script.write_text("\n".join([*head, "exit 3"]))
    assert subprocess.run(["sh", script], check=False).returncode == 3
    assert not script.exists()


def test_a_task_with_setup_files_of_its_own_is_refused():
    there = replace(task(), files=Tree((*task().files.entries, Entry(path="setup_files/x"))))
    assert "setup_files: is there already" in refused(there, "setup-files")
