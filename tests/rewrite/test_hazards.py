"""What must not happen silently is refused or noted, and nothing else is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from programs import file, program, sh

from partition.environments.render import render
from partition.environments.shared import PackageSet, SetMember, SharedEnvironment
from partition.plan.document import Environment, PackageList, Venv
from partition.rewrite.hazards import Hazards, Mates, hazards_of
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


def test_what_the_plan_adds_for_cloning_and_building_is_handed_over_too() -> None:
    member = SetMember(family="a/b", version="1", repo="a/b", pip=("six",))
    rendered = render(
        SharedEnvironment(
            name="shared",
            origin="own",
            base="debian:bookworm",
            baked=PackageSet(name="set", members=(member,)),
        )
    )
    where = environment().model_copy(update={"dockerfile": rendered})
    for name in ("git", "build-essential", "gcc", "make", "ca-certificates", "pip", "six"):
        found = hazards(task(instruction=f"Note: `{name}` is not installed."), where).refusals
        assert [each.where for each in found] == ["t/instruction.md:1"], name
        has = task(instruction="You must not use git.", dockerfile="FROM x\nRUN apt-get install -y git\n")
        assert not hazards(has, where).refusals
    assert not hazards(task(instruction="`jq` is not installed."), where).refusals


def test_a_full_image_hands_its_tools_to_the_task_of_a_slim_one() -> None:
    what = Program(where="d", base="python:3.11-slim-bookworm", steps=())
    who = task(test="! command -v wget\n")
    assert len(hazards(who, environment("python:3.11-bookworm"), what).refusals) == 1
    assert not hazards(who, environment("python:3.11-slim-bookworm"), what).refusals
    full = replace(what, base="python:3.11-bookworm")
    assert not hazards(who, environment("python:3.11-bookworm"), full).refusals


def test_set_up_that_fetches_is_refused_without_network() -> None:
    what = program(sh(3, "git clone https://example.org/a/b"))
    for mode, count in (("no-network", 1), ("allowlist", 1), ("public", 0)):
        assert len(hazards(task(mode), environment(), what).refusals) == count


def test_apt_needs_a_base_that_has_it() -> None:
    what = program(sh(2, "apt-get install -y jq"))
    for base in ("alpine:3.20", "busybox", "scratch"):
        assert any("uses apt" in each.what for each in hazards(task(), environment(base), what).refusals)
    assert not hazards(task(), environment(), what).refusals


@pytest.mark.parametrize("run", ["pip install x", "python3 -m pip install x", "pip3 install x"])
def test_pip_needs_a_base_that_has_it(run: str) -> None:
    for base in ("debian:bookworm", "ubuntu:22.04", "alpine:3.20"):
        what = Program(where="d", base="python:3.11-slim-bookworm", steps=(sh(3, run),))
        found = hazards(task(), environment(base), what).refusals
        assert [each.where for each in found if each.what == f"uses pip, and {base} has none"] == ["d:3"]
        first = replace(what, steps=(sh(2, "apt-get install -y python3-pip"), *what.steps))
        with_pip = environment(base).model_copy(update={"dockerfile": "FROM x\nRUN apk add py3-pip\n"})
        for where, other in ((environment(base), first), (with_pip, what)):
            assert not any("uses pip" in each.what for each in hazards(task(), where, other).refusals)
    for base in ("python:3.11-bookworm", "condaforge/miniforge3:24.11.3-2", "registry.example/task:17"):
        what = Program(where="d", base="debian:bookworm", steps=(sh(3, run),))
        assert not any("uses pip" in each.what for each in hazards(task(), environment(base), what).refusals)


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


def test_an_unknown_base_is_not_folded_onto_another() -> None:
    what = Program(where="d", base="registry.example/task:17", steps=())
    assert hazards(task(), environment(), what).refusals
    assert not hazards(task(), environment("registry.example/task:17"), what).refusals


class TestPathsThatTheNewImageLacks:
    OWN = "registry.example/task:17"

    @pytest.mark.parametrize(
        "path",
        ["/app/Solution.java", "/testbed/setup.py", "/opt/tool", "/data/in.csv", "/miniconda3/bin/python"],
    )
    @pytest.mark.parametrize("place", ["instruction", "test"])
    def test_a_path_that_only_the_tasks_own_image_had_is_named_with_its_line(
        self, path: str, place: str
    ) -> None:
        what = Program(where="d", base=self.OWN, steps=())
        found = hazards(task(**{place: f"Fix\n`{path}`."}), environment(), what).refusals
        file = {"instruction": "instruction.md", "test": "tests/test.sh"}[place]
        (fault,) = [each for each in found if each.where == f"t/{file}:2"]
        assert fault.what == f"names {path}, which nothing makes on debian:bookworm"

    @pytest.mark.parametrize("made", ["put", "run", "baked", "image", "workdir"])
    def test_one_that_is_made_again_is_not(self, made: str) -> None:
        steps = {"put": (file(2, "/app/Solution.java", b""),), "run": (sh(2, "touch /app/Solution.java"),)}
        what = Program(where="d", base=self.OWN, steps=steps.get(made, ()), workdir="/app/Solution.java/x")
        what = what if made == "workdir" else replace(what, workdir="/")
        where = environment()
        if made == "image":
            where = where.model_copy(update={"dockerfile": "FROM x\nCOPY a /app/Solution.java\n"})
        baked = (sh(2, "touch /app/Solution.java"),) if made == "baked" else ()
        found = hazards(task(instruction="Fix `/app/Solution.java`."), where, what, baked).refusals
        assert not any("which nothing makes" in each.what for each in found)

    def test_nothing_is_said_where_the_image_stands_in_for_the_tasks_own(self) -> None:
        who = task(instruction="Write /app/Solution.java and /testbed/x.")
        assert hazards(who, environment(), program()) == Hazards()
        assert hazards(who, environment(self.OWN), Program(where="d", base=self.OWN, steps=())) == Hazards()

    @pytest.mark.parametrize(
        "text",
        ["see /usr/bin/env", "in /tmp/x", "and/or", "https://e.org/app/x", "${ROOT}/app", "</app>", "1/2"],
    )
    def test_what_every_image_has_and_what_is_no_path_is_left_alone(self, text: str) -> None:
        what = Program(where="d", base=self.OWN, steps=())
        found = hazards(task(instruction=text), environment(), what).refusals
        assert not any("which nothing makes" in each.what for each in found)


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


class TestReleasesThatAreGone:
    """Their images build no more: ``The repository ... does not have a Release file``."""

    @pytest.mark.parametrize(
        "base", ["debian:stretch", "python:3.7-slim-buster", "debian:10", "ubuntu:21.10"]
    )
    def test_apt_at_run_time_is_noted_where_the_task_had_it_already(self, base: str) -> None:
        old = Program(where="d", base=base, steps=(sh(2, "apt-get update"),))
        found = hazards(task(), environment(base), old)
        assert not found.refusals
        assert "gone from the mirrors" in found.notes[0]
        archive = Program(
            where="d", base=base, steps=(sh(1, "sed -i s/mirror.example/archive.debian.org/ /x"),)
        )
        both = replace(archive, steps=(*archive.steps, *old.steps))
        assert not hazards(task(), environment(base), both).notes

    @pytest.mark.parametrize("base", ["debian:stretch", "python:3.7-slim-buster"])
    def test_an_image_that_installs_there_cannot_be_built_and_nobody_is_put_into_it(self, base: str) -> None:
        own = Program(where="d", base=base, steps=())
        rendered = environment(base)
        rendered = rendered.model_copy(update={"dockerfile": f"FROM {base}\nRUN apt-get install -y jq\n"})
        (fault,) = hazards(task(), rendered, own).refusals
        assert "the image of shared cannot be built" in fault.what
        assert "is gone from the mirrors" in fault.what
        assert not hazards(task(), rendered.model_copy(update={"exists": True}), own).refusals
        fixed = (
            f"FROM {base}\nRUN sed -i s/mirror.example/archive.debian.org/ /x\nRUN apt-get install -y jq\n"
        )
        assert not hazards(task(), rendered.model_copy(update={"dockerfile": fixed}), own).refusals

    @pytest.mark.parametrize(
        ("own", "shared"),
        [("python:3.7-slim-bullseye", "python:3.7-slim-buster"), ("debian:bookworm", "debian:stretch")],
    )
    def test_a_task_is_not_moved_to_one(self, own: str, shared: str) -> None:
        found = hazards(task(), environment(shared), Program(where="d", base=own, steps=())).refusals
        assert any("would be moved to a release without packages" in each.what for each in found)
        back = hazards(task(), environment(own), Program(where="d", base=own, steps=()))
        assert back == Hazards()

    @pytest.mark.parametrize("base", ["python:3.9-slim-bullseye", "debian:bookworm", "ubuntu:20.04"])
    def test_one_that_ended_and_still_has_its_packages_is_none(self, base: str) -> None:
        own = Program(where="d", base=base, steps=(sh(2, "apt-get update"),))
        assert hazards(task(), environment(base, apt=("jq",)), own) == Hazards()


def test_a_download_that_may_be_an_error_page_is_noted() -> None:
    assert hazards(task(), environment(), program(sh(2, "curl https://e.org/x > /x"))).notes
    assert not hazards(task(), environment(), program(sh(2, "curl -f https://e.org/x > /x"))).notes
