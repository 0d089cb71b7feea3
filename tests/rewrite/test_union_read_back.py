"""What is baked, read as a Dockerfile again, is the program that was baked."""

from __future__ import annotations

import io
import posixpath
import tarfile
from dataclasses import replace

import pytest
from dockerfiles import PROGRAMS, dockerfile_of, environment, program
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.rewrite.base_variables import base_variables
from partition.rewrite.program import Fixed, Program, Put, Run, State
from partition.rewrite.split import program_of
from partition.rewrite.union import SharedImage, shared_image
from partition.tasks.model import Kind, Task, Tree


def read_back(image: SharedImage) -> Program:
    files = Tree(
        tuple(replace(entry, path=f"environment/{entry.path}") for entry in image.tree.entries), name="again"
    )
    found = program_of(Task(id="again", where="again", files=files))
    assert isinstance(found, Program), found
    return found


def effective(state: State, base: str) -> tuple[dict[str, str], frozenset[str], str, str | None]:
    """Return a state with the base's own variables, which a program names only where it changes them."""
    values = {**dict(base_variables(base).values), **dict(state.environment)}
    return values, frozenset(state.arguments), state.workdir, state.user


def essence(found: Program) -> list[tuple[object, ...]]:
    """Return what a program does: commands in their states, files with mode and owner."""
    steps: list[tuple[object, ...]] = []
    for step in found.steps:
        if isinstance(step, Run) and step.script is None:
            steps.append((step.argv, step.caches, effective(step.state, found.base)))
        elif isinstance(step, Put) and step.unpack:
            steps += unpacked(step)
        elif isinstance(step, Put) and step.entry.kind is Kind.FILE:
            steps.append((step.path, step.mode, step.owner, step.unpack, step.entry.read()))
        elif isinstance(step, Fixed):
            steps.append((step.source,))
    return steps


def unpacked(step: Put) -> list[tuple[object, ...]]:
    """Return the files of an archive, each as if it had been copied."""
    with tarfile.open(fileobj=io.BytesIO(step.entry.read())) as archive:
        return [
            (
                posixpath.join(step.path, member.name),
                member.mode,
                step.owner,
                False,
                archive.extractfile(member).read(),  # type: ignore[union-attr]
            )
            for member in archive
            if member.isfile()
        ]


def is_subsequence(part: list[tuple[object, ...]], whole: list[tuple[object, ...]]) -> bool:
    rest = iter(whole)
    return all(any(each == other for other in rest) for each in part)


@pytest.mark.parametrize("name", PROGRAMS)
def test_reading_back_what_is_baked_gives_the_same_program_and_the_same_bytes(name: str) -> None:
    """State by state and file by file; parse then render is a fixed point."""
    found = program(name)
    image = shared_image(environment(found.base), found.steps)
    assert image.beginning == found.steps[: len(image.beginning)]
    again = read_back(image)
    baked = essence(replace(found, steps=image.beginning))
    # files of one COPY are grouped by folder and mode
    runs = [step for step in baked if len(step) == 3]
    assert is_subsequence(runs, essence(again))
    assert {step for step in map(repr, baked) if step} <= set(map(repr, essence(again)))
    once = shared_image(environment(found.base), again.steps)
    assert dockerfile_of(once) == dockerfile_of(image)
    assert once.tree == image.tree


_NAMES = st.sampled_from(["A", "B", "PATH", "HOME_OF"])
_VALUES = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=8) | st.sampled_from(
    ["$A", "\\", '"', "'", "a b", "${A:-x}", "\\$A", "#", "<<EOF", "`", "\\\\n"]
)
_WORDS = st.lists(_VALUES, min_size=1, max_size=4).map(tuple)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(
    st.dictionaries(_NAMES, _VALUES, max_size=3),
    st.dictionaries(st.sampled_from(["X", "Y"]), _VALUES, max_size=2),
    st.tuples(
        st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\x85"), max_size=12),
        st.sampled_from([None, "app", "1000:1000", "a b"]),
    ),
    _WORDS,
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=30),
)
def test_any_state_and_any_command_are_read_back_exactly(
    environ: dict[str, str],
    arguments: dict[str, str],
    place: tuple[str, str | None],
    words: tuple[str, ...],
    script: str,
) -> None:
    """Quotes, dollars, backslashes, newlines in scripts, names in any language."""
    folder, user = place
    folder = "/" + "/".join(part for part in folder.split("/") if part.strip(". "))
    values = tuple(sorted({**environ, **arguments}.items()))
    state = State(
        environment=values,
        workdir=folder,
        user=user,
        arguments=tuple(sorted(arguments)),
    )
    runs = (
        Run(line=1, source="", state=State(), argv=words),
        Run(line=2, source="", state=state, argv=("/bin/sh", "-c", script)),
        Run(line=3, source="", state=state, argv=("/bin/bash", "-o", "pipefail", "-c", script)),
    )
    image = shared_image(environment(), runs)
    again = [step for step in read_back(image).steps if isinstance(step, Run)]
    assert [step.argv for step in again] == [step.argv for step in image.beginning]  # type: ignore[attr-defined]
    base = environment().base
    assert [effective(step.state, base) for step in again] == [
        effective(step.state, base) for step in image.beginning
    ]
