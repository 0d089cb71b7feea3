"""Folders of Dockerfiles beside the program that each is, or the reasons why it is refused."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest

from partition.rewrite.program import Fixed, Program, Put, Run, State
from partition.rewrite.refusal import Refused
from partition.rewrite.split import program_of
from partition.tasks.model import Entry, Kind, Task, Tree

CASES = Path(__file__).parents[1] / "cases" / "dockerfiles"


def task_of(folder: Path) -> Task:
    """Return a case as a task; modes are what git keeps of them."""
    dockerfile = (folder / "Dockerfile").read_bytes()
    entries = [Entry(path="environment/Dockerfile", source=dockerfile, size=len(dockerfile))]
    root = folder / "context"
    for path in root.rglob("*"):
        name = f"environment/{path.relative_to(root).as_posix()}"
        if path.is_symlink():
            entries.append(Entry(path=name, kind=Kind.LINK, target=str(path.readlink()), mode=0o777))
        elif path.is_dir():
            entries.append(Entry(path=name, kind=Kind.DIRECTORY, mode=0o755))
        else:
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            entries.append(Entry(path=name, source=path, size=path.stat().st_size, mode=mode))
    files = Tree(tuple(sorted(entries, key=lambda entry: entry.path)), name=folder.name)
    return Task(id=folder.name, where=folder.name, files=files)


def show(program: Program) -> str:
    """Return a program as text: a line for each change of state, and each step with its line."""
    lines = [f"from {program.base}"]
    state = State()
    for step in program.steps:
        lines += _changes(state, step.state)
        state = step.state
        match step:
            case Run():
                lines += _run(step)
            case Put():
                lines.append(f"{step.line}: {_put(step)}")
            case Fixed():
                lines.append(f"{step.line}: only at build: {step.source} ({step.why})")
    lines.append("container")
    lines += [f"    {name}={value}" for name, value in program.environment]
    lines.append(f"    in {program.workdir} as {program.user or 'root'}")
    return "\n".join(lines) + "\n"


def _changes(before: State, after: State) -> list[str]:
    lines = []
    known = {(name, value, name in before.arguments) for name, value in before.environment}
    for name, value in after.environment:
        is_argument = name in after.arguments
        if (name, value, is_argument) not in known:
            lines.append(f"    {'argument ' if is_argument else ''}{name}={value}")
    gone = dict(before.environment).keys() - dict(after.environment).keys()
    lines += [f"    without {name}" for name in sorted(gone)]
    if (before.workdir, before.user) != (after.workdir, after.user):
        lines.append(f"    in {after.workdir} as {after.user or 'root'}")
    return lines


def _run(step: Run) -> list[str]:
    caches = "".join(f" (cache {path})" for path in step.caches)
    if step.script is not None:
        name = step.argv[-1].rpartition("/")[2]
        return [f"{step.line}: run the file {name}{caches}", *_quoted(step.script)]
    *head, last = step.argv
    if len(head) > 1 and head[-1].endswith("c"):
        return [f"{step.line}: run {' '.join(head)}{caches}", *_quoted(last)]
    return [f"{step.line}: run {json.dumps(step.argv, ensure_ascii=False)}{caches}"]


def _quoted(text: str) -> list[str]:
    return [f"    | {line}".rstrip() for line in text.split("\n")]


def _put(step: Put) -> str:
    entry, owner = step.entry, f" {step.owner}" if step.owner else ""
    mode = f" {step.mode:04o}" if step.mode is not None else ""
    if entry.kind is Kind.DIRECTORY:
        return f"folder {step.path}{mode}{owner}"
    if entry.kind is Kind.LINK:
        return f"link {step.path} -> {entry.target}{owner}"
    data = entry.read()
    content = f"{entry.path}, {len(data)} bytes, {hashlib.sha256(data).hexdigest()[:12]}"
    return f"{'unpack' if step.unpack else 'file'} {step.path}{mode}{owner} ({content})"


def found_in(folder: Path) -> tuple[str, str]:
    """Return the name and the text of the file that says what becomes of a case."""
    found = program_of(task_of(folder))
    if isinstance(found, Refused):
        return "refused.txt", "".join(f"{reason}\n" for reason in found.reasons)
    return "program.txt", show(found)


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_a_dockerfile_is_split_as_written_beside_it(folder: Path) -> None:
    name, text = found_in(folder)
    assert (folder / name).read_text(encoding="utf-8") == text
    assert not (folder / ({"program.txt", "refused.txt"} - {name}).pop()).exists()


def test_there_are_cases_enough() -> None:
    """At least 60, and refusals among them."""
    assert len(list(CASES.glob("*/program.txt"))) >= 60
    assert len(list(CASES.glob("*/refused.txt"))) >= 12


if __name__ == "__main__":  # python tests/rewrite/test_split_cases.py CASE...: write what becomes of it
    for case in sys.argv[1:]:
        file, content = found_in(CASES / case)
        for other in ("program.txt", "refused.txt"):
            (CASES / case / other).unlink(missing_ok=True)
        (CASES / case / file).write_text(content, encoding="utf-8")
