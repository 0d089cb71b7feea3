"""The snapshot key: golden vectors made by Harbor, and the laws of both generations."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.environments.links import UnusablePathError
from partition.environments.snapshot import Generation, content_key, legacy_key, snapshot_name
from partition.errors import InputError
from partition.tasks.directory import read_tree
from partition.tasks.model import Entry, Kind, Tree

VECTORS = sorted((Path(__file__).parents[1] / "cases" / "snapshots").glob("*.json"))
GIB = 1 << 30


def entry_of(document: dict) -> Entry:
    path = document["path"]
    if "link" in document:
        return Entry(path=path, kind=Kind.LINK, target=document["link"])
    if "directory" in document:
        return Entry(path=path, kind=Kind.DIRECTORY)
    data = document["text"].encode() if "text" in document else base64.b64decode(document["base64"])
    return Entry(path=path, source=data, size=len(data))


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_keys_are_those_that_harbor_gave(path):
    vector = json.loads(path.read_text(encoding="utf-8"))
    task = Tree(tuple(entry_of(each) for each in vector["entries"]), name="task")
    environment = task.below("environment")
    assert content_key(environment, docker_image=vector["docker_image"]) == vector["keys"]["content"]
    assert legacy_key(environment, task=task, folder="environment") == vector["keys"]["legacy"]


def test_golden_vectors_tell_the_generations_apart():
    vectors = [json.loads(path.read_text(encoding="utf-8")) for path in VECTORS]
    assert len(vectors) >= 17
    differing = [each for each in vectors if each["keys"]["content"] != each["keys"]["legacy"]]
    assert len(differing) >= 5


NAMES = st.sampled_from(
    ["a", "a.b", "a-b", "A", "é", "e\u0301", "Dockerfile", ".git", "__pycache__", ".DS_Store", "z"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.binary(max_size=20), max_size=8).filter(
    lambda files: not any(a != b and b.startswith(f"{a}/") for a in files for b in files)
)


def as_tree(files: dict[str, bytes], *, mode: int = 0o644) -> Tree:
    entries = [Entry(path=path, source=data, size=len(data), mode=mode) for path, data in files.items()]
    return Tree(tuple(sorted(entries, key=lambda entry: entry.path)), name="environment")


@given(FILES)
@settings(derandomize=True, deadline=None)
def test_content_key_is_the_stream_it_is_documented_to_be(files):
    """The same stream written the plainest way: length, path, size, bytes, sorted by path."""
    kept = {
        path: data
        for path, data in files.items()
        if not {".git", "__pycache__", ".DS_Store"} & set(path.split("/"))
    }
    stream = b"".join(
        len(path.encode()).to_bytes(4, "big") + path.encode() + len(data).to_bytes(4, "big") + data
        for path, data in sorted(kept.items())
    )
    assert content_key(as_tree(files)) == hashlib.sha256(stream if kept else b"environment").hexdigest()


@given(FILES, st.integers(0, 0o777))
@settings(derandomize=True, deadline=None)
def test_permission_bits_and_the_order_of_reading_are_not_in_the_keys(files, mode):
    tree = as_tree(files)
    other = as_tree(dict(reversed(files.items())), mode=mode)
    shuffled = Tree(tuple(reversed(other.entries)), name="environment")
    assert content_key(tree) == content_key(shuffled)
    assert legacy_key(tree) == legacy_key(shuffled)


@given(FILES, FILES)
@settings(derandomize=True, deadline=None)
def test_legacy_keys_are_equal_only_for_equal_files(one, other):
    assert (legacy_key(as_tree(one)) == legacy_key(as_tree(other))) == (one == other)


def test_a_touched_file_of_another_user_keeps_the_key(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    before = content_key(read_tree(tmp_path)), legacy_key(read_tree(tmp_path))
    (tmp_path / "Dockerfile").touch()
    (tmp_path / "Dockerfile").chmod(0o400)
    assert (content_key(read_tree(tmp_path)), legacy_key(read_tree(tmp_path))) == before


def test_an_empty_environment_is_its_image_or_else_its_name(tree):
    empty = tree({}, name="environment")
    assert content_key(empty) == hashlib.sha256(b"environment").hexdigest()
    assert content_key(empty, directory_name="tests") == hashlib.sha256(b"tests").hexdigest()
    assert content_key(empty, docker_image="a:1") == hashlib.sha256(b"a:1").hexdigest()
    assert content_key(empty, docker_image="") == content_key(empty)
    assert legacy_key(empty) == hashlib.sha256(b"").hexdigest()


class LargeEntry(Entry):
    """A file of zeros that takes no room."""

    def chunks(self):
        block = bytes(1 << 24)
        for _ in range(self.size // len(block)):
            yield block
        yield bytes(self.size % len(block))


def test_one_file_of_4_gib_makes_every_size_eight_bytes():
    small = Entry(path="a", source=b"x", size=1)
    large = LargeEntry(path="b", size=4 * GIB)
    digest = hashlib.sha256(b"\x01")
    digest.update((1).to_bytes(4, "big") + b"a" + (1).to_bytes(8, "big") + b"x")
    digest.update((1).to_bytes(4, "big") + b"b" + (4 * GIB).to_bytes(8, "big"))
    for _ in range(256):
        digest.update(bytes(1 << 24))
    assert content_key(Tree((small, large), name="environment")) == digest.hexdigest()


def test_the_largest_file_below_4_gib_keeps_four_bytes():
    size = 4 * GIB - 1
    digest = hashlib.sha256((1).to_bytes(4, "big") + b"b" + size.to_bytes(4, "big"))
    for _ in range(255):
        digest.update(bytes(1 << 24))
    digest.update(bytes((1 << 24) - 1))
    assert content_key(Tree((LargeEntry(path="b", size=size),))) == digest.hexdigest()


def test_a_file_of_4_gib_has_no_legacy_key():
    with pytest.raises(UnusablePathError, match="b: 4294967296 bytes, and this Harbor's key has room"):
        legacy_key(Tree((Entry(path="b", size=4 * GIB),)))


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    tree = read_tree(tmp_path)
    (tmp_path / "Dockerfile").write_text("FROM scratch\nRUN true\n")
    with pytest.raises(UnusablePathError, match="Dockerfile: 22 bytes where 13 were expected"):
        content_key(tree)
    (tmp_path / "Dockerfile").unlink()
    with pytest.raises(InputError, match="Dockerfile: cannot be read: No such file"):
        content_key(tree)


def test_a_name_that_is_not_utf8_has_no_key():
    tree = Tree((Entry(path="a\udcff", source=b"x", size=1),))
    for key in (content_key, legacy_key):
        with pytest.raises(UnusablePathError, match="the name is not UTF-8"):
            key(tree)
    ignored = Tree((replace(tree.entries[0], path=".git/a\udcff"),), name="environment")
    assert content_key(ignored) == content_key(Tree(name="environment"))


@pytest.mark.parametrize(
    ("key", "target", "name"),
    [
        ("0123456789abcdef", None, "harbor__0123456789ab__snapshot"),
        ("0123456789abcdef", "", "harbor__0123456789ab__snapshot"),
        ("0123456789abcdef", "us", "harbor__0123456789ab__us__snapshot"),
    ],
)
def test_names_are_the_providers(key, target, name):
    assert snapshot_name(key, target) == name


def test_generations_are_called_by_their_words():
    assert [*Generation] == ["content", "legacy"]
