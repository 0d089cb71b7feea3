"""A file appears whole or not at all, whatever goes wrong while it is written."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from partition.errors import InputError
from partition.writing import write_atomically, write_new

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITERS = [write_atomically, write_new]


def names(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("write", WRITERS)
def test_the_bytes_are_there_and_nothing_else_is(tmp_path: Path, write) -> None:
    write(tmp_path / "plan.json", b"{}\n")
    assert (tmp_path / "plan.json").read_bytes() == b"{}\n"
    assert names(tmp_path) == ["plan.json"]


def test_permissions_are_those_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("n" * 255), b"1")
    assert names(tmp_path) == ["n" * 255]


def test_an_older_file_is_replaced_atomically_and_only_by_the_writer_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(InputError, match="something else is there"):
        write_new(path, b"new")
    assert path.read_bytes() == b"old"
    write_new(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


def test_missing_folders_are_made_for_a_new_file_only(tmp_path: Path) -> None:
    write_new(tmp_path / "a/b/x", b"1")
    assert (tmp_path / "a/b/x").read_bytes() == b"1"
    with pytest.raises(InputError, match="not written: No such file or directory"):
        write_atomically(tmp_path / "c/x", b"1")


@pytest.mark.parametrize("write", WRITERS)
def test_what_cannot_be_written_is_an_error_that_names_it(tmp_path: Path, write) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/x: not written") as caught:
        write(tmp_path / "file" / "x", b"1")
    assert caught.value.hint
    (tmp_path / "folder/below").mkdir(parents=True)
    with pytest.raises(InputError, match=r"folder: (not written|something else)"):
        write(tmp_path / "folder", b"1")
    assert names(tmp_path) == ["file", "folder"]


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of 64 KiB; where that is not allowed, the test is another one."""
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root may mount a small disk")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("write", WRITERS)
def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, write) -> None:
    with small_disk(tmp_path / "disk") as disk:
        (disk / "old").write_bytes(b"kept")
        with pytest.raises(InputError, match="not written: No space left on device") as caught:
            write(disk / "plan.json", bytes(1 << 20))
        assert "free some space" in caught.value.hint
        assert names(disk) == ["old"]
        with pytest.raises(InputError, match="not written"):
            write_atomically(disk / "old", bytes(1 << 20))
        assert (disk / "old").read_bytes() == b"kept"


LIMITED = """
import os, resource, signal, sys
from pathlib import Path
from partition.errors import InputError
from partition.writing import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
try:
    write_atomically(Path(sys.argv[1]), bytes(1 << 20))
except InputError as error:
    print(error)
"""


def test_a_file_larger_than_the_system_allows_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"kept")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "x"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{tmp_path / 'x'}: not written: File too large\n"
    assert (tmp_path / "x").read_bytes() == b"kept"
    assert names(tmp_path) == ["x"]


INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from partition import writing
def fsync(descriptor):
    os.kill(os.getpid(), signal.SIGINT)
writing.os.fsync = fsync
writing.write_atomically(Path(sys.argv[1]), b"data")
"""


def test_an_interrupt_while_writing_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, tmp_path / "x"], capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGINT
    assert names(tmp_path) == []
