"""A shared image holds nothing of one task that another could read, and refusals know what is baked."""

from __future__ import annotations

import hashlib
import io
import random
import tarfile
import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from dockerfiles import environment
from made_datasets import plan_for, write_task

from partition.rewrite.manifest import load_manifest
from partition.rewrite.program import Program
from partition.rewrite.rewrite import Options, rewrite
from partition.rewrite.survey import Programs
from partition.tasks.dataset import open_dataset, read_all
from partition.tasks.model import Entry, EnvironmentConfig, Task, TaskConfig, Tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from partition.rewrite.manifest import Channel, Manifest

BASE = "FROM debian:bookworm-slim\n"
SHARING = (
    f"{BASE}ENV PRICE='it is $5'\nCOPY common.txt /srv/\nCOPY tree /srv/tree\nRUN echo all > /srv/all\n"
    "COPY own.bin /srv/own/\nCOPY script.sh /srv/\n"
)


def tasks_of(source: Path) -> dict[str, Task]:
    return {task.id: task for task in read_all(open_dataset(str(source)), strict=True)[0]}


def folded(source: Path, out: Path, cap: int = 1, channel: Channel = "healthcheck") -> Manifest:
    done = rewrite(plan_for(source, cap), str(source), str(out), Options(workers=1, channel=channel))
    return load_manifest(done.manifest)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return tasks with files that all have, files of their own, and in one more than a command can hold."""
    root = tmp_path_factory.mktemp("baked") / "tasks"
    for number in range(5):
        folder = root / f"task-{number}"
        write_task(folder, number, SHARING)
        context = folder / "environment"
        (context / "common.txt").write_text("of all\n")
        for n in range(40):
            place = context / "tree" / str(n)
            place.mkdir(parents=True)
            (place / "f").write_text(f"{n}\n")
        size = 200_000 if number == 3 else 50
        (context / "own.bin").write_bytes(random.Random(number).randbytes(size))
    return root


def baked(tree: Tree) -> Iterator[bytes]:
    """Yield every file that the image receives in all its tasks."""
    for entry in tree.files():
        if entry.path == "Dockerfile" or entry.path.startswith("payload/"):
            continue
        data = entry.read()
        if not entry.path.endswith("/files.tar"):
            yield data
            continue
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if member.isfile():
                    file = archive.extractfile(member)
                    assert file is not None
                    yield file.read()


def test_every_file_of_a_shared_image_is_common_to_all_its_tasks_or_a_payload(
    source: Path, tmp_path: Path
) -> None:
    manifest = folded(source, tmp_path / "out")
    before, after = tasks_of(source), tasks_of(tmp_path / "out")
    members = [each.task for each in manifest.tasks if each.environment]
    assert len(members) == 5
    images = [after[name].environment for name in members]
    held = [{entry.path: entry.read() for entry in image.files()} for image in images]
    assert all(each == held[0] for each in held)
    common = set.intersection(
        *({entry.read() for entry in before[name].environment.files()} for name in members)
    )
    found = list(baked(images[0]))
    assert b"of all\n" in found
    assert b"39\n" in found
    assert set(found) <= common
    payloads = [entry for entry in images[0].files() if entry.path.startswith("payload/")]
    assert len(payloads) == 1
    for entry in payloads:
        assert hashlib.sha256(entry.read()).hexdigest() == entry.path.removeprefix("payload/")


def test_a_variable_that_the_image_sets_itself_is_no_reason_to_refuse(source: Path, tmp_path: Path) -> None:
    """Harbor would expand ``$5`` in task.toml; the image's own ENV needs no entry there."""
    manifest = folded(source, tmp_path / "out")
    assert all(each.environment for each in manifest.tasks)
    for task in tasks_of(tmp_path / "out").values():
        config = tomllib.loads(task.files.by_path["task.toml"].read().decode())
        assert "PRICE" not in config["environment"].get("env", {})
        assert "PRICE" in task.environment.by_path["Dockerfile"].read().decode()


def test_scripts_refuse_what_a_task_removes_though_its_copy_is_baked(tmp_path: Path) -> None:
    for number in range(2):
        text = f"{BASE}WORKDIR /w\nCOPY script.sh /gen.sh\nRUN sh /gen.sh {number} && rm /gen.sh\n"
        write_task(tmp_path / "tasks" / f"task-{number}", number, text)
    manifest = folded(tmp_path / "tasks", tmp_path / "out", cap=2, channel="scripts")
    assert [each.environment for each in manifest.tasks] == [None, None]
    assert all("removes /gen.sh" in each.refused[0].what for each in manifest.tasks)
    manifest = folded(tmp_path / "tasks", tmp_path / "out2", cap=1)
    assert all(each.environment for each in manifest.tasks)


def test_equal_dockerfiles_of_tasks_that_start_in_different_folders_are_different_programs() -> None:
    """The base image's WORKDIR is not known; task.toml says where the container starts."""
    text = b"FROM registry.example/base:1\n"
    entry = Entry(path="environment/Dockerfile", source=text, size=len(text))
    one = Task(id="a", where="a", files=Tree((entry,)))
    programs = Programs({"own": environment()})
    found = []
    for folder in ("/first", "/second", None):
        config = TaskConfig(environment=EnvironmentConfig(workdir=folder))
        found.append(programs.of(replace(one, config=config), "own")[0])
    assert [each.workdir for each in found if isinstance(each, Program)] == ["/first", "/second"]
    assert not isinstance(found[2], Program)
