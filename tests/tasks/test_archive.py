"""An archive becomes the tree that extracting it would give, or faults; nothing leaves the task."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest

from partition.errors import InputError
from partition.tasks.archive import read_archive
from partition.tasks.directory import read_tree
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from pathlib import Path


def faults(data: bytes, **options: int) -> list[str]:
    """Return the faults of an archive as they are shown, without their hints."""
    with pytest.raises(InputError) as caught:
        read_archive(data, where="d.parquet[3]", task="t", **options)
    assert {fault.task for fault in caught.value.faults} == {"t"}
    return [f"{fault.where}: {fault.what}" for fault in caught.value.faults]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("prefix", ["", "./", "task-7/", "./a//b/./"])
def test_the_tree_equals_that_of_the_extracted_directory(
    tmp_path: Path, make, mode: str, prefix: str
) -> None:
    """At the top or in a single folder; plain or compressed; with links, bits and empty folders."""
    task = make.write_task(tmp_path / "t", {**make.FILES, "environment/a/b.sh": b"#!/bin/sh\n"})
    (task / "environment/a/b.sh").chmod(0o755)
    (task / "environment/empty").mkdir()
    (task / "environment/link").symlink_to("a/b.sh")
    (task / "environment/twin").hardlink_to(task / "environment/a/b.sh")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        archive.add(task, arcname=prefix or ".")
    ours = read_archive(buffer.getvalue(), where="x", name="t")
    disk = read_tree(task)
    assert ours.name == disk.name
    for mine, theirs in zip(ours.entries, disk.entries, strict=True):
        assert (mine.path, mine.kind, mine.size, mine.mode, mine.target) == (
            theirs.path,
            theirs.kind,
            theirs.size,
            theirs.mode,
            theirs.target,
        )
        if mine.kind is Kind.FILE:
            assert mine.read() == theirs.read()


def test_the_tree_is_called_by_its_folder_where_no_name_is_given(make) -> None:
    assert read_archive(make.task_tar(prefix="./org/task-7/"), where="x").name == "task-7"
    assert read_archive(make.task_tar(), where="x").name == ""


def test_folders_that_only_paths_imply_are_there(make) -> None:
    tree = read_archive(make.task_tar(make.member("environment/a/b/c", b"")), where="x")
    folders = [entry.path for entry in tree.entries if entry.kind is Kind.DIRECTORY]
    assert folders == ["environment", "environment/a", "environment/a/b", "tests"]


def test_what_a_mac_adds_beside_the_folder_does_not_hide_the_task(make) -> None:
    data = make.tar(
        make.member("._t", b"x"), *(make.member(f"t/{path}", body) for path, body in make.FILES.items())
    )
    assert read_archive(data, where="x").get("instruction.md") is not None


@pytest.mark.parametrize(
    ("name", "fields", "what"),
    [
        ("/etc/passwd", {}, "member '/etc/passwd' is absolute"),
        ("../x", {}, "member '../x' climbs out with '..'"),
        ("tests/../../x", {}, "member 'tests/../../x' climbs out with '..'"),
        ("tests/..", {"type": tarfile.DIRTYPE}, "member 'tests/../' climbs out with '..'"),
        ("d", {"type": tarfile.CHRTYPE}, "member 'd' is a character device"),
        ("d", {"type": tarfile.BLKTYPE}, "member 'd' is a block device"),
        ("p", {"type": tarfile.FIFOTYPE}, "member 'p' is a named pipe"),
        ("q", {"type": b"Z"}, "member 'q' is of the unknown type 'Z'"),
        ("instruction.md", {}, "member 'instruction.md' comes twice"),
        ("./tests//test.sh", {}, "member 'tests/test.sh' comes twice"),
        ("tests", {}, "member 'tests/test.sh' lies below 'tests', which is not a directory"),
        ("task.toml/x", {}, "member 'task.toml/x' lies below 'task.toml', which is not a directory"),
        ("a\udcff", {}, "member 'a\\udcff' has a name that is not UTF-8"),
        ("n" * 1025, {}, f"member '{'n' * 200}…' has a name that is longer than 1,024 bytes"),
        ("a", {"pax_headers": {"path": "a\0b"}}, "member 'a\\x00b' has a name that holds a NUL"),
        (".", {}, "member '.' has no name"),
        (
            "l",
            {"type": tarfile.SYMTYPE, "linkname": "x\udcff"},
            "member 'l' links to a path that is not UTF-8",
        ),
        (
            "l",
            {"type": tarfile.SYMTYPE, "linkname": "/etc"},
            "member 'l' links to '/etc', outside of the task",
        ),
        ("l", {"type": tarfile.SYMTYPE, "linkname": ".."}, "member 'l' links to '..', outside of the task"),
        (
            "tests/l",
            {"type": tarfile.SYMTYPE, "linkname": "../../x"},
            "member 'tests/l' links to '../../x', outside of the task",
        ),
        (
            "h",
            {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
            "member 'h' is a hard link to '/etc/passwd', which is no file before it",
        ),
        (
            "h",
            {"type": tarfile.LNKTYPE, "linkname": "later"},
            "member 'h' is a hard link to 'later', which is no file before it",
        ),
    ],
)
def test_a_hostile_member_is_a_fault_that_names_it(
    make, name: str, fields: dict[str, object], what: str
) -> None:
    assert faults(make.task_tar(make.member(name, **fields))) == [f"d.parquet[3]: {what}"]


def test_writing_through_a_link_is_a_fault(make) -> None:
    """``environment/out -> tests`` then ``environment/out/x``: the classic way out of a folder."""
    data = make.task_tar(
        make.member("environment/out", type=tarfile.SYMTYPE, linkname="../tests"),
        make.member("environment/out/x", b"1"),
    )
    assert faults(data) == [
        "d.parquet[3]: member 'environment/out/x' lies below 'environment/out', which is not a directory"
    ]


@pytest.mark.parametrize("chain", [["tests", "./l//../x"], ["..", "tests/up/../x"]])
def test_links_are_judged_through_the_links_that_they_pass(make, chain: list[str]) -> None:
    """``m -> l/../x`` leads where ``l`` leads, not to the folder that its text suggests."""
    first = "l" if chain[0] == "tests" else "tests/up"
    data = make.task_tar(
        make.member(first, type=tarfile.SYMTYPE, linkname=chain[0]),
        make.member("m", type=tarfile.SYMTYPE, linkname=chain[1]),
    )
    if first == "l":
        assert read_archive(data, where="x").get("m").target == "./l//../x"
    else:
        assert faults(data) == ["d.parquet[3]: member 'm' links to 'tests/up/../x', outside of the task"]


def test_links_in_a_circle_lead_nowhere(make) -> None:
    data = make.task_tar(
        make.member("a", type=tarfile.SYMTYPE, linkname="b"),
        make.member("b", type=tarfile.SYMTYPE, linkname="a"),
    )
    assert read_archive(data, where="x").get("a").kind is Kind.LINK


def test_a_link_out_of_the_wrapping_folder_leaves_the_task(make) -> None:
    data = make.task_tar(make.member("t/l", type=tarfile.SYMTYPE, linkname="../t/tests"), prefix="t/")
    assert faults(data) == ["d.parquet[3]: member 't/l' links to '../t/tests', outside of the task"]


def test_all_hostile_members_are_reported_up_to_a_limit(make) -> None:
    bad = [make.member(f"../{number}") for number in range(30)]
    assert len(faults(make.task_tar(*bad[:19]))) == 19
    shown = faults(make.task_tar(*bad))
    assert len(shown) == 21
    assert shown[-1].endswith("was not read further after 20 faults")


@pytest.mark.parametrize(
    "files",
    [{}, {"README.md": b""}, {"a/instruction.md": b"", "b/instruction.md": b""}, {"task.toml/x": b""}],
)
def test_an_archive_without_one_task_is_a_fault(make, files: dict[str, bytes]) -> None:
    data = make.tar(*(make.member(path, body) for path, body in files.items()))
    where = "neither task.toml nor instruction.md is at its top or in a single folder"
    assert faults(data) == [f"d.parquet[3]: the archive holds no task: {where}"]


def test_the_limits_count_every_byte_member_and_copy(make) -> None:
    big = make.member("big", b"x" * 1000)
    copies = [make.member(f"h{n}", type=tarfile.LNKTYPE, linkname="big") for n in range(50)]
    data = make.task_tar(big, *copies)
    assert read_archive(data, where="x", max_bytes=60_000).get("h49").size == 1000
    assert faults(data, max_bytes=40_000) == [
        "d.parquet[3]: the archive holds more than 40,000 bytes once hard links are copied"
    ]
    assert faults(data, max_bytes=10_000) == [
        "d.parquet[3]: the archive holds more than 10,000 bytes uncompressed"
    ]
    assert faults(data, max_members=30) == ["d.parquet[3]: the archive has more than 30 members"]


BOMB = """
import resource, sys
from partition.errors import InputError
from partition.tasks.archive import read_archive
data = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_archive(data, where="x")
except InputError as error:
    print(error.faults[0].what)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def bomb(kind: str) -> bytes:
    """Return a gigabyte of zeros in a megabyte: in one member, after the end mark, or as no tar."""
    info = tarfile.TarInfo("zeros")
    info.size = 1 << 30
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=1, mtime=0) as stream:
        if kind == "member":
            stream.write(info.tobuf())
        elif kind == "extension":
            info.type = tarfile.XHDTYPE
            stream.write(info.tobuf())
        elif kind == "end":
            stream.write(tarfile.TarInfo("instruction.md").tobuf())
        for _ in range(1 << 10):
            stream.write(bytes(1 << 20))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("member", "the archive holds more than 268,435,456 bytes uncompressed"),
        ("end", "the archive holds more than 268,435,456 bytes uncompressed"),
        ("nothing", "the archive holds more than 268,435,456 bytes uncompressed"),
        ("extension", "the archive has a header extension of 1,073,741,824 bytes"),
    ],
)
def test_a_gigabyte_of_zeros_is_refused_and_never_held(kind: str, what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BOMB], input=bomb(kind), capture_output=True, check=True, timeout=60
    )
    said, megabytes = done.stdout.decode().splitlines()
    assert said == what
    assert int(megabytes) < 20
