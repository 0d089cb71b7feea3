"""Task -> features, with the line that each came from."""

from __future__ import annotations

import pytest

from partition.environments.instruction import DockerfileError
from partition.errors import InputError
from partition.features.extract import facts_of, features_of
from partition.tasks.model import Entry, EnvironmentConfig, Kind, Spec, Task, TaskConfig, Tree

DOCKERFILE = """\
FROM python:3.9-slim-bookworm
RUN apt-get update && apt-get install -y \\
    libpq-dev \\
    git=1:2.39*
WORKDIR /app
RUN git clone https://github.com/Owner/Project.git . && git checkout 0123456789abcdef0123456789abcdef01234567
COPY requirements.txt seed.csv /tmp/
RUN pip install -r /tmp/requirements.txt && npm install -g typescript@5
"""


def directory(files: dict[str, bytes], config: TaskConfig | None = None, identifier: str = "one") -> Task:
    entries = [Entry(path="environment", kind=Kind.DIRECTORY)]
    entries += [
        Entry(path=f"environment/{name}", source=data, size=len(data)) for name, data in files.items()
    ]
    tree = Tree(tuple(sorted(entries, key=lambda entry: entry.path)), name=identifier)
    return Task(id=identifier, where=f"data/{identifier}", files=tree, config=config or TaskConfig())


def test_a_directory_task_has_the_features_of_its_dockerfile() -> None:
    environment = EnvironmentConfig(memory_mb=2048, network_mode="no-network")
    config = TaskConfig(environment=environment, metadata=(("created_at", "2021-05-06"), ("version", "1.2")))
    files = {"Dockerfile": DOCKERFILE.encode(), "requirements.txt": b"# x\nNumPy==1\n", "seed.csv": b"1234"}
    features = features_of(directory(files, config))
    assert (features.base, features.distribution, features.release) == (
        "python:3.9-slim-bookworm",
        "debian",
        "bookworm",
    )
    assert features.python == "3.9"
    assert features.apt == ("git=1:2.39*", "libpq-dev")
    assert features.pip == ("numpy==1",)
    assert features.other == ("npm:typescript@5",)
    assert (features.repo, features.family, features.version) == ("Owner/Project", "owner/project", "1.2")
    assert features.commit == "0123456789abcdef0123456789abcdef01234567"
    assert features.copied == (("requirements.txt", 13), ("seed.csv", 4))
    assert (features.network_mode, features.resources) == ("no-network", (None, 2048, None, None))
    assert (features.created_at, features.refusal) == ("2021-05-06", "")
    places = {(name, value): where for name, value, where in features.sources}
    dockerfile = "data/one/environment/Dockerfile"
    assert places["apt", "libpq-dev"] == f"{dockerfile}:3"
    assert places["apt", "git=1:2.39*"] == f"{dockerfile}:4"
    assert places["commit", "0123456789abcdef0123456789abcdef01234567"] == f"{dockerfile}:6"
    assert places["pip", "numpy==1"] == "data/one/environment/requirements.txt:2"
    assert places["created_at", "2021-05-06"] == "data/one/task.toml"


def test_every_listed_value_has_a_place() -> None:
    features = features_of(directory({"Dockerfile": DOCKERFILE.encode()}))
    named = {(name, value) for name, value, _ in features.sources}
    for name in ("apt", "pip", "conda", "requirement_files", "other"):
        assert {(name, value) for value in getattr(features, name)} <= named
    for name in ("base", "distribution", "release", "python", "repo", "commit"):
        assert (name, getattr(features, name)) in named


def test_without_a_repository_the_family_is_the_image_without_its_tag() -> None:
    assert features_of(directory({"Dockerfile": b"FROM docker.io/library/python:3.9\n"})).family == "python"
    assert (
        features_of(directory({"Dockerfile": b"FROM Ghcr.io/a/b:1@sha256:" + b"0" * 64})).family
        == "ghcr.io/a/b"
    )


@pytest.mark.parametrize(
    ("files", "environment", "refusal"),
    [
        ({"docker-compose.yaml": b"", "Dockerfile": b"FROM x\n"}, EnvironmentConfig(), "compose"),
        ({"Dockerfile": b"FROM x\n"}, EnvironmentConfig(os="windows"), "windows"),
        ({}, EnvironmentConfig(docker_image="python:3.9"), "prebuilt image"),
        ({}, EnvironmentConfig(), "no Dockerfile"),
    ],
)
def test_tasks_that_cannot_be_folded_say_why(
    files: dict[str, bytes], environment: EnvironmentConfig, refusal: str
) -> None:
    features = features_of(directory(files, TaskConfig(environment=environment)))
    assert features.refusal.startswith(refusal)


def test_a_prebuilt_image_tells_what_its_name_tells() -> None:
    config = TaskConfig(environment=EnvironmentConfig(docker_image="python:3.9-slim-bullseye"))
    features = features_of(directory({}, config))
    assert (features.base, features.release, features.python) == (
        "python:3.9-slim-bullseye",
        "bullseye",
        "3.9",
    )
    assert features.sources == (("base", "python:3.9-slim-bullseye", "data/one/task.toml"),)


def test_a_broken_dockerfile_is_refused_with_every_fault_and_the_task() -> None:
    with pytest.raises(DockerfileError) as caught:
        features_of(directory({"Dockerfile": b"FROM x\nnope\nRUN\n"}))
    assert [(fault.where, fault.task) for fault in caught.value.faults] == [
        ("data/one/environment/Dockerfile:2", "one"),
        ("data/one/environment/Dockerfile:3", "one"),
    ]


def test_bytes_that_are_no_text_are_named_by_line_and_offset() -> None:
    with pytest.raises(InputError) as caught:
        features_of(directory({"Dockerfile": b"FROM x\nRUN echo \xff\n"}))
    (fault,) = caught.value.faults
    assert fault.where == "data/one/environment/Dockerfile:2"
    assert "offset 16" in fault.what


def test_an_ended_base_and_an_unchecked_download_are_noted() -> None:
    dockerfile = b"FROM debian:buster\nRUN curl https://x.org/f > /f\nCOPY gone /\n"
    facts = facts_of(directory({"Dockerfile": dockerfile}))
    assert facts is not None
    assert [note.where.rpartition(":")[2] for note in facts.notes] == ["1", "2", "3"]
    assert "gone from the mirrors" in facts.notes[0].what
    assert "without -f" in facts.notes[1].what


def test_a_broken_dockerignore_is_noted_and_the_rest_is_read() -> None:
    facts = facts_of(directory({"Dockerfile": b"FROM x\nCOPY . /a/\n", ".dockerignore": b"[\n", "f": b""}))
    assert facts is not None
    assert facts.notes[0].where == "data/one/environment/.dockerignore"
    assert {each.source for each in facts.copied} == {".dockerignore", "Dockerfile", "f"}


def test_a_spec_row_has_its_columns_as_features() -> None:
    spec = Spec(
        repo="Owner/Project",
        version="1.0",
        base_commit="abc1234",
        python="3.8",
        apt=("git", "gcc", "git"),
        pip=("B_c>1", "a"),
        requirement_files=("environment.yml",),
        created_at="2020-01-01",
        outcomes=(("own image", "pass"),),
    )
    features = features_of(Task(id="s", where="specs.csv:2", spec=spec))
    assert (features.python, features.apt, features.pip) == ("3.8", ("gcc", "git"), ("a", "b-c>1"))
    assert (features.family, features.commit, features.outcomes) == (
        "owner/project",
        "abc1234",
        (("own image", "pass"),),
    )
    assert ("pip", "b-c>1", "specs.csv:2") in features.sources


def test_an_impossible_python_is_a_fault_of_its_row() -> None:
    with pytest.raises(InputError) as caught:
        features_of(Task(id="s", where="specs.csv:9", spec=Spec(repo="a/b", python="three")))
    assert caught.value.faults[0].where == "specs.csv:9"
