"""What must not happen silently is refused or noted, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from programs import file, program, sh

from partition.plan.document import Environment, PackageList, Venv
from partition.rewrite.hazards import Hazards, Mates, gone_packages, hazards_of
from partition.rewrite.program import Program, Run, State
from partition.tasks.model import Entry, EnvironmentConfig, Task, TaskConfig, Tree


def environment(
    base: str = "debian:bookworm", apt: tuple[str, ...] = (), pip: tuple[str, ...] = ()
) -> Environment:
    lists = [PackageList(family="f", version="1", pip=list(pip))]
    return Environment(
        name="shared",
        snapshot="",
        exists=False,
        origin="merged",
        base=base,
        distribution=None,
        release=None,
        python=None,
        apt=list(apt),
        venvs=[Venv(name="v", python=None, lists=lists)] if pip else [],
        dockerfile=f"FROM {base}\n",
        tasks=2,
        families={},
        predicted_yield=1.0,
        predicted_size_bytes=0,
    )


def task(network: str = "public", **files: str) -> Task:
    names = {"instruction": "instruction.md", "test": "tests/test.sh", "dockerfile": "environment/Dockerfile"}
    entries = (
        Entry(path=names[key], source=text.encode(), size=len(text.encode())) for key, text in files.items()
    )
    config = TaskConfig(environment=EnvironmentConfig(network_mode=network))
    return Task(id="t", where="t", files=Tree(tuple(sorted(entries, key=lambda e: e.path))), config=config)


def hazards(
    who: Task, where: Environment, what: Program | None = None, baked: tuple[Any, ...] = ()
) -> Hazards:
    return hazards_of(who, what or program(), where, Mates(tasks=2, baked=baked))


@pytest.mark.parametrize(
    "text",
    [
        "The R package jsonlite is NOT currently installed.",
        "Note: `jsonlite` is not installed; write the parser.",
        "You must not use jsonlite.",
        "Parse it without using `jsonlite`.",
        "**jsonlite** isn't available here.",
    ],
)
def test_a_package_that_the_instruction_calls_absent_is_not_handed_over(text: str) -> None:
    found = hazards(task(instruction=text), environment(apt=("r-cran-jsonlite",)))
    assert [each.where for each in found.refusals] == ["t/instruction.md:1"]
    assert "jsonlite" in found.refusals[0].what
    assert hazards(task(instruction=text), environment(apt=("jq",))) == Hazards()


@pytest.mark.parametrize(
    "text",
    [
        "Install jq and parse the file.",
        "jq is installed.",
        "You do not need to install anything; jq works.",
        "If the file is not present, run jq.",
    ],
)
def test_a_text_that_only_names_a_package_refuses_nothing(text: str) -> None:
    assert hazards(task(instruction=text), environment(apt=("jq",))) == Hazards()


@pytest.mark.parametrize(
    "text",
    [
        'assert shutil.which("jq") is None',
        "assert not shutil.which('jq')",
        "command -v jq && exit 1",
        "if which jq >/dev/null; then exit 1; fi",
        "! command -v jq",
    ],
)
def test_a_test_for_absence_refuses_the_package(text: str) -> None:
    assert len(hazards(task(test=text), environment(apt=("jq",))).refusals) == 1
    assert not hazards(task(test=text), environment(apt=("curl",))).refusals
    assert not hazards(task(test="command -v jq || exit 1\n"), environment(apt=("jq",))).refusals


@pytest.mark.parametrize(
    "run", ["pip uninstall -y numpy", "apt-get update && apt-get purge -y \\\n  python3-numpy"]
)
def test_a_package_that_the_dockerfile_removes_is_not_baked(run: str) -> None:
    who = task(dockerfile=f"FROM debian:bookworm\nRUN {run}\n")
    assert len(hazards(who, environment(pip=("numpy==1.26.4",))).refusals) == 1
    assert not hazards(who, environment(pip=("scipy",))).refusals


def test_what_the_task_itself_installs_is_handed_over_by_nobody() -> None:
    who = task(instruction="Do not use jq.\n", dockerfile="FROM debian:bookworm\nRUN apt-get install -y jq\n")
    assert not hazards(who, environment(apt=("jq",))).refusals


def test_baked_steps_hand_over_packages_too() -> None:
    baked = (sh(2, "pip install jsonlite"),)
    assert (
        len(hazards(task(instruction="jsonlite is not installed"), environment(), baked=baked).refusals) == 1
    )


def test_set_up_that_fetches_is_refused_without_network() -> None:
    what = program(sh(3, "git clone https://example.org/a/b"))
    for mode, count in (("no-network", 1), ("allowlist", 1), ("public", 0)):
        assert len(hazards(task(mode), environment(), what).refusals) == count


def test_apt_needs_a_base_that_has_it() -> None:
    what = program(sh(2, "apt-get install -y jq"))
    for base in ("alpine:3.20", "busybox", "scratch"):
        assert any("uses apt" in each.what for each in hazards(task(), environment(base), what).refusals)
    assert not hazards(task(), environment(), what).refusals


def test_bash_needs_a_base_that_has_it() -> None:
    step = Run(line=4, source="RUN x", state=State(), argv=("/bin/bash", "-c", "x"))
    found = hazards(task(), environment("alpine:3.20"), program(step)).refusals
    assert any("runs bash" in each.what for each in found)
    found = hazards(task(), environment("alpine:3.20", apt=("bash",)), program(step)).refusals
    assert not any("runs bash" in each.what for each in found)


def test_a_package_with_another_name_there_is_named() -> None:
    what = program(sh(2, "apt-get install -y libgl1-mesa-glx"))
    found = hazards(task(), environment("debian:trixie"), what).refusals
    assert any("libgl1" in each.hint and each.where.endswith(":2") for each in found)
    assert not hazards(task(), environment(), what).refusals
    assert "libssl1.1" in gone_packages("debian", "trixie")
    assert "libssl1.1" not in gone_packages("debian", "bullseye")


def test_an_unknown_base_is_not_folded_onto_another() -> None:
    what = Program(where="d", base="registry.example/task:17", steps=())
    assert hazards(task(), environment(), what).refusals
    assert not hazards(task(), environment("registry.example/task:17"), what).refusals


def test_a_path_that_nothing_makes_is_refused() -> None:
    what = Program(where="d", base="registry.example/task:17", steps=())
    who = task(instruction="Fix\n`/testbed/setup.py`.")
    assert any(each.where == "t/instruction.md:2" for each in hazards(who, environment(), what).refusals)
    made = Program(
        where="d", base="debian:12", steps=(file(2, "/testbed/setup.py", b""), sh(3, "ls /testbed"))
    )
    assert not hazards(who, environment(), made).refusals


PYTEST = "FROM debian:bookworm\nRUN git clone https://github.com/pytest-dev/pytest /r{}\n"


def about_pytest(version: str = "5.4", more: str = "") -> Task:
    found = task(dockerfile=PYTEST.format(more))
    return replace(found, config=replace(found.config, metadata=(("version", version),)))


@pytest.mark.parametrize(
    ("version", "held"),
    [
        ("5.4", {"pip": ("pytest==8.3.2",)}),
        ("5.4", {"pip": ("pytest==5.4.3",)}),
        ("5.4", {"pip": ("PyTest",)}),
        ("5.4", {"pip": ("pytest>=5",)}),
        ("", {"pip": ("pytest==4.6",)}),
        ("5.4", {"apt": ("python3-pytest",)}),
    ],
)
def test_a_later_release_of_the_tasks_own_project_is_refused(version: str, held: dict[str, Any]) -> None:
    found = hazards(about_pytest(version), environment(**held)).refusals
    (fault,) = [each for each in found if "is about pytest-dev/pytest" in each.what]
    assert (*held.get("pip", ()), *held.get("apt", ()))[0].lower() in fault.what.lower()


@pytest.mark.parametrize(
    ("more", "held"),
    [
        ("", {}),
        ("", {"pip": ("pytest==5.3.1", "attrs==19.1", "pytest-xdist==3.0")}),
        (" && pip install pytest==8.3.2", {"pip": ("pytest==8.3.2",)}),
        (" && apt-get install -y python3-pytest", {"apt": ("python3-pytest",)}),
    ],
)
def test_an_earlier_release_and_what_the_task_installs_itself_are_not(
    more: str, held: dict[str, Any]
) -> None:
    assert not hazards(about_pytest(more=more), environment(**held)).refusals


def test_a_task_about_another_project_may_have_it() -> None:
    other = task(dockerfile="FROM debian:bookworm\nRUN git clone https://github.com/pallets/flask /r\n")
    assert not hazards(other, environment(pip=("pytest==8.3.2",))).refusals


def test_apt_on_a_release_that_is_gone_is_noted() -> None:
    old = Program(where="d", base="debian:buster", steps=(sh(2, "apt-get update"),))
    assert "buster" in hazards(task(), environment("debian:buster"), old).notes[0]
    assert not hazards(task(), environment(), program(sh(2, "apt-get update"))).notes


def test_a_download_that_may_be_an_error_page_is_noted() -> None:
    assert hazards(task(), environment(), program(sh(2, "curl https://e.org/x > /x"))).notes
    assert not hazards(task(), environment(), program(sh(2, "curl -f https://e.org/x > /x"))).notes
