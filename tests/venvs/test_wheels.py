"""A package's size is what an installer leaves on disk; an image counts equal files once."""

from __future__ import annotations

import base64
import functools
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.errors import InputError
from partition.venvs.artefacts import Artefact, Package, artefacts_of
from partition.venvs.disk import Size, size_of_folder, size_of_installed, size_of_wheel
from partition.venvs.wheels import Sized, estimated, layer_bytes, remember, remember_wheel, sizes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLATFORM = "x86_64-manylinux_2_36"
needs_uv = pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed")
POINTS = "[console_scripts]\ndemo = demo:main\ndemo-more = demo.more:main\n"
FILES = {"demo/__init__.py": "x = 1\n" * 300, "demo/sub/data.bin": "y" * 5000, "demo/empty.py": ""}


def write_wheel(folder: Path, name: str, version: str, files: Mapping[str, str], points: str = "") -> Path:
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    members = dict(files)
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    members[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    if points:
        members[f"{info}/entry_points.txt"] = points
    lines = []
    for member, text in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{member},sha256={digest},{len(text)}")
    members[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in members.items():
            archive.writestr(zipfile.ZipInfo(member), text)
    return path


def write_sdist(folder: Path, name: str, version: str) -> Path:
    path = folder / f"{name}-{version}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        text = b"raise SystemExit('a build was run')\n"
        member = tarfile.TarInfo(f"{name}-{version}/setup.py")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return path


def artefact(path: Path) -> Artefact:
    data = path.read_bytes()
    return Artefact(path.name, hashlib.sha256(data).hexdigest(), len(data), wheel=path.suffix == ".whl")


class Pages(http.server.SimpleHTTPRequestHandler):
    """An index as PEP 691 describes it: a folder of files."""

    def do_GET(self) -> None:
        match = re.fullmatch(r"/simple/([^/]+)/", self.path)
        if not match:
            super().do_GET()
            return
        folder = Path(self.directory)
        found = sorted(path for path in folder.iterdir() if path.name.partition("-")[0] == match[1])
        if not found:
            self.send_error(404)
            return
        files = [
            {
                "filename": path.name,
                "url": f"/{path.name}",
                "size": path.stat().st_size,
                "hashes": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
            }
            for path in found
        ]
        body = json.dumps({"meta": {"api-version": "1.1"}, "name": match[1], "files": files}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder whose files are an index, the only one that uv knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Pages, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for name in [each for each in os.environ if each.startswith(("UV_", "PIP_")) or each.endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    yield folder
    server.shutdown()
    thread.join()
    server.server_close()


def install(wheel: Path, target: Path) -> Path:
    subprocess.run(
        ["uv", "pip", "install", "-q", "--no-config", "--no-index", "--no-deps", "--target", target, wheel],
        env=os.environ | {"UV_PYTHON_DOWNLOADS": "never"}, check=True, capture_output=True,
    )  # fmt: skip
    return next(target.glob("*.dist-info/RECORD"))


@needs_uv
def test_a_wheels_table_of_contents_tells_what_an_installer_leaves(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "demo", "1", FILES, POINTS)
    told = size_of_wheel(wheel)
    real = size_of_installed(tmp_path / "site", install(wheel, tmp_path / "site"))
    assert (told.files, told.bytes, told.records, told.blocks) == (
        real.files,
        real.bytes,
        real.records,
        real.blocks,
    )
    assert told.each == pytest.approx(real.each, abs=3072)


def test_only_what_an_installer_writes_anew_is_each_environments_own(tmp_path: Path) -> None:
    size = size_of_wheel(write_wheel(tmp_path, "demo", "1", FILES, POINTS))
    # METADATA, WHEEL, entry_points.txt beside the three files; RECORD, INSTALLER, REQUESTED and two scripts
    assert (size.files, size.own_files) == (6, 5)
    assert size_of_wheel(write_wheel(tmp_path, "demo", "2", FILES)).own_files == 3


def test_scripts_and_headers_of_a_wheels_data_folder_count(tmp_path: Path) -> None:
    extra = {"demo-1.data/scripts/run": "#!python\n", "demo-1.data/headers/demo.h": "int x;\n"}
    plain = size_of_wheel(write_wheel(tmp_path, "demo", "1", FILES))
    size = size_of_wheel(write_wheel(tmp_path, "demo", "1", {**FILES, **extra}))
    assert (size.files - plain.files, size.own_files - plain.own_files) == (1, 1)


def test_what_is_no_wheel_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(InputError, match=r"x\.whl: not a wheel"):
        size_of_wheel(tmp_path / "x.whl")


def test_a_record_that_names_files_elsewhere_or_none_counts_only_what_is_there(tmp_path: Path) -> None:
    info = tmp_path / "x-1.dist-info"
    info.mkdir()
    (tmp_path / "x.py").write_text("1")
    (info / "RECORD").write_text('x.py,sha256=,999\n/etc/passwd,,\nmissing.py,,1\n\n"unclosed,,\n')
    size = size_of_installed(tmp_path, info / "RECORD")
    assert (size.files, size.bytes) == (1, 1)


def test_a_folder_counts_a_file_with_two_names_once_and_no_bytecode(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 600)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").symlink_to("a")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/a.pyc").write_bytes(b"x" * 9000)
    size = size_of_folder(tmp_path)
    assert (size.bytes, size.once, size.files, size.each) == (600, 1024, 3, 512 * 4)


def test_a_folder_takes_in_a_layer_what_tar_says(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    for number, length in enumerate((0, 1, 511, 512, 513, 70_000)):
        (tree / f"sub/{number}").write_bytes(b"x" * length)
    (tree / "again").hardlink_to(tree / "sub/5")
    with tarfile.open(tmp_path / "tree.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
        archive.add(tree, "tree")
        length = archive.offset
    size = size_of_folder(tree)
    assert size.once + size.each == length


@needs_uv
def test_the_file_that_the_index_serves_is_known_without_fetching_or_building_it(
    served: Path, tmp_path: Path
) -> None:
    wheel = write_wheel(served, "demo", "1", FILES)
    source = write_sdist(served, "old", "2")
    wanted = [Package("Demo", "1"), Package("demo", "9"), Package("old", "2"), Package("nowhere", "1")]
    files, faults = artefacts_of(wanted, python="3.9", platform=PLATFORM, cache=tmp_path / "cache")
    assert files == {Package("Demo", "1"): artefact(wheel), Package("old", "2"): artefact(source)}
    assert [fault.where for fault in faults] == ["demo==9", "nowhere==1"]


def test_what_is_no_package_never_reaches_the_installer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    hostile = [("-r /etc/passwd", "1"), ("x", "1\n--index-url=http://y"), ("x @ file:///y", "1"), ("", "")]
    wanted = [Package(*each) for each in hostile]
    sizes, faults = sizes_of(wanted, python="3.9", platform=PLATFORM, cache=tmp_path)
    assert len(faults) == len(wanted)
    assert all(sized.error > 1 for sized in sizes.values())


@needs_uv
def test_a_wheel_is_measured_once_and_then_without_a_network(
    served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = write_wheel(served, "demo", "1", FILES, POINTS)
    write_sdist(served, "old", "2")
    wanted = [Package("demo", "1"), Package("old", "2"), Package("nowhere", "1")]
    question = {"python": "3.9", "platform": PLATFORM, "cache": tmp_path / "cache"}
    sizes, faults = sizes_of(wanted, **question)
    assert sizes[wanted[0]].measured
    assert sizes[wanted[0]].size.bytes == size_of_wheel(wheel).bytes
    assert [sizes[each].error > 0 for each in wanted] == [False, True, True]
    assert [fault.where for fault in faults] == ["nowhere==1"]
    monkeypatch.setenv("UV_INDEX_URL", "http://127.0.0.1:9/simple")
    assert sizes_of(wanted[:2], **question)[0] == {each: sizes[each] for each in wanted[:2]}
    with pytest.raises(InputError, match="cannot be reached"):
        sizes_of([Package("other", "1")], **question)


@needs_uv
def test_a_built_package_is_measured_where_it_is_installed(served: Path, tmp_path: Path) -> None:
    write_sdist(served, "old", "2")
    package = Package("old", "2")
    question = {"python": "3.9", "platform": PLATFORM, "cache": tmp_path / "cache"}
    assert not sizes_of([package], **question)[0][package].measured
    install(write_wheel(tmp_path, "old", "2", FILES), tmp_path / "site")
    found = remember(tmp_path / "site", [package, Package("absent", "1")], **question)
    assert list(found) == [package]
    assert sizes_of([package], **question)[0][package] == Sized(
        key=sizes_of([package], **question)[0][package].key, size=found[package]
    )


def test_a_wheel_file_can_be_measured_where_it_lies(tmp_path: Path) -> None:
    wheel = write_wheel(tmp_path, "demo", "1", FILES)
    assert remember_wheel(wheel, "ab" * 32, cache=tmp_path) == size_of_wheel(wheel)


@given(length=st.integers(1, 10**9))
@settings(derandomize=True, deadline=None)
def test_an_estimate_grows_with_the_file_and_states_its_error(length: int) -> None:
    for name, wheel in (
        ("x-1-py3-none-any.whl", True),
        ("x-1-cp39-cp39-linux.whl", True),
        ("x.tar.gz", False),
    ):
        size, error = estimated(Artefact(name, "", length, wheel=wheel))
        larger, _ = estimated(Artefact(name, "", 2 * length, wheel=wheel))
        assert error > 0
        assert larger.bytes >= size.bytes
        assert size.records >= size.bytes


SIZED = st.integers(0, 5).map(
    lambda key: Sized(key=str(key), size=Size(files=1, bytes=key + 1, records=512 * (key + 1), own_files=3))
)
VENVS = st.lists(
    st.dictionaries(st.builds(Package, st.sampled_from("abcdef"), st.just("1")), SIZED), max_size=4
)


@given(venvs=VENVS)
@settings(derandomize=True, deadline=None)
def test_sharing_never_costs_and_order_does_not_matter(venvs: list[dict[Package, Sized]]) -> None:
    together = layer_bytes(venvs)
    assert together <= sum(layer_bytes([venv]) for venv in venvs)
    assert together == layer_bytes(list(reversed(venvs)))
    assert layer_bytes([*venvs, *venvs[:1]]) >= together
