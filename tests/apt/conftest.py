"""A release of a dozen packages in a folder, which apt reads as it reads any mirror."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING

import pytest

from partition.apt.index import Index, open_index
from partition.apt.sources import Suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STANZAS = """
Package: base-files
Version: 12
Essential: yes
Priority: required
Installed-Size: 100

Package: apt
Version: 2.6
Depends: base-files
Installed-Size: 400

Package: git
Version: 1:2.39-1
Depends: libc6 (>= 2.30), perl | perl-tiny
Recommends: less
Installed-Size: 1000

Package: git
Version: 1:2.30-1
Depends: libc6
Installed-Size: 900

Package: libc6
Version: 2.36-9
Installed-Size: 500

Package: perl
Version: 5
Depends: libc6
Installed-Size: 300

Package: perl-tiny
Version: 5
Installed-Size: 30

Package: less
Version: 1
Installed-Size: 7

Package: curl-gnutls-dev
Version: 7
Depends: libc6
Conflicts: curl-openssl-dev
Provides: curl-dev, only-gnutls
Installed-Size: 40

Package: curl-openssl-dev
Version: 7
Provides: curl-dev
Installed-Size: 41

Package: needs-gnutls
Version: 1
Depends: curl-gnutls-dev
Installed-Size: 1

Package: chooses
Version: 1
Depends: curl-openssl-dev | perl-tiny
Installed-Size: 2

Package: broken
Version: 1
Depends: nowhere (>= 2)
Installed-Size: 3

Package: breaks-base
Version: 1
Conflicts: less
Installed-Size: 4

Package: three-a
Version: 1
Depends: side-one | side-two
Installed-Size: 1

Package: side-one
Version: 1
Installed-Size: 1

Package: side-two
Version: 1
Installed-Size: 1

Package: no-side-one
Version: 1
Conflicts: side-one
Installed-Size: 1

Package: no-side-two
Version: 1
Conflicts: side-two
Installed-Size: 1

Package: libgl1
Version: 1
Installed-Size: 9

Package: g++
Version: 12
Installed-Size: 5
"""


def write_archive(folder: Path, stanzas: str = STANZAS, release: str = "trixie") -> Suite:
    """Write an archive of one release without signatures, and return where it is."""
    binary = folder / "dists" / release / "main" / "binary-amd64"
    binary.mkdir(parents=True, exist_ok=True)
    lines = []
    for stanza in stanzas.strip().split("\n\n"):
        name = stanza.partition("\n")[0].removeprefix("Package: ")
        lines += [
            stanza,
            "Architecture: amd64",
            f"Filename: pool/{name}.deb",
            "Size: 1",
            f"SHA256: {'0' * 64}",
            "",
        ]
    packages = "\n".join(lines).encode()
    (binary / "Packages").write_bytes(packages)
    digest = hashlib.sha256(packages).hexdigest()
    head = f"Origin: Debian\nSuite: {release}\nCodename: {release}\nArchitectures: amd64\nComponents: main\n"
    date = "Date: Sat, 01 Aug 2026 00:00:00 UTC\n"
    sums = f"SHA256:\n {digest} {len(packages)} main/binary-amd64/Packages\n"
    (folder / "dists" / release / "Release").write_text(head + date + sums)
    return Suite(f"file:{folder}", release, "main", "trusted=yes")


@pytest.fixture
def write_release() -> Callable[..., Suite]:
    """Return the function that writes an archive."""
    return write_archive


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return write_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def index(archive: Suite, cache: Path) -> Index:
    if shutil.which("apt-get") is None:
        pytest.skip("apt is not installed")
    return open_index("trixie", cache, suites=[archive])
