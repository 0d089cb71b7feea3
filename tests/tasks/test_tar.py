"""The strict tar reader agrees with the standard one on sound archives and refuses all others."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import shutil
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.tasks.tar import ArchiveError, Member, byte_sum, members

if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 1 << 24
COMPRESSIONS = {"none": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def with_tarfile(data: bytes) -> list[Member]:
    """Return the members as the standard library reads them."""
    found = []
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for info in archive:
            body = archive.extractfile(info).read() if info.isreg() else b""
            kind = "0" if info.isreg() else info.type.decode()
            found.append(Member(info.name, kind, info.mode, info.linkname, body))
    return found


def read(data: bytes) -> list[Member]:
    """Return the members as this project reads them; the standard reader drops the final slash."""
    return [
        member._replace(name=member.name.rstrip("/") if member.type == "5" else member.name)
        for member in members(data, limit=LIMIT)
    ]


name_parts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=60
)
names = st.lists(name_parts, min_size=1, max_size=6).map("/".join).filter(lambda name: name.strip("/"))


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """Draw an archive as the standard library writes it, in any of its formats."""
    buffer = io.BytesIO()
    chosen = draw(st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]))
    everywhere = draw(st.sampled_from([{}, {"comment": "x"}])) if chosen == tarfile.PAX_FORMAT else {}
    with tarfile.open(fileobj=buffer, mode="w", format=chosen, pax_headers=everywhere) as archive:
        for name in draw(st.lists(names, min_size=bool(everywhere), max_size=6)):
            info = tarfile.TarInfo(name)
            info.type = draw(
                st.sampled_from(
                    [
                        tarfile.REGTYPE,
                        tarfile.AREGTYPE,
                        tarfile.CONTTYPE,
                        tarfile.DIRTYPE,
                        tarfile.SYMTYPE,
                        tarfile.LNKTYPE,
                        tarfile.FIFOTYPE,
                        tarfile.CHRTYPE,
                    ]
                )
            )
            info.mode = draw(st.integers(0, 0o7777))
            info.mtime = draw(st.sampled_from([0, 1.5, 2**34]))
            if info.type in {tarfile.SYMTYPE, tarfile.LNKTYPE}:
                info.linkname = draw(names)
            body = draw(st.binary(max_size=1100)) if info.isreg() else b""
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return buffer.getvalue()


@settings(derandomize=True, deadline=None, max_examples=200)
@given(archives(), st.sampled_from(sorted(COMPRESSIONS)))
def test_both_readers_agree_on_every_sound_archive(data: bytes, compression: str) -> None:
    assert read(COMPRESSIONS[compression](data)) == with_tarfile(data)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(archives(), st.data())
def test_a_damaged_archive_is_refused_or_read_but_never_breaks_the_reader(
    data: bytes, draw: st.DataObject
) -> None:
    """One byte changed or the end cut off: an answer or an ArchiveError, nothing else."""
    packed = bytearray(gzip.compress(data) if draw.draw(st.booleans()) else data)
    position = draw.draw(st.integers(0, len(packed) - 1))
    if draw.draw(st.booleans()):
        packed[position] ^= draw.draw(st.integers(1, 255))
    else:
        del packed[position:]
    try:
        list(members(bytes(packed), limit=LIMIT))
    except ArchiveError as error:
        assert str(error).startswith(("is ", "holds ", "has "))  # noqa: PT017 - an answer is as good


@settings(derandomize=True, deadline=None, max_examples=100)
@given(archives().filter(lambda data: len(with_tarfile(data)) > 0), st.data())
def test_an_archive_cut_anywhere_before_its_end_mark_is_refused(data: bytes, draw: st.DataObject) -> None:
    end = len(data.rstrip(b"\0")) // 512 * 512
    cut = draw.draw(st.integers(0, end))
    with pytest.raises(ArchiveError, match=r"is truncated|is not a tar"):
        list(members(data[:cut], limit=LIMIT))


def test_gzip_in_several_members_or_of_more_than_is_inflated_at_once_is_read(make) -> None:
    data = make.tar(make.member("f", bytes(5 << 20)), mode="w")
    for cut in (0, 1, 700):
        packed = gzip.compress(data[:cut]) + gzip.compress(data[cut:])
        assert read(packed) == with_tarfile(data)
    with pytest.raises(ArchiveError, match="holds more than"):
        list(members(gzip.compress(data), limit=1 << 20))


@settings(derandomize=True, deadline=None)
@given(st.binary(min_size=512, max_size=512))
def test_the_sum_of_a_headers_bytes_is_exact(header: bytes) -> None:
    assert byte_sum(header) == sum(header)
    assert byte_sum(b"\xff" * 512) == 512 * 255


@pytest.mark.skipif(shutil.which("tar") is None, reason="needs the tar command")
@pytest.mark.parametrize("kind", ["gnu", "oldgnu", "pax", "posix", "ustar", "v7"])
def test_archives_of_the_tar_command_are_read(tmp_path: Path, kind: str) -> None:
    long = "d" * 90 if kind in {"v7", "ustar"} else "d" * 120
    (tmp_path / "src" / long).mkdir(parents=True)
    (tmp_path / "src" / long / "file").write_bytes(b"x" * 513)
    (tmp_path / "src" / "link").symlink_to(f"{long}/file")
    (tmp_path / "src" / "twin").hardlink_to(tmp_path / "src" / long / "file")
    subprocess.run(
        ["tar", "-C", tmp_path / "src", f"--format={kind}", "--sort=name", "-cf", tmp_path / "x.tar", "."],
        check=True,
    )
    data = (tmp_path / "x.tar").read_bytes()
    assert read(data) == with_tarfile(data)
    assert {member.type for member in read(data)} == {"0", "1", "2", "5"}


@pytest.mark.skipif(shutil.which("tar") is None, reason="needs the tar command")
@pytest.mark.parametrize("kind", ["gnu", "pax"])
def test_sparse_members_are_read_whole_and_counted_whole(tmp_path: Path, kind: str) -> None:
    with (tmp_path / "holes").open("wb") as stream:
        stream.write(b"head")
        stream.seek(5 << 20)
        stream.write(b"tail")
    subprocess.run(
        ["tar", "-C", tmp_path, f"--format={kind}", "--sparse", "-cf", tmp_path / "x.tar", "holes"],
        check=True,
    )
    data = (tmp_path / "x.tar").read_bytes()
    assert len(data) < 1 << 20
    (member,) = members(data, limit=LIMIT)
    assert (member.name, member.data) == ("holes", (tmp_path / "holes").read_bytes())
    with pytest.raises(ArchiveError, match=r"holds more than 4,194,304 bytes"):
        list(members(data, limit=4 << 20))


def test_what_comes_after_the_end_mark_is_not_read_but_its_checksum_is(make) -> None:
    data = make.task_tar(mode="w:gz")
    assert len(list(members(data, limit=LIMIT))) == 4
    damaged = data[:-6] + bytes([data[-6] ^ 1]) + data[-5:]
    with pytest.raises(ArchiveError, match="is damaged: CRC check failed"):
        list(members(damaged, limit=LIMIT))


def test_sizes_written_in_base_256_are_read(make) -> None:
    header = bytearray(make.tar(make.member("f", b"abc"), mode="w"))
    header[124:136] = b"\x80" + (3).to_bytes(11, "big")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header[:512])
    (member,) = members(bytes(header), limit=LIMIT)
    assert member.data == b"abc"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a tar"),
        (b"hello", "is not a tar"),
        (b"x" * 10_240, "is not a tar"),
        (b"\x1f\x8b", "is truncated"),
        (gzip.compress(b"x" * 1000), "is not a tar"),
        (b"\x1f\x8b\x08\x00" + bytes(2000), "is damaged"),
        (b"BZh9" + bytes(2000), "is damaged"),
        (b"\xfd7zXZ\0" + bytes(2000), "is damaged"),
        (b"\x28\xb5\x2f\xfd" + bytes(2000), "is compressed with zstd"),
    ],
)
def test_what_is_no_archive_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ArchiveError, match=message):
        list(members(data, limit=LIMIT))


def test_a_damaged_header_is_an_error_where_the_standard_reader_stops_silently(make) -> None:
    data = bytearray(make.tar(make.member("a", b"1"), make.member("b", b"2"), mode="w"))
    data[1024] ^= 1
    assert [info.name for info in with_tarfile(bytes(data))] == ["a"]
    with pytest.raises(ArchiveError, match="a header's checksum is wrong"):
        list(members(bytes(data), limit=LIMIT))


def test_what_only_old_or_odd_writers_write_is_read_as_the_standard_reader_does(make) -> None:
    """A directory told by its final slash, and a size in a pax header that overrides the other."""
    odd = [
        make.member("dir/", type=tarfile.AREGTYPE),
        make.member("f", b"abc", pax_headers={"size": "3", "path": "from the extension"}),
        make.member("g" * 120, b"x"),
    ]
    for options in ({"format": tarfile.PAX_FORMAT}, {"format": tarfile.GNU_FORMAT}):
        data = make.tar(*odd, mode="w", **options)
        assert read(data) == with_tarfile(data)
    assert [member.type for member in read(data)] == ["5", "0", "0"]


@pytest.mark.parametrize("size", ["-1", "1e3", "3 ", "9" * 30])
def test_a_size_that_is_none_is_refused(make, size: str) -> None:
    data = make.tar(make.member("f", b"abc", pax_headers={"size": size}), mode="w", format=tarfile.PAX_FORMAT)
    with pytest.raises(ArchiveError, match="is not a size"):
        list(members(data, limit=LIMIT))


def test_an_extension_without_its_member_is_refused(make) -> None:
    data = make.tar(make.member("g" * 120, b"x"), mode="w", format=tarfile.GNU_FORMAT)
    with pytest.raises(ArchiveError, match="is truncated"):
        list(members(data[:1024] + bytes(1024), limit=LIMIT))


def test_a_sparse_archive_that_is_cut_or_damaged_later_is_refused(tmp_path: Path) -> None:
    if shutil.which("tar") is None:
        pytest.skip("needs the tar command")
    with (tmp_path / "holes").open("wb") as stream:
        stream.seek(1 << 20)
        stream.write(b"x" * 5000)
    (tmp_path / "later").write_bytes(b"y" * 1000)
    subprocess.run(
        ["tar", "-C", tmp_path, "--sparse", "-cf", tmp_path / "x.tar", "holes", "later"], check=True
    )
    data = bytearray((tmp_path / "x.tar").read_bytes())
    assert [member.name for member in members(bytes(data), limit=LIMIT)] == ["holes", "later"]
    with pytest.raises(ArchiveError, match=r"is damaged|is truncated"):
        list(members(bytes(data[:2048]), limit=LIMIT))
    data[data.index(b"later")] ^= 1
    with pytest.raises(ArchiveError, match="is truncated"):
        list(members(bytes(data), limit=LIMIT))
