"""A packed task reads back as it was, by our reader and by the standard one, and packs to the same bytes."""

from __future__ import annotations

import io
import tarfile

from hypothesis import given, settings
from hypothesis import strategies as st

from partition.rewrite.output.tarball import pack
from partition.tasks.archive import read_archive
from partition.tasks.model import Entry, Kind, Tree

_NAMES = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="/"), min_size=1, max_size=150
).filter(lambda name: name not in {".", "..", "instruction.md", "task.toml"} and len(name.encode()) < 250)


def entries(name: str, data: bytes, mode: int, target: str) -> list[Entry]:
    return [
        Entry(path="instruction.md", source=b"x", size=1),
        Entry(path="task.toml", source=b"", size=0),
        Entry(path="d", kind=Kind.DIRECTORY, mode=0o750),
        Entry(path=f"d/{name}", source=data, size=len(data), mode=mode),
        Entry(path="e", kind=Kind.DIRECTORY, mode=0o755),
        Entry(path="e/link", kind=Kind.LINK, mode=0o777, target=f"../d/{target}"),
    ]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(name=_NAMES, data=st.binary(max_size=2000), mode=st.integers(0, 0o7777), target=_NAMES)
def test_packing_and_reading_is_the_identity(name: str, data: bytes, mode: int, target: str) -> None:
    made = Tree(tuple(sorted(entries(name, data, mode, target), key=lambda each: each.path)), name="t")
    packed = pack(made)
    assert packed == pack(made)
    assert read_archive(packed, where="x", name="t") == made


def test_the_standard_library_reads_it_too() -> None:
    made = Tree(tuple(sorted(entries("größe" * 30, b"data", 0o755, "a"), key=lambda each: each.path)))
    with tarfile.open(fileobj=io.BytesIO(pack(made)), mode="r:*") as archive:
        members = archive.getmembers()
    assert [member.name for member in members] == [entry.path for entry in made.entries]
    assert {(member.mtime, member.uid, member.uname) for member in members} == {(0, 0, "")}
    assert [member.mode for member in members] == [entry.mode for entry in made.entries]
