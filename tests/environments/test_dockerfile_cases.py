"""Folders of Dockerfiles beside what is read in them, and beside the faults that refuse them."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from partition.environments.dockerfile import parse_dockerfile, render
from partition.environments.facts import read_facts
from partition.environments.instruction import DockerfileError
from partition.environments.pieces import pieces_of
from partition.tasks.model import Entry, Kind, Tree

CASES = Path(__file__).parents[1] / "cases" / "dockerfiles"
REFUSED = Path(__file__).parents[1] / "cases" / "dockerfiles-negative"
WHERE = "environment/Dockerfile"


def read(folder: Path) -> str:
    return (folder / "Dockerfile").read_bytes().decode()


def context(folder: Path) -> Tree:
    root = folder / "context"
    entries = []
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            name, target = path.relative_to(root).as_posix(), str(path.readlink())
            entries.append(Entry(path=name, kind=Kind.LINK, target=target, mode=0o777))
            continue
        kind = Kind.DIRECTORY if path.is_dir() else Kind.FILE
        size = 0 if path.is_dir() else path.stat().st_size
        # what git keeps of a mode, so that a checkout under any umask reads the same
        mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
        name = path.relative_to(root).as_posix()
        entries.append(Entry(path=name, kind=kind, source=path, size=size, mode=mode))
    return Tree(tuple(sorted(entries, key=lambda entry: entry.path)), name="environment")


def describe(folder: Path) -> dict[str, Any]:
    """Return what is read in a case, empty things left out; lines are those of the Dockerfile."""
    dockerfile = parse_dockerfile(read(folder), where=WHERE)
    facts = read_facts(dockerfile, context(folder))
    places = {(name, value): short(place) for name, value, place in facts.sources}
    described: dict[str, Any] = {
        "instructions": " ".join(f"{each.start_line}:{each.name}" for each in dockerfile.instructions),
        "base": facts.base.image,
        "system": " ".join(filter(None, (facts.base.distribution, facts.base.release, facts.base.manager))),
        "python": facts.python and f"{facts.python} @{places['python', facts.python]}",
    }
    for name in ("apt", "pip", "conda", "requirement_files", "other"):
        described[name] = {value: places[name, value] for value in getattr(facts, name)}
    described |= {
        "clones": [
            f"{each.line}: {each.repo} -> {each.destination} at {each.commit}" for each in facts.clones
        ],
        "repository": facts.repository and facts.repository.repo,
        "copied": [
            f"{each.line}: {each.source} -> {each.destination} ({each.size} bytes, {each.mode:o})"
            + (f" = {each.content!r}" if each.content is not None else "")
            for each in facts.copied
        ],
        "unseen": list(facts.unseen),
        "environment": dict(facts.environment),
        "workdir": facts.workdir,
        "user": facts.user,
        "shell": " ".join(facts.shell),
        "entrypoint": facts.entrypoint,
        "command": facts.command,
        "run": [f"{line}: {text}" for text, line in facts.run],
        "notes": [short(f"{note.where} {note.what}") for note in facts.notes],
    }
    plain = {"workdir": "/", "shell": "/bin/sh -c"}
    return {name: value for name, value in described.items() if value and value != plain.get(name)}


def short(place: str) -> str:
    return place.removeprefix("environment/").removeprefix("Dockerfile:")


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_a_dockerfile_is_read_as_written_beside_it(folder: Path) -> None:
    assert describe(folder) == json.loads((folder / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_parse_then_render_is_a_fixed_point(folder: Path) -> None:
    once = render(parse_dockerfile(read(folder), where=WHERE))
    assert render(parse_dockerfile(once, where=WHERE)) == once


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_every_character_of_a_file_is_in_exactly_one_piece(folder: Path) -> None:
    """Cut into pieces and put together again, a Dockerfile is what it was, white space included."""
    text = read(folder)
    dockerfile = parse_dockerfile(text, where=WHERE)
    lines = text.splitlines(keepends=True)
    spans = {each.start_line: each for each in dockerfile.instructions}
    rebuilt = ""
    for group, members in groupby(pieces_of(text, dockerfile), key=lambda piece: piece.group):
        pieces = list(members)
        raws = [piece.raw.partition("\0") for piece in pieces]
        header = pieces[0].head + raws[0][0]
        header += "".join(piece.joiner + raw for piece, (raw, _, _) in zip(pieces[1:], raws[1:], strict=True))
        rebuilt += header + pieces[-1].tail
        if any(bodies for _, _, bodies in raws):
            # heredoc bodies are with the unit that reads them, and stand in the file below the whole RUN
            instruction = spans[group]
            below = "".join(lines[instruction.heredocs[0].line - 1 : instruction.end_line])
            assert all(
                each.content in "".join(bodies for _, _, bodies in raws) for each in instruction.heredocs
            )
            rebuilt += below
    assert rebuilt == text


@pytest.mark.parametrize("folder", sorted(REFUSED.iterdir()), ids=lambda folder: folder.name)
def test_a_broken_dockerfile_is_refused_with_every_fault_and_its_line(folder: Path) -> None:
    with pytest.raises(DockerfileError) as caught:
        parse_dockerfile(read(folder), where="Dockerfile")
    found = [
        f"{fault.where.removeprefix('Dockerfile').removeprefix(':') or '-'} {fault.what}"
        for fault in caught.value.faults
    ]
    assert found == (folder / "faults.txt").read_text(encoding="utf-8").splitlines()
    assert all(fault.hint for fault in caught.value.faults)


if __name__ == "__main__":  # python tests/environments/test_dockerfile_cases.py CASE...: write what is read
    for case in sys.argv[1:]:
        shown = json.dumps(describe(CASES / case), indent=2, ensure_ascii=False)
        (CASES / case / "expected.json").write_text(shown + "\n", encoding="utf-8")
