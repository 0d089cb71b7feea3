"""Counting a dataset, one task at a time."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace

import pytest

from partition.environments.census import Census
from partition.environments.count import EXAMPLES
from partition.environments.identity import Role, Unfoldable
from partition.environments.normal import Difference
from partition.environments.snapshot import snapshot_name
from partition.errors import Fault
from partition.tasks.model import Entry, EnvironmentConfig, TaskConfig, Tree, VerifierConfig

PLAIN = "FROM python:3.12\nRUN pip install numpy\n"
SEPARATE = VerifierConfig(environment_mode="separate")


def count(items, **options):
    census = Census(**options)
    for item in items:
        census.add(item)
    return census.result()


def test_equal_environments_share_a_snapshot(task):
    result = count(task({"Dockerfile": PLAIN}, name=f"t{number}") for number in range(5))
    assert (result.tasks, len(result.snapshots), result.uncounted) == (5, 1, 0)
    (largest,) = result.largest
    assert (largest.tasks, largest.example, largest.role) == (5, "t0", Role.ENVIRONMENT)


def test_a_copied_folder_of_seeds_keeps_tasks_apart(task):
    """CASES 1: one byte of a 200 kB file in a nested folder is a snapshot of its own."""
    seeds = [bytes(200_000), bytes(199_999) + b"\1"]
    result = count(
        task({"Dockerfile": PLAIN, "seeds/deep/a.bin": data}, name=f"t{number}")
        for number, data in enumerate(seeds)
    )
    assert len(result.snapshots) == 2
    assert result.false_duplicates_saved == 0


def test_verifiers_of_their_own_double_the_snapshots(task):
    """CASES 8: 52 tasks with ``tests/Dockerfile`` need 104."""
    config = TaskConfig(verifier=SEPARATE)
    result = count(
        task(
            {"Dockerfile": f"FROM a:{number}\n"},
            name=f"t{number}",
            config=config,
            others={"tests/Dockerfile": f"FROM b:{number}\n"},
        )
        for number in range(52)
    )
    assert len(result.snapshots) == 104
    assert (result.environment_snapshots, result.verifier_snapshots) == (52, 52)
    assert result.separate_verifiers == 52


def test_a_verifier_in_the_tasks_environment_costs_nothing(task):
    result = count([task({"Dockerfile": PLAIN}, config=TaskConfig(verifier=SEPARATE))])
    assert (len(result.snapshots), result.verifier_snapshots, result.separate_verifiers) == (1, 0, 1)
    assert result.largest[0].tasks == 1


def test_different_resources_of_one_snapshot_collide(task):
    """CASES 7: the first build decides, so each wish and its tasks are named."""
    memory = [2048, 4096, 2048, 1024, None]
    result = count(
        task({"Dockerfile": PLAIN}, name=f"t{number}", memory_mb=megabytes, storage_mb=10240)
        for number, megabytes in enumerate(memory)
    )
    (collision,) = result.resource_collisions
    assert (collision.snapshot, collision.tasks) == (result.snapshots[0], 5)
    assert [(wish.memory_mb, wish.tasks, wish.example) for wish in collision.resources] == [
        (2048, 2, "t0"),
        (4096, 1, "t1"),
        (1024, 1, "t3"),
        (None, 1, "t4"),
    ]
    assert result.disk_mb == 10240


def test_a_task_can_collide_with_its_own_verifier(task):
    config = TaskConfig(
        environment=EnvironmentConfig(memory_mb=1024),
        verifier=VerifierConfig(environment=EnvironmentConfig(memory_mb=8192)),
    )
    result = count([task({"Dockerfile": PLAIN}, config=config)])
    assert [wish.memory_mb for wish in result.resource_collisions[0].resources] == [1024, 8192]


def test_equal_resources_do_not_collide(task):
    assert not count(
        task({"Dockerfile": PLAIN}, name=name, cpus=cpus) for name, cpus in (("a", 2), ("b", 2.0))
    ).resource_collisions


def test_false_duplicates_are_counted_by_what_alone_differs(task):
    """CASES 2 and 5."""
    texts = [
        PLAIN,
        PLAIN.rstrip("\n"),
        PLAIN + "\n",
        "# comment\n" + PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("numpy", "scipy"),
    ]
    result = count(task({"Dockerfile": text}, name=f"t{number}") for number, text in enumerate(texts))
    assert len(result.snapshots) == 6
    assert dict(result.false_duplicates) == {
        Difference.IGNORED: 0,
        Difference.LINE_ENDINGS: 1,
        Difference.FINAL_NEWLINE: 2,
        Difference.COMMENTS: 1,
    }
    assert result.false_duplicates_saved == 4
    assert [(each.task, each.same_as, each.difference) for each in result.false_duplicate_examples] == [
        ("t1", "t0", Difference.FINAL_NEWLINE),
        ("t2", "t0", Difference.FINAL_NEWLINE),
        ("t3", "t0", Difference.COMMENTS),
        ("t4", "t0", Difference.LINE_ENDINGS),
    ]


def test_ignored_names_are_false_duplicates_of_the_legacy_key(task):
    """CASES 3."""
    tasks = [
        task({"Dockerfile": PLAIN}, name="a"),
        task({"Dockerfile": PLAIN, "x/.DS_Store": "1"}, name="b"),
        task({"Dockerfile": PLAIN, ".Dockerfile.swp": "1"}, name="c"),
    ]
    assert len(count(tasks).snapshots) == 2
    legacy = count(tasks, generation="legacy")
    assert len(legacy.snapshots) == 3
    assert dict(legacy.false_duplicates)[Difference.IGNORED] == 1


def test_what_cannot_be_folded_is_counted_and_named(task):
    result = count(
        [
            task({"Dockerfile": PLAIN}, name="a"),
            task({}, name="b", docker_image="x:1"),
            task({"docker-compose.yaml": "services: {}\n"}, name="c"),
            task({"Dockerfile": PLAIN}, name="d", os="windows"),
            task({}, name="e"),
        ]
    )
    assert (result.tasks, len(result.snapshots)) == (5, 1)
    assert [(each.task, each.reason) for each in result.unfoldable] == [
        ("b", Unfoldable.PREBUILT),
        ("c", Unfoldable.COMPOSE),
        ("d", Unfoldable.WINDOWS),
        ("e", Unfoldable.NO_DOCKERFILE),
    ]


def test_dockerfiles_that_are_links_leave_the_image_or_nothing_in_the_key(task):
    """Harbor leaves links out of the content key: such tasks share a snapshot whatever they build."""
    tasks = [
        task({"Dockerfile": "-> ../Dockerfile"}, name=name, others={"Dockerfile": f"FROM {name}\n"})
        for name in ("a", "b")
    ]
    result = count(tasks)
    assert (len(result.snapshots), result.tasks) == (1, 2)
    assert [fault.where for fault in result.faults] == [
        "set/a/environment/Dockerfile",
        "set/b/environment/Dockerfile",
    ]
    legacy = count(tasks, generation="legacy")
    assert (len(legacy.snapshots), legacy.faults) == (2, ())


def test_one_bad_task_does_not_stop_the_others(task):
    read = Fault(where="data.parquet[3]", what="truncated tar", task="bad")
    bad = task({"Dockerfile": "-> /etc/passwd"}, name="link")
    result = count([task({"Dockerfile": PLAIN}, name="a"), read, bad, task({"Dockerfile": PLAIN}, name="b")])
    assert (result.tasks, result.uncounted, len(result.snapshots)) == (2, 2, 1)
    assert [fault.task for fault in result.faults] == ["bad", "link"]


def test_a_task_whose_second_container_is_at_fault_leaves_no_trace(task):
    """Its environment is not counted either: Harbor would not load the task."""
    config = TaskConfig(verifier=SEPARATE)
    others = {"tests/Dockerfile": "FROM a\n", "tests/a\udcff": "1"}
    result = count([task({"Dockerfile": PLAIN}, config=config, others=others)])
    assert (result.tasks, result.snapshots, result.largest, result.false_duplicates_saved) == (0, (), (), 0)
    assert result.uncounted == 1


def test_files_that_vanish_while_they_are_counted_are_a_fault(task, tmp_path):
    one = task({"Dockerfile": PLAIN}, name="gone")
    entries = [
        replace(entry, source=tmp_path / "gone") if entry.path.endswith("Dockerfile") else entry
        for entry in one.files.entries
    ]
    result = count([replace(one, files=Tree(tuple(entries)))])
    (fault,) = result.faults
    assert (fault.task, fault.where) == ("gone", str(tmp_path / "gone"))


def test_a_dockerfile_that_does_not_parse_is_a_fault_of_every_task_and_counted(task):
    """Harbor would build it all the same, and fail; what many tasks share is said in full once."""
    text = "FROM a\n>>> import os\nCOPPY a b\n"
    result = count(task({"Dockerfile": text}, name=name) for name in ("a", "b"))
    assert (result.tasks, result.uncounted, len(result.snapshots)) == (2, 0, 1)
    assert [(fault.task, fault.where) for fault in result.faults] == [
        ("a", "set/a/environment/Dockerfile:2"),
        ("a", "set/a/environment/Dockerfile:3"),
        ("b", "set/b/environment/Dockerfile:2"),
    ]
    assert "the same file as in a" in result.faults[-1].hint


def test_a_dockerfile_of_a_megabyte_is_not_parsed(task):
    (fault,) = count([task({"Dockerfile": "x" * (1 << 20)})]).faults
    assert fault.what == "1,048,576 bytes are too many for a Dockerfile"


def test_a_dockerfile_that_is_not_utf8_is_a_fault(task):
    (fault,) = count([task({"Dockerfile": b"FROM a\nLABEL x=\xff\n"})]).faults
    assert fault.where == "set/t/environment/Dockerfile:2"


def test_scripts_and_unseen_context_are_reported(task):
    result = count(
        [
            task(
                {"Dockerfile": PLAIN, ".dockerignore": "*.log\n", "a.log": "12345", "b/c.log": "1"},
                others={"solution/solve.sh": "#!/bin/sh\r\n", "tests/test.sh": "exit 0\r\n"},
            )
        ]
    )
    assert (result.broken_scripts.count, result.broken_scripts.files) == (1, 2)
    assert result.broken_scripts.examples == (("t", "solution/solve.sh"),)
    unseen = result.unseen_context
    assert (unseen.count, unseen.files, unseen.size) == (1, 1, 5)
    assert unseen.examples == (("t", "environment/a.log"),)


def test_a_refused_ignore_pattern_is_a_fault_and_counted(task):
    result = count([task({"Dockerfile": PLAIN, ".dockerignore": "[\n"})])
    assert len(result.snapshots) == 1
    assert [fault.where for fault in result.faults] == ["set/t/environment/.dockerignore"]


def test_the_target_is_part_of_the_names(task):
    one = task({"Dockerfile": PLAIN})
    (plain,), (named,) = count([one]).snapshots, count([one], target="us").snapshots
    assert named == plain.replace("__snapshot", "__us__snapshot")
    assert plain == snapshot_name(plain.split("__")[1])


def test_an_empty_dataset_counts_nothing():
    result = count([])
    assert (result.tasks, result.snapshots, result.false_duplicates_saved) == (0, (), 0)


def test_the_order_of_tasks_does_not_change_the_numbers(task):
    rng = random.Random(3)
    tasks = [
        task({"Dockerfile": f"FROM a:{number % 7}\n" + "\n" * (number % 3)}, name=f"t{number}")
        for number in range(60)
    ]
    one = count(tasks)
    rng.shuffle(tasks)
    other = count(tasks)
    for name in ("tasks", "snapshots", "false_duplicates", "environment_snapshots"):
        assert getattr(one, name) == getattr(other, name)


@pytest.mark.parametrize("distinct", [True, False])
def test_memory_does_not_grow_with_the_bytes_of_the_tasks(task, distinct):
    """Fifty tasks of 1 MB each leave less than 1 MB behind, and examples are bounded."""
    census = Census()
    tracemalloc.start()
    try:
        for number in range(50):
            data = number.to_bytes(4, "big") if distinct else b"same"
            big = Entry(path="environment/data", source=data * 250_000, size=1_000_000)
            one = task({"Dockerfile": PLAIN, ".dockerignore": "data\n"}, name=f"t{number}")
            entries = sorted([*one.files.entries, big], key=lambda entry: entry.path)
            census.add(replace(one, files=Tree(tuple(entries))))
        del one, big, entries
        current, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    result = census.result()
    assert len(result.snapshots) == (50 if distinct else 1)
    assert len(result.unseen_context.examples) <= EXAMPLES
    assert current < 1_000_000
