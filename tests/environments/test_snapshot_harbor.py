"""Both keys of generated directories are those that Harbor computes."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from partition.environments.links import LinkLeavesTaskError
from partition.environments.snapshot import content_key, legacy_key
from partition.tasks.directory import read_tree

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    "Dockerfile",
    "README.md",
    "a",
    "a.b",
    "a-b",
    "a b",
    "a!",
    "A",
    "b",
    "B",
    "data.BIN",
    "run.sh",
    "é",
    "e\u0301",
    "日本語",
    "\uff21",
    "\U0001d4b3",
    "line\nbreak",
    "back\\slash",
    ".hidden",
    ".gitignore",
    ".dockerignore",
    ".run.sh.swp",
    "run.sh~",
    ".DS_Store",
    ".git",
    "__pycache__",
    "__pycache__.py",
    "x.cpython-311.pyc",
]
SIZES = [0, 0, 1, 3, 17, 64, 300, 5000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1]
DIRECTORIES = 600


def make_task(folder: Path, rng: random.Random) -> None:
    """Write one task with hostile names and links; they lead to every place inside it, or nowhere."""
    environment = folder / "environment"
    environment.mkdir(parents=True)
    tests = folder / "tests"
    tests.mkdir()
    (folder / "instruction.md").write_bytes(b"Do it.\n")
    (tests / "test.sh").write_bytes(rng.randbytes(40))
    (tests / "data").mkdir()
    (tests / "data" / "a").write_bytes(b"a")
    if rng.random() < 0.1:
        return
    _fill(environment, rng, depth=0)
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        _link(folder, rng)


def _fill(folder: Path, rng: random.Random, *, depth: int) -> None:
    for name in rng.sample(NAMES, rng.choice([0, 1, 2, 4, 7]) if depth else rng.choice([1, 3, 8])):
        path = folder / name
        if depth < 3 and rng.random() < (0.75 if name in {".git", "__pycache__", "a", "b"} else 0.15):
            path.mkdir()
            _fill(path, rng, depth=depth + 1)
        else:
            size = rng.choice(SIZES) if rng.random() < 0.2 else rng.randrange(50)
            path.write_bytes(rng.randbytes(size))
            path.chmod(rng.choice([0o644, 0o755, 0o600, 0o444]))


def _link(task: Path, rng: random.Random) -> None:
    environment = task / "environment"
    folders = [environment, *sorted(p for p in environment.rglob("*") if p.is_dir() and not p.is_symlink())]
    folder = rng.choice(folders)
    path = folder / rng.choice(["link", "Link", "a", "zz", ".git", "lib.so"])
    if os.path.lexists(path):
        return
    everything = sorted(p for p in task.rglob("*") if not p.is_symlink())
    kind = rng.randrange(9)
    target = os.path.relpath(rng.choice(everything), folder)
    if kind == 0:
        target = rng.choice(["nowhere", "nowhere/../a", "a/nowhere", "./", "."])
    elif kind == 1:
        target = path.name
    elif kind == 2:
        target += rng.choice(["/", "/.", "//", "/../a"])
    elif kind == 3:
        links = sorted(p for p in task.rglob("*") if p.is_symlink())
        if links:
            target = os.path.relpath(rng.choice(links), folder)
    elif kind == 4:
        _loop(folder, path)
        return
    path.symlink_to(target)


def _loop(folder: Path, path: Path) -> None:
    other = folder / (path.name + ".other")
    if os.path.lexists(other):
        return
    path.symlink_to(other.name)
    other.symlink_to(path.name)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Return (task, docker_image) of every generated directory."""
    root = tmp_path_factory.mktemp("generated")
    rng = random.Random(20)
    made = []
    for number in range(DIRECTORIES):
        folder = root / f"task-{number:03}"
        make_task(folder, rng)
        made.append((folder, rng.choice([None, None, "", "python:3.12", "images.example/é:1"])))
    return made


def ours(key, task: Path, **arguments) -> str:
    whole = read_tree(task)
    environment = whole.below("environment")
    if key is legacy_key:
        return legacy_key(environment, task=whole, folder="environment")
    return content_key(environment, directory_name="environment", **arguments)


def ask(ask_harbor, generation: str, generated: list) -> list:
    question = [{"path": str(task / "environment"), "docker_image": image} for task, image in generated]
    return [answer[generation] for answer in ask_harbor(generation, {"directories": question})["directories"]]


@pytest.mark.harbor
def test_content_key_is_harbors(ask_harbor, generated):
    answers = ask(ask_harbor, "content", generated)
    found = [ours(content_key, task, docker_image=image) for task, image in generated]
    assert found == answers
    assert len(set(answers)) > DIRECTORIES * 0.8


@pytest.mark.harbor
def test_legacy_key_is_harbors(ask_harbor, generated):
    answers = ask(ask_harbor, "legacy", generated)
    found = [ours(legacy_key, task) for task, _ in generated]
    assert found == answers
    assert found != [ours(content_key, task) for task, _ in generated]


def test_generated_directories_hold_what_they_are_meant_to(generated):
    """The comparison would mean little if the generator stopped making the difficult cases."""
    kinds = {
        "file link": 0,
        "folder link": 0,
        "broken": 0,
        "ignored": 0,
        "empty": 0,
        "outside": 0,
        "twins": 0,
    }
    for task, _ in generated:
        environment = task / "environment"
        paths = list(environment.rglob("*"))
        links = [path for path in paths if path.is_symlink()]
        kinds["file link"] += any(path.is_file() for path in links)
        kinds["folder link"] += any(path.is_dir() for path in links)
        kinds["broken"] += any(not path.exists() for path in links)
        kinds["outside"] += any(
            path.is_file() and not path.resolve().is_relative_to(environment.resolve()) for path in links
        )
        kinds["ignored"] += any({".git", "__pycache__", ".DS_Store"} & set(path.parts) for path in paths)
        kinds["empty"] += not any(path.is_file() and not path.is_symlink() for path in paths)
        kinds["twins"] += any((path.parent / "a").is_dir() and path.name in {"a.b", "a-b"} for path in paths)
    assert min(kinds.values()) >= 10, kinds


@pytest.mark.harbor
@pytest.mark.parametrize(("links", "followed"), [(39, True), (40, True), (41, False)])
def test_legacy_key_follows_as_many_links_as_the_kernel(ask_harbor, tmp_path, links, followed):
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "0").write_bytes(b"end")
    for number in range(links):
        (environment / f"{number + 1}").symlink_to(f"{number}")
    assert (environment / f"{links}").is_file() is followed
    assert ours(legacy_key, tmp_path) == ask(ask_harbor, "legacy", [(tmp_path, None)])[0]


@pytest.mark.harbor
def test_sizes_from_4_gib_on_take_eight_bytes_in_the_content_key(ask_harbor, tmp_path):
    """A sparse file of 4 GiB and one byte is hashed whole by both (about ten seconds)."""
    environment = tmp_path / "environment"
    environment.mkdir()
    (environment / "Dockerfile").write_bytes(b"FROM scratch\n")
    with (environment / "large").open("wb") as stream:
        stream.truncate((1 << 32) + 1)
    answer = ask(ask_harbor, "content", [(tmp_path, None)])[0]
    assert ours(content_key, tmp_path) == answer


@pytest.mark.harbor
def test_links_out_of_the_task_make_the_legacy_key_depend_on_the_machine(ask_harbor, tmp_path):
    """Harbor hashes whatever lies there; the key is refused instead of guessed."""
    (tmp_path / "outside").write_bytes(b"one")
    task = tmp_path / "task"
    environment = task / "environment"
    environment.mkdir(parents=True)
    (environment / "link").symlink_to("../../outside")
    before = ask(ask_harbor, "legacy", [(task, None)])
    (tmp_path / "outside").write_bytes(b"two")
    assert before != ask(ask_harbor, "legacy", [(task, None)])
    with pytest.raises(LinkLeavesTaskError, match="link leaves the task"):
        ours(legacy_key, task)
    assert ours(content_key, task) == ask(ask_harbor, "content", [(task, None)])[0]
