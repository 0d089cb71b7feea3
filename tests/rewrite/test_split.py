"""A Dockerfile as a program: what is refused, where, and what is resolved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from partition.rewrite.program import Program, Put, Run
from partition.rewrite.refusal import Refused
from partition.rewrite.split import program_of
from partition.tasks.model import Entry, Kind, Task, Tree


def task(dockerfile: str | bytes | None, files: dict[str, str | None] | None = None) -> Task:
    """Return a task; None is a folder, ``-> x`` a link."""
    entries = []
    if dockerfile is not None:
        data = dockerfile.encode() if isinstance(dockerfile, str) else dockerfile
        entries.append(Entry(path="environment/Dockerfile", source=data, size=len(data)))
    for path, content in (files or {}).items():
        name = f"environment/{path}"
        if content is None:
            entries.append(Entry(path=name, kind=Kind.DIRECTORY, mode=0o755))
        elif content.startswith("-> "):
            entries.append(Entry(path=name, kind=Kind.LINK, target=content.removeprefix("-> ")))
        else:
            entries.append(Entry(path=name, source=content.encode(), size=len(content.encode())))
    files_of = Tree(tuple(sorted(entries, key=lambda entry: entry.path)), name="x")
    return Task(id="x", where="set/x", files=files_of)


def split(dockerfile: str, files: dict[str, str | None] | None = None) -> Program:
    found = program_of(task(f"FROM debian:bookworm\n{dockerfile}", files))
    assert isinstance(found, Program), str(found)
    return found


def refused(dockerfile: str | bytes | None, files: dict[str, str | None] | None = None) -> list[str]:
    found = program_of(task(dockerfile, files))
    assert isinstance(found, Refused)
    assert all(reason.task == "x" for reason in found.reasons)
    return [f"{reason.where} {reason.what}" for reason in found.reasons]


def puts(found: Program) -> dict[str, str]:
    return {
        step.path: step.entry.target or step.entry.read().decode()
        for step in found.steps
        if isinstance(step, Put) and step.entry.kind is not Kind.DIRECTORY
    }


def folders(found: Program) -> list[str]:
    return [step.path for step in found.steps if isinstance(step, Put) and step.entry.kind is Kind.DIRECTORY]


def test_every_reason_is_told_with_its_line() -> None:
    text = 'FROM debian:bookworm\nCOPY a /\nRUN --network=none x\nADD b http://c /\nENTRYPOINT ["/run"]\n'
    assert refused(text) == [
        "set/x/environment/Dockerfile:2 COPY a: not in the build context",
        "set/x/environment/Dockerfile:3 RUN --network=none",
        "set/x/environment/Dockerfile:4 ADD of files and downloads in one instruction",
        'set/x/environment/Dockerfile:5 ENTRYPOINT does something at every start: ENTRYPOINT ["/run"]',
    ]


def test_a_broken_dockerfile_is_refused_with_its_own_faults() -> None:
    assert refused("RUN x\nFROM debian\n>>> import os\n") == [
        "set/x/environment/Dockerfile:1 RUN before FROM",
        "set/x/environment/Dockerfile:3 unknown instruction: >>> import os",
    ]
    assert refused(b"FROM debian\nRUN \xff\n") == ["set/x/environment/Dockerfile:2 not UTF-8: byte 0xff"]
    assert refused(None) == ["set/x/environment/Dockerfile no Dockerfile: there is nothing to fold"]


def test_a_pattern_that_docker_refuses_names_the_ignore_file() -> None:
    (found,) = refused("FROM debian:bookworm\nCOPY . /\n", {".dockerignore": "[a\n", "a": "a"})
    assert found.startswith("set/x/environment/.dockerignore ")


def test_a_file_without_a_copy_never_reads_the_ignore_file() -> None:
    found = program_of(task("FROM debian:bookworm\nRUN x\n", {".dockerignore": "[a\n"}))
    assert isinstance(found, Program)


def test_the_same_text_in_another_task_is_resolved_with_that_tasks_files() -> None:
    text = "FROM debian:bookworm\nCOPY a /a\n"
    first, second = (program_of(task(text, {"a": content})) for content in ("1", "2"))
    assert isinstance(first, Program)
    assert isinstance(second, Program)
    assert (puts(first), puts(second)) == ({"/a": "1"}, {"/a": "2"})
    assert isinstance(program_of(task(text)), Refused)


def test_steps_name_their_line_and_source() -> None:
    found = split("RUN a \\\n  # comment\n  && b\nCOPY <<E /x\n1\nE\n")
    assert [(step.line, step.source) for step in found.steps] == [
        (2, "RUN a   && b"),
        (5, "COPY <<E /x\n1\nE"),
    ]


def test_an_empty_folder_is_copied() -> None:
    assert folders(split("COPY d /d\n", {"d": None, "d/empty": None})) == ["/d", "/d/empty"]


def test_a_folder_that_is_left_out_comes_back_with_what_is_kept_in_it() -> None:
    files = {
        ".dockerignore": "d\n!d/keep/x\n",
        "d": None,
        "d/keep": None,
        "d/keep/x": "x",
        "d/y": "y",
        "e": None,
    }
    found = split("COPY . /c\n", files)
    assert folders(found) == ["/c", "/c/d", "/c/d/keep", "/c/e"]
    assert puts(found).keys() == {"/c/.dockerignore", "/c/Dockerfile", "/c/d/keep/x"}


def test_links_that_leave_the_context_stay_inside_it() -> None:
    """A link to ``/etc/passwd`` names the context's own; one that circles leads nowhere."""
    files = {"etc/passwd": "own", "l": "-> /etc/passwd", "up": "-> ../../../etc/passwd", "round": "-> round"}
    assert puts(split("COPY l /1\nCOPY up /2\n", files)) == {"/1": "own", "/2": "own"}
    assert "leads nowhere" in refused("FROM debian:bookworm\nCOPY round /\n", files)[0]


def test_a_link_named_on_the_way_is_followed() -> None:
    files = {"real/in": "in", "way": "-> real"}
    found = split("COPY way/in /x\n", files)
    assert puts(found) == {"/x": "in"}


def test_a_link_in_front_of_a_wildcard_is_followed() -> None:
    files = {"real/a.txt": "a", "real/b.md": "b", "way": "-> real"}
    assert puts(split("COPY way/*.txt /x/\n", files)) == {"/x/a.txt": "a"}


def test_exclusions_are_expanded() -> None:
    files = {"d/a.txt": "a", "d/b.md": "b"}
    found = split("ARG KIND=md\nCOPY --exclude=*.$KIND d /x/\n", files)
    assert puts(found) == {"/x/a.txt": "a"}


def test_copy_and_unpack_know_an_archive_by_its_bytes() -> None:
    assert puts(split("ADD a.tar.gz /x/\n", {"a.tar.gz": "no archive"})) == {"/x/a.tar.gz": "no archive"}


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("debian:bookworm", "/x:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        (
            "docker.io/library/python:3.9-slim",
            "/x:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ),
        (
            "golang:1.22",
            "/x:/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ),
    ],
)
def test_the_path_of_an_official_image_is_known(base: str, path: str) -> None:
    found = program_of(task(f"FROM {base}\nENV PATH=/x:$PATH\nRUN y\n"))
    assert isinstance(found, Program)
    assert dict(found.environment)["PATH"] == path
    assert dict(found.steps[0].state.environment)["PATH"] == path


def test_before_an_env_the_bases_own_value_is_in_force() -> None:
    found = program_of(task("FROM python:3.9\nRUN a\nENV LANG=C\nRUN b\n"))
    assert isinstance(found, Program)
    assert [dict(step.state.environment) for step in found.steps] == [{"LANG": "C.UTF-8"}, {"LANG": "C"}]
    assert found.steps[0].state.arguments == ()


def test_what_the_base_may_define_is_refused_only_where_it_is_needed() -> None:
    unknown = "FROM example.org/own:1\nWORKDIR /app\n"
    assert isinstance(program_of(task(f"{unknown}RUN echo $ANY\n")), Program)
    assert isinstance(program_of(task(f"{unknown}ENV A=1\nENV B=$A\n")), Program)
    assert refused(f"{unknown}ENV B=$A\nCOPY $C /$D/\n") == [
        "set/x/environment/Dockerfile:3 ENV needs $A, which the base image may define",
        "set/x/environment/Dockerfile:4 COPY needs $C, which the base image may define",
        "set/x/environment/Dockerfile:4 COPY needs $D, which the base image may define",
    ]


def test_volumes_are_made_last() -> None:
    found = split("VOLUME /v\nRUN a\nWORKDIR /w\n")
    assert [step.path if isinstance(step, Put) else "run" for step in found.steps] == ["run", "/w", "/v"]


@pytest.mark.parametrize(
    "words",
    [
        '["/bin/bash"]',
        '["tini", "--"]',
        '["bash", "-l"]',
        "[]",
        '["sleep", "infinity"]',
        "/bin/sh",
        '["sh", "-c"]',
    ],
)
def test_an_entry_point_that_waits_is_left_out(words: str) -> None:
    assert split(f"ENTRYPOINT {words}\n").steps == ()


@pytest.mark.parametrize("words", ['["python", "-m", "x"]', "/start.sh", '["sh", "-c", "make && exec sh"]'])
def test_an_entry_point_that_does_something_is_refused(words: str) -> None:
    assert "ENTRYPOINT does something" in refused(f"FROM debian:bookworm\nENTRYPOINT {words}\n")[0]


def test_the_entry_point_that_counts_is_the_last() -> None:
    assert split('ENTRYPOINT ["/start"]\nENTRYPOINT []\nRUN x\n').steps


def test_root_by_any_name_is_root() -> None:
    found = split("USER app\nRUN a\nUSER 0\nRUN b\nUSER root:root\nRUN c\n")
    assert [step.state.user for step in found.steps] == ["app", None, None]


def test_equal_dockerfiles_give_equal_programs() -> None:
    text = "FROM debian:bookworm\nARG A=1\nENV B=$A\nRUN x\nCOPY a /\n"
    first, second = (program_of(task(text, {"a": "1"})) for _ in range(2))
    assert first == second


def test_a_program_does_not_depend_on_comments_and_blank_lines() -> None:
    plain = split("ENV A=1\nRUN x\nWORKDIR /w\n")
    spaced = split("# c\n\nENV   A=1\n\n# d\nRUN x\n\n\nWORKDIR /w\n")
    strip = [replace(step, line=0, source="") for step in plain.steps]
    assert [replace(step, line=0, source="") for step in spaced.steps] == strip


def test_arguments_are_not_the_containers() -> None:
    found = split("ARG A=1\nENV B=2\nARG B=3\nRUN x\n")
    (step,) = found.steps
    assert isinstance(step, Run)
    assert step.state.environment == (("A", "1"), ("B", "3"))
    assert step.state.arguments == ("A", "B")
    assert found.environment == (("B", "2"),)


def test_an_archive_of_zstandard_is_refused_by_name_and_copied_as_it_is() -> None:
    """BuildKit unpacks it; Python does from 3.14 on only, and the result must not depend on who runs this."""
    frame = "\x28\xb5\x2f\xfd".encode("latin-1") + bytes(40)
    entries = task("FROM debian:bookworm\nWORKDIR /x\nADD a.tar.zst /y/\n").files.entries
    archive = Entry(path="environment/a.tar.zst", source=frame, size=len(frame))
    added = Task(id="x", where="set/x", files=Tree((entries[0], archive), name="x"))
    found = program_of(added)
    assert isinstance(found, Refused)
    (reason,) = found.reasons
    assert reason.where == "set/x/environment/Dockerfile:3"
    assert reason.what.startswith(
        "ADD a.tar.zst: compressed with Zstandard, which neither Python before 3.14"
    )
    assert reason.hint == "compress it with gzip, or unpack it in the context"
    copied = task("FROM debian:bookworm\nCOPY a.tar.zst /y/\n").files.entries
    program = program_of(replace(added, files=Tree((copied[0], archive), name="x")))
    assert isinstance(program, Program)
    assert [step.entry.read() for step in program.steps if isinstance(step, Put) and step.entry.size] == [
        frame
    ]
