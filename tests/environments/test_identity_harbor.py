"""The snapshots of whole generated tasks are those that Harbor would ask for."""

from __future__ import annotations

import random
import shutil

import pytest

from partition.environments.identity import identify
from partition.errors import InputError
from partition.tasks.directory import find_tasks, read_directory
from partition.tasks.model import Task

TASKS = 160
IMAGES = ["python:3.12", "images.example/team/é:1"]


def environment_table(rng: random.Random, name: str) -> list[str]:
    lines = [f"[{name}]"]
    if rng.random() < 0.3:
        lines.append(f'docker_image = "{rng.choice([*IMAGES, ""])}"')
    if rng.random() < 0.1:
        lines.append('os = "Windows"')
    if rng.random() < 0.5:
        lines.append(f"memory_mb = {rng.choice([1024, 2048])}")
        lines.append(f"cpus = {rng.choice(['1', '2', '2.0'])}")
    if rng.random() < 0.1:
        lines.append('storage = "10G"')
    return lines


def verifier_tables(rng: random.Random, prefix: str) -> list[str]:
    mode = rng.choice([None, None, "shared", "separate", "separate"])
    lines = [f"[{prefix}verifier]"]
    if mode:
        lines.append(f'environment_mode = "{mode}"')
    if mode != "shared" and rng.random() < 0.4:
        lines += environment_table(rng, f"{prefix}verifier.environment")
    return lines


def fill(folder, rng: random.Random) -> None:
    """Write a directory that may or may not say how its container is built."""
    folder.mkdir(parents=True, exist_ok=True)
    if rng.random() < 0.6:
        (folder / "Dockerfile").write_text(f"FROM python:3.{rng.randrange(8, 13)}\n")
    if rng.random() < 0.15:
        (folder / "docker-compose.yaml").write_text("services: {}\n")
    if rng.random() < 0.5:
        (folder / "data").mkdir(exist_ok=True)
        (folder / "data" / "x").write_bytes(rng.randbytes(20))


def make_task(folder, rng: random.Random) -> None:
    steps = [f"step {name}" for name in ("one", "zwei", "三")[: rng.choice([0, 0, 0, 2, 3])]]
    fill(folder / "environment", rng)
    tests = folder / "tests"
    fill(tests, rng)
    for name in ("test.sh", "test.bat"):
        (tests / name).write_text("exit 0\n")
    (folder / "instruction.md").write_text("Do it.\n")
    lines = ['schema_version = "1.0"', *environment_table(rng, "environment"), *verifier_tables(rng, "")]
    for step in steps:
        lines += ["[[steps]]", f'name = "{step}"', *verifier_tables(rng, "steps.")]
        place = folder / "steps" / step
        place.mkdir(parents=True)
        (place / "instruction.md").write_text("Do this.\n")
        if rng.random() < 0.6:
            fill(place / "tests", rng)
    (folder / "task.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _link(folder, steps, rng)


def _link(folder, steps: list[str], rng: random.Random) -> None:
    """Replace a part of some tasks by a link to elsewhere in the task."""
    kind = rng.randrange(9)
    dockerfile = folder / "tests" / "Dockerfile"
    if kind == 0 and dockerfile.exists():
        dockerfile.rename(folder / "shared.Dockerfile")
        dockerfile.symlink_to("../shared.Dockerfile")
    elif kind == 1:
        (folder / "tests").rename(folder / "checks")
        (folder / "tests").symlink_to("checks")
    elif kind == 2:
        (folder / "environment").rename(folder / "container")
        (folder / "environment").symlink_to("./container/")
    elif kind == 3:
        shutil.rmtree(folder / "environment")
        (folder / "Dockerfile").write_text("FROM python:3.12\n")
        (folder / "environment").symlink_to(".")
    elif kind == 4 and steps and not (folder / "steps" / steps[0] / "tests").exists():
        (folder / "steps" / steps[0] / "tests").symlink_to("../../tests")


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    root = tmp_path_factory.mktemp("tasks")
    rng = random.Random(21)
    for number in range(TASKS):
        make_task(root / f"task-{number:03}", rng)
    tasks = list(read_directory(root, find_tasks(root)))
    assert all(isinstance(task, Task) for task in tasks), tasks
    return tasks


def described(task: Task, generation: str) -> list | str:
    try:
        uses = identify(task, generation=generation).uses
    except InputError:
        return "refused"
    return [(use.role, use.step, use.reason, use.key, list(use.config.resources)) for use in uses]


def expected(answer: dict, generation: str) -> list | str:
    if "error" in answer:
        assert answer["error"].startswith("error: ValueError: Input"), answer
        return "refused"
    return [
        (
            use["role"],
            use["step"],
            use["kind"],
            use[generation] if use["kind"] is None else None,
            use["resources"],
        )
        for use in answer["uses"]
    ]


@pytest.mark.harbor
@pytest.mark.parametrize("generation", ["content", "legacy"])
def test_containers_of_a_task_are_harbors(ask_harbor, generated, generation):
    answers = ask_harbor(generation, {"tasks": [task.where for task in generated]})["tasks"]
    for task, answer in zip(generated, answers, strict=True):
        assert described(task, generation) == expected(answer, generation), task.where


def test_generated_tasks_hold_what_they_are_meant_to(generated):
    """Every kind of container occurs, and every directory that a verifier can be built from."""
    accepted = [task for task in generated if described(task, "content") != "refused"]
    assert len(generated) * 0.9 < len(accepted) < len(generated)
    uses = [use for task in accepted for use in identify(task).uses]
    verifiers = [use for use in uses if use.role == "verifier"]
    assert {use.reason for use in uses} == {None, "windows", "compose", "prebuilt image", "no Dockerfile"}
    built = [use for use in verifiers if use.key]
    assert {use.folder.partition("/")[0] for use in built} >= {"tests", "environment", "steps", "checks"}
    assert sum(bool(identify(task).verifiers) for task in accepted) >= 60


LINKS = [
    ("tests", "../../outside"),
    ("tests", "/etc/hostname"),
    ("solution", "../../outside"),
    ("tests", "."),
    ("tests", "../tests"),
    ("environment", "/etc/hostname"),
]


@pytest.mark.harbor
def test_tasks_that_harbor_refuses_for_a_link_are_refused(ask_harbor, tmp_path):
    """A link out of the task, or in a circle, from what Harbor uploads or builds; named with its place."""
    (tmp_path / "outside").write_text("secret\n")
    for number, (folder, target) in enumerate(LINKS):
        for mode in ("shared", "separate"):
            task = tmp_path / f"{number}-{mode}"
            for each in ("environment", "tests", "solution"):
                (task / each).mkdir(parents=True)
            (task / "environment" / "Dockerfile").write_text("FROM scratch\n")
            (task / "tests" / "test.sh").write_text("exit 0\n")
            (task / "instruction.md").write_text("Do it.\n")
            (task / "task.toml").write_text(f'[verifier]\nenvironment_mode = "{mode}"\n')
            (task / folder / "link").symlink_to(target)
    tasks = list(read_directory(tmp_path, find_tasks(tmp_path)))
    answers = ask_harbor("content", {"tasks": [task.where for task in tasks]})["tasks"]
    assert sum("error" in answer for answer in answers) == len(LINKS) * 2 - 1
    for task, answer in zip(tasks, answers, strict=True):
        assert described(task, "content") == expected(answer, "content"), task.where
        if "error" in answer:
            with pytest.raises(InputError) as caught:
                identify(task)
            folder, _ = LINKS[int(task.id.partition("-")[0])]
            assert caught.value.faults[0].where == f"{task.where}/{folder}/link"
