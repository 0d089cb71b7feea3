"""Tasks with equal features are one class."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from partition.features.classes import classes_of
from partition.features.model import TaskFeatures

features = st.builds(
    TaskFeatures,
    task=st.text("abc", min_size=1, max_size=4),
    python=st.sampled_from((None, "3.8", "3.9")),
    apt=st.sampled_from(((), ("git",))),
    pip=st.sampled_from(((), ("a", "b"))),
    family=st.sampled_from(("", "a/b")),
    commit=st.sampled_from((None, "1", "2")),
    copied=st.sampled_from(((), (("f", 1),))),
    created_at=st.sampled_from((None, "2020-01-01", "2021-01-01")),
    network_mode=st.sampled_from(("public", "no-network")),
    resources=st.sampled_from(((None, None, None, None), (1.0, 2048, None, None))),
    sources=st.sampled_from(((), (("apt", "git", "f:1"),))),
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(features, max_size=15), st.randoms(use_true_random=False))
def test_permuting_the_tasks_changes_nothing(tasks: list[TaskFeatures], random: object) -> None:
    shuffled = list(tasks)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert classes_of(shuffled) == classes_of(tasks)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.lists(features, max_size=15, unique_by=lambda each: each.task))
def test_the_classes_partition_the_tasks(tasks: list[TaskFeatures]) -> None:
    classes = classes_of(tasks)
    assert sorted(name for each in classes for name in each.tasks) == sorted(task.task for task in tasks)
    assert sum(each.weight for each in classes) == len(tasks)
    assert len({each.features for each in classes}) == len(classes)


def test_what_names_the_single_task_does_not_tell_classes_apart() -> None:
    one = TaskFeatures(task="b", python="3.9", commit="1", copied=(("f", 1),), created_at="2020-01-01")
    two = TaskFeatures(
        task="a", python="3.9", commit="2", sources=(("x", "y", "z"),), created_at="2021-01-01"
    )
    (only,) = classes_of([one, two])
    assert only.tasks == ("a", "b")
    assert only.features == TaskFeatures(task="", python="3.9", created_at="2021-01-01")


def test_what_a_task_needs_tells_classes_apart() -> None:
    base = TaskFeatures(task="a", python="3.9")
    others = (
        replace(base, python="3.8"),
        replace(base, pip=("x",)),
        replace(base, network_mode="no-network"),
        replace(base, resources=(1.0, None, None, None)),
        replace(base, outcomes=(("own image", "fail"),)),
    )
    for other in others:
        assert len(classes_of([base, other])) == 2
