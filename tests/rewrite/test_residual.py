"""What the shared environment has already is not done again; everything else stays as it was."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from partition.plan.document import Environment, PackageList, Venv
from partition.rewrite.cutting import in_pieces, joined
from partition.rewrite.program import Program, Run
from partition.rewrite.residual import AptNeeds, apt_needs, without_baked
from partition.rewrite.split import program_of
from partition.tasks.model import Entry, Task, Tree

HERE = Path(__file__).parent
make = runpy.run_path(str(HERE / "test_union_builds.py"))["environment"]
APT = ["curl", "git", "libpq-dev=15.3-1"]
INSTALL = "apt-get install -y --no-install-recommends"
TIDY = "rm -rf /var/lib/apt/lists/*"


def environment(*, apt: list[str] | None = None, pip: list[str] | None = None) -> Environment:
    lists = [PackageList(family="f", version="1", pip=pip or [])]
    venvs = [Venv(name="set", python="3.9", lists=lists)] if pip else []
    base = make(base="python:3.9-slim-bookworm")
    return base.model_copy(update={"apt": APT if apt is None else apt, "venvs": venvs})


def split(dockerfile: str) -> Program:
    data = f"FROM python:3.9-slim-bookworm\n{dockerfile}\n".encode()
    entry = Entry(path="environment/Dockerfile", source=data, size=len(data))
    found = program_of(Task(id="t", where="t", files=Tree((entry,), name="t")))
    assert isinstance(found, Program), str(found)
    return found


def left(dockerfile: str, **held: list[str]) -> list[str]:
    found = without_baked(split(dockerfile), environment(**held))
    return [step.argv[-1] for step in joined(found.steps) if isinstance(step, Run)]


@pytest.mark.parametrize(
    "dockerfile",
    [
        f"RUN apt-get update && {INSTALL} git curl && {TIDY}",
        f"RUN apt-get update\nRUN {INSTALL} git\nRUN {TIDY}",
        f"RUN set -eux; apt-get update; {INSTALL} git; {TIDY}; apt-get clean",
        "RUN DEBIAN_FRONTEND=noninteractive apt-get -qq -o A::B=1 install -y git",
        "RUN sudo apt-get update && sudo -E apt install -yq libpq-dev=15.3-1 libpq-dev",
        "ARG P=git\nRUN apt-get install -y $P",
        f'SHELL ["/bin/bash", "-o", "pipefail", "-c"]\nRUN apt-get update && {INSTALL} git',
    ],
)
def test_nothing_is_left_of_an_installation_that_is_there(dockerfile: str) -> None:
    assert left(dockerfile) == []


@pytest.mark.parametrize(
    ("dockerfile", "expected"),
    [
        ("RUN {i} git && make", ["make"]),
        ("RUN make && {i} git", ["make"]),
        ("RUN a && {i} git && b", ["a && b"]),
        # a failing command before a semicolon does not fail the RUN, and must not begin to
        ("RUN a; {i} git", ["a; true"]),
        ("RUN a; {i} git; b", ["a; true; b"]),
        ("RUN {i} git || b", ["true || b"]),
        ("RUN a || {i} git && b", ["a || true && b"]),
        ("RUN apt-get update && {i} git && cd /x && make && {t}", ["cd /x && make"]),
        (
            "RUN apt-get update && {i} git && rm -rf /var/lib/apt/lists/* /tmp/*",
            ["rm -rf /var/lib/apt/lists/* /tmp/*"],
        ),
    ],
)
def test_only_the_installation_is_cut_out(dockerfile: str, expected: list[str]) -> None:
    assert left(dockerfile.format(i=INSTALL, t=TIDY)) == expected


@pytest.mark.parametrize(
    "script",
    [
        "apt-get update && {i} git jq",
        "{i} git=1:2.0",
        "{i} git/stable",
        "{i} -t bookworm-backports git",
        "{i} git-",
        "{i} $UNKNOWN",
        "{i} ./git.deb",
        "apt-get build-dep -y git",
        "if true; then {i} git; fi",
        "(cd /x && {i} git)",
        "{i} git > /log",
        "{i} git | tee /log",
        "bash -c '{i} git'",
        "for p in git; do {i} $p; done",
        "apt-get update && apt-get upgrade -y",
        "apt-get update",
        "cat <<EOF\n{i} git\nEOF",
    ],
)
def test_what_is_not_known_to_be_there_is_done_as_written(script: str) -> None:
    script = script.format(i=INSTALL)
    assert left(f"RUN <<'X'\n{script}\nX") in ([script], [f"{script}\n"])


@pytest.mark.parametrize(
    "before",
    [
        "RUN apt-get purge -y git",
        "RUN apt-get autoremove -y",
        "RUN curl -fsSL https://deb.example.org/setup_20.x | bash -",
        "RUN add-apt-repository -y ppa:x/y",
        "RUN echo 'deb https://example.org x main' > /etc/apt/sources.list.d/x.list",
        "COPY <<E /etc/apt/preferences\nPackage: git\nE",
    ],
)
def test_after_packages_were_removed_or_sources_changed_nothing_is_dropped(before: str) -> None:
    assert left(f"{before}\nRUN {INSTALL} git")[-1] == f"{INSTALL} git"
    assert left(f"RUN {INSTALL} git\n{before}")[:1] != [f"{INSTALL} git"]


def test_an_update_stays_for_what_still_needs_it() -> None:
    assert left(f"RUN apt-get update && {INSTALL} git && {TIDY}\nRUN apt-get update && {INSTALL} jq") == [
        f"apt-get update && {TIDY}",
        f"apt-get update && {INSTALL} jq",
    ]


def test_exact_pins_that_are_baked_are_not_installed_again() -> None:
    pip = ["attrs==23.1.0", "numpy<2", "requests"]
    assert left("RUN pip install --no-cache-dir -q 'numpy<2' attrs==23.1.0 && make", pip=pip) == ["make"]
    assert left("RUN python -m pip install requests", pip=pip) == []
    kept = [
        "pip install 'numpy<3'",
        "pip install -U requests",
        "pip install -r requirements.txt",
        "pip install -e .",
        "pip install requests six",
        "pip install --target /x requests",
        "/opt/venv/bin/pip install requests",
        ". /opt/venv/bin/activate && pip install requests",
        "export PATH=/opt/venv/bin:$PATH && pip install requests",
    ]
    for script in kept:
        assert left(f"RUN {script}", pip=pip) == [script]


def test_another_interpreters_packages_are_not_the_bases() -> None:
    pip = ["requests"]
    assert left("ENV PATH=/opt/venv/bin:$PATH\nRUN pip install requests", pip=pip) == ["pip install requests"]
    assert left("USER app\nRUN pip install requests", pip=pip) == ["pip install requests"]


def test_states_and_other_steps_are_untouched() -> None:
    found = split(f"ENV A=1\nRUN {INSTALL} git && make\nWORKDIR /w\nRUN {INSTALL} git")
    shorter = without_baked(found, environment())
    assert [step.line for step in shorter.steps] == [3, 4]
    assert shorter.steps[0].state == found.steps[0].state
    assert shorter.environment == found.environment
    assert without_baked(found, environment(apt=[])) == replace(found, steps=in_pieces(found.steps))


@pytest.mark.parametrize(
    ("dockerfile", "needs"),
    [
        (f"RUN apt-get update && {INSTALL} git && {TIDY}", AptNeeds()),
        (f"RUN apt-get update && {INSTALL} git", AptNeeds(lists=True)),
        (f"RUN apt-get update && apt-get install -y git && {TIDY}", AptNeeds(recommends=True)),
        (f"RUN apt-get update\nRUN {INSTALL} git\nRUN {TIDY}", AptNeeds()),
        ("RUN make", AptNeeds()),
    ],
)
def test_what_an_installation_leaves_besides_is_told(dockerfile: str, needs: AptNeeds) -> None:
    assert apt_needs(split(dockerfile)) == needs
    assert apt_needs(split(dockerfile)) | AptNeeds() == needs
