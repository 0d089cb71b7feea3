"""The text of ``envfold count``."""

from __future__ import annotations

import json
import unicodedata

import pytest

from partition.environments.caps import PRESETS, check_cap, check_preset
from partition.environments.census import Census
from partition.errors import Fault
from partition.report.census import count_document, render_count
from partition.tasks.model import Entry, EnvironmentConfig, Task, TaskConfig, Tree, VerifierConfig

PLAIN = b"FROM python:3.12\n"
TEXT = """\
tasks                                    6
not counted (at fault)                   1
snapshots                                3  content key
  of environments                        2
  of verifiers alone                     1  1 task with one
  already there                          1
  to build                               2
saved by normalising                     1

Left alone, without a snapshot of their own
  prebuilt image                         1  e.g. prebuilt

Snapshots with the most tasks
  harbor__cf8d9dc2f60d__snapshot         4  e.g. a

False duplicates: snapshots that differ only by
  final newline                          1
  comment = a: final newline

Resource collisions: 1 snapshot asked for with different resources
  harbor__cf8d9dc2f60d__snapshot: whoever builds it first decides
    the provider's default               3  e.g. a
    1.5 cpus, 2048 MiB memory            1  e.g. b

Scripts with carriage returns, which no shell runs
  tasks                                  1  1 file
  a: solution/solve.sh

In the key, but .dockerignore keeps it from the image
  snapshots                              1  1 file, 3 bytes
  verified: tests/note

Caps
  --cap       snapshots to build                     2 of 1       EXCEEDED
  dataset     snapshots of the dataset               3 of 9       holds
  dataset     ideal snapshots of the dataset         3 of 8       holds
"""


def make(name: str, files: dict[str, bytes], config: TaskConfig | None = None) -> Task:
    entries = (Entry(path=path, source=data, size=len(data)) for path, data in sorted(files.items()))
    return Task(id=name, where=name, files=Tree(tuple(entries), name=name), config=config or TaskConfig())


@pytest.fixture
def result():
    environment = {"environment/Dockerfile": PLAIN}
    tests = {"tests/Dockerfile": b"FROM b\n", "tests/.dockerignore": b"note\n", "tests/note": b"abc"}
    census = Census()
    for item in (
        make("a", {**environment, "solution/solve.sh": b"exit 0\r\n"}),
        make("b", environment, TaskConfig(environment=EnvironmentConfig(cpus=1.5, memory_mb=2048))),
        make("c", environment),
        make("comment", {"environment/Dockerfile": PLAIN.rstrip()}),
        make(
            "verified",
            {**environment, **tests},
            TaskConfig(verifier=VerifierConfig(environment_mode="separate")),
        ),
        make("prebuilt", {}, TaskConfig(environment=EnvironmentConfig(docker_image="x:1"))),
        Fault(where="bad/task.toml:1", what="not TOML", task="bad"),
    ):
        census.add(item)
    return census.result()


def test_the_text_says_what_the_number_is_made_of(result):
    existing = frozenset([result.largest[0].snapshot])
    usage = result.usage(existing)
    caps = [check_cap(1, usage), *check_preset(PRESETS["dataset"], usage, enforced=False)]
    assert render_count(result, existing=existing, caps=caps) == TEXT.rstrip("\n")


def test_names_of_any_length_fit_eighty_columns(result):
    census = Census()
    for number in range(2):
        name = f"{number}-日本\n" + "x日" * 100
        census.add(make(name, {"environment/Dockerfile": PLAIN + b"\n" * number, "a.sh": b"\r\n"}))
        census.add(make(f"{name}-2", {"environment/Dockerfile": PLAIN}))
        census.add(make(f"{name}-3", {}))
    text = render_count(census.result(), existing=frozenset(), caps=())
    columns = [
        sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in line)
        for line in text.split("\n")
    ]
    assert 70 < max(columns) <= 80


def test_a_cap_that_was_not_asked_for_is_said_to_be_no_error(result):
    caps = check_preset(PRESETS["daytona"], result.usage(frozenset(map(str, range(38)))), enforced=False)
    text = render_count(result, existing=frozenset(), caps=caps)
    assert "41 of 40      would not hold" in text
    assert "EXCEEDED" not in text


def test_the_document_is_plain_json_that_agrees_with_the_text(result):
    document = count_document(result, dataset="d", target=None, existing=frozenset(), caps=())
    assert json.loads(json.dumps(document)) == document
    assert document["snapshots"] == document["environment_snapshots"] + document["verifier_snapshots"]
    assert document["false_duplicates_saved"] == sum(document["false_duplicates"].values())
    assert document["faults"] == [{"task": "bad", "where": "bad/task.toml:1", "what": "not TOML", "hint": ""}]
