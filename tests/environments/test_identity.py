"""Which snapshots a task needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from partition.environments.identity import Role, Unfoldable, identify
from partition.environments.snapshot import content_key, legacy_key
from partition.errors import InputError
from partition.tasks.model import (
    EnvironmentConfig,
    Kind,
    Spec,
    StepConfig,
    Task,
    TaskConfig,
    Tree,
    VerifierConfig,
)

DOCKERFILE = {"Dockerfile": "FROM python:3.12\n"}
SEPARATE = VerifierConfig(environment_mode="separate")
GENERATIONS = pytest.mark.parametrize("generation", ["content", "legacy"])


@GENERATIONS
def test_a_task_needs_the_snapshot_of_its_environment(task, generation):
    one = task(DOCKERFILE)
    identity = identify(one, generation=generation)
    key = content_key if generation == "content" else legacy_key
    assert identity.environment.key == key(one.environment)
    assert identity.verifiers == ()
    assert identity.unfoldable is None


@GENERATIONS
def test_nothing_outside_the_environment_is_in_its_key(task, generation):
    """Instruction, author, tags, solution and tests (CASES 9); resources and network (CASES 7, 26)."""
    one = identify(task(DOCKERFILE), generation=generation)
    config = TaskConfig(
        environment=EnvironmentConfig(memory_mb=4096, network_mode="no-network", env=(("A", "b"),)),
        metadata=(("author", "x"), ("tags", "y")),
    )
    others = {"instruction.md": "Other.\n", "solution/solve.sh": "exit 0\n", "tests/test.sh": "exit 1\n"}
    two = identify(task(DOCKERFILE, name="other", others=others, config=config), generation=generation)
    assert one.environment.key == two.environment.key


@pytest.mark.parametrize(
    ("files", "config", "reason"),
    [
        (DOCKERFILE, {"os": "windows"}, Unfoldable.WINDOWS),
        ({**DOCKERFILE, "docker-compose.yaml": "services: {}\n"}, {}, Unfoldable.COMPOSE),
        ({"docker-compose.yaml": "services: {}\n"}, {"docker_image": "a:1"}, Unfoldable.COMPOSE),
        ({}, {"docker_image": "a:1"}, Unfoldable.PREBUILT),
        ({"data": "1"}, {"docker_image": "a:1"}, Unfoldable.PREBUILT),
        ({}, {}, Unfoldable.NO_DOCKERFILE),
        ({"dockerfile": "FROM a\n"}, {"docker_image": ""}, Unfoldable.NO_DOCKERFILE),
        ({"Dockerfile/x": "a folder"}, {}, Unfoldable.NO_DOCKERFILE),
        (DOCKERFILE, {"docker_image": "a:1"}, None),
        ({**DOCKERFILE, "docker-compose.yml": "other name"}, {}, None),
    ],
)
def test_what_cannot_be_folded_says_why(task, files, config, reason):
    identity = identify(task(files, **config))
    assert identity.unfoldable == reason
    assert (identity.environment.key is None) == (reason is not None)


def test_a_verifier_of_its_own_needs_a_second_snapshot(task):
    """CASES 8: keyed on ``tests/``."""
    config = TaskConfig(verifier=SEPARATE)
    one = task(DOCKERFILE, config=config, others={"tests/Dockerfile": "FROM a\n", "tests/test.sh": "1"})
    (verifier,) = identify(one).verifiers
    assert (verifier.role, verifier.folder) == (Role.VERIFIER, "tests")
    assert verifier.key == content_key(one.files.below("tests"))


def test_a_tests_dockerfile_without_the_mode_is_not_built(task):
    assert identify(task(DOCKERFILE, others={"tests/Dockerfile": "FROM a\n"})).verifiers == ()


def test_a_verifier_without_files_of_its_own_reuses_the_environment_from_026_on(task):
    one = task(DOCKERFILE, config=TaskConfig(verifier=SEPARATE), others={"tests/test.sh": "1"})
    content = identify(one)
    assert [use.key for use in content.verifiers] == [content.environment.key]
    (legacy,) = identify(one, generation="legacy").verifiers
    assert (legacy.key, legacy.reason) == (None, Unfoldable.NO_DOCKERFILE)


def test_each_step_may_have_a_verifier_of_its_own(task):
    config = TaskConfig(
        verifier=SEPARATE,
        steps=(
            StepConfig(name="own", verifier=VerifierConfig(environment=EnvironmentConfig(cpus=2))),
            StepConfig(name="inherits"),
            StepConfig(name="shares", verifier=VerifierConfig(environment_mode="shared")),
        ),
    )
    others = {
        "steps/own/tests/Dockerfile": "FROM own\n",
        "steps/inherits/tests/test.sh": "1",
        "tests/Dockerfile": "FROM all\n",
    }
    verifiers = identify(task(DOCKERFILE, config=config, others=others)).verifiers
    assert [(use.step, use.folder, use.config.cpus) for use in verifiers] == [
        ("own", "steps/own/tests", 2),
        ("inherits", "tests", None),
    ]


def test_equal_directories_share_a_snapshot_whatever_they_are_for(task):
    config = TaskConfig(verifier=SEPARATE)
    identity = identify(
        task(DOCKERFILE, config=config, others={"tests/Dockerfile": DOCKERFILE["Dockerfile"]})
    )
    assert {use.key for use in identity.uses} == {identity.environment.key}


def test_a_windows_task_passes_its_system_on_to_a_verifier_that_says_nothing(task):
    config = TaskConfig(
        environment=EnvironmentConfig(os="windows"),
        verifier=VerifierConfig(environment=EnvironmentConfig(memory_mb=1)),
    )
    (verifier,) = identify(task(DOCKERFILE, config=config)).verifiers
    assert verifier.reason is Unfoldable.WINDOWS


@GENERATIONS
def test_a_link_to_the_environment_is_the_environment(task, generation):
    plain = task(DOCKERFILE)
    entries = [
        replace(entry, path=entry.path.replace("environment", "container")) for entry in plain.files.entries
    ]
    link = replace(plain.files.get("instruction.md"), path="environment", kind=Kind.LINK, target="container")
    moved = replace(plain, files=Tree(tuple(sorted([*entries, link], key=lambda e: e.path)), name="t"))
    here, there = identify(plain, generation=generation), identify(moved, generation=generation)
    assert there.environment.key == here.environment.key
    assert there.environment.folder == "container"


@pytest.mark.parametrize(
    ("files", "generation", "where"),
    [
        ({**DOCKERFILE, "out": "-> ../../../x"}, "legacy", "set/t/environment/out"),
        ({**DOCKERFILE, "sub/out": "-> /etc/passwd"}, "legacy", "set/t/environment/sub/out"),
        ({"Dockerfile": "-> /etc/passwd"}, "content", "set/t/environment/Dockerfile"),
        ({**DOCKERFILE, "a\udcff": "1"}, "content", "set/t/environment/'a\\udcff'"),
    ],
)
def test_what_harbor_could_not_key_is_a_fault_with_its_place(task, files, generation, where):
    with pytest.raises(InputError) as caught:
        identify(task(files), generation=generation)
    (fault,) = caught.value.faults
    assert (fault.where, fault.task) == (where, "t")
    assert fault.hint


@pytest.mark.parametrize("name", ["..", ".", "", "a/../../b"])
def test_a_step_cannot_climb_out_of_its_folder(task, name):
    config = TaskConfig(steps=(StepConfig(name=name, verifier=SEPARATE),))
    with pytest.raises(InputError, match="is not the name of one directory"):
        identify(task(DOCKERFILE, config=config))


def test_a_link_out_of_the_tests_is_left_to_harborignore(task):
    others = {"tests/out": "-> /etc/passwd", "tests/.harborignore": "out\n"}
    assert identify(task(DOCKERFILE, others=others)).environment.key
    with pytest.raises(InputError, match="the link leaves the task"):
        identify(task(DOCKERFILE, others={"tests/out": "-> /etc/passwd"}))
    separate = TaskConfig(verifier=SEPARATE)
    with pytest.raises(InputError, match="the link leaves the task"):
        identify(task(DOCKERFILE, others={**others, "tests/Dockerfile": "FROM a\n"}, config=separate))


def test_equal_needs_of_a_spec_table_are_one_environment_whatever_their_outcomes():
    def key(**fields):
        row = Task(id="r", where="specs.csv:2", spec=Spec(repo="a/b", **fields))
        return identify(row).environment.key

    assert key(outcomes=(("own", "pass"),), created_at="2021-01-01") == key()
    assert key(python="3.9") != key()
