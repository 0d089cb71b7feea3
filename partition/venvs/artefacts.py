"""Which file the index serves for a package, an interpreter and a platform: its name, hash and size.

uv is told that no package has dependencies, so it needs no package's metadata: nothing is downloaded but the
index's pages, and no build is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from partition.errors import Fault, InputError
from partition.venvs.resolver import program
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9.+!_-]+")
_REQUIRED = re.compile(r"require ([A-Za-z0-9][\w.-]*)==")
_NETWORK = (
    "error sending request",
    "Could not connect",
    "dns error",
    "Failed to fetch",
    "network was disabled",
)


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """A release of a project."""

    name: str
    version: str

    def __str__(self) -> str:
        """Return it as a requirement."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file of the index.

    Parameters
    ----------
    sha256
        Hex digest; equal files, equal contents.
    bytes
        Size of the file itself, compressed; 0 where the index does not tell.
    wheel
        False for a source distribution, which is built before it is installed.
    """

    filename: str
    sha256: str
    bytes: int
    wheel: bool

    @property
    def pure(self) -> bool:
        """Whether it is a wheel for every platform."""
        return self.wheel and self.filename.endswith("-none-any.whl")


def artefacts_of(
    packages: Iterable[Package], *, python: str, platform: str, cache: Path, offline: bool = False
) -> tuple[dict[Package, Artefact], tuple[Fault, ...]]:
    """Return the file that an installer would take for each package; the same question is asked once.

    Parameters
    ----------
    python
        Minor version, ``3.9``; the interpreter itself is not needed.
    platform
        As uv names it: ``x86_64-manylinux_2_36`` for bookworm.
    offline
        Ask only the cache.

    Returns
    -------
    artefacts
        Without those that the index does not have.
    faults
        One for each of these.

    Raises
    ------
    InputError
        uv is not installed, or the index cannot be reached; what was found before is kept.
    """
    known: dict[Package, Artefact] = {}
    asked: list[Package] = []
    gone: list[Package] = []
    for package in sorted(set(packages)):
        if not (_NAME.fullmatch(package.name) and _VERSION.fullmatch(package.version)):
            gone.append(package)
            continue
        kept = _place(cache, package, python, platform)
        if kept.is_file():
            known[package] = Artefact(**json.loads(kept.read_bytes()))
        else:
            asked.append(package)
    for round_ in _rounds(asked):
        for package, artefact in _resolve(round_, python, platform, cache, offline=offline).items():
            if artefact is None:
                gone.append(package)
                continue
            known[package] = artefact
            place = _place(cache, package, python, platform)
            place.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(place, json.dumps(asdict(artefact)).encode())
    return known, tuple(_fault(package, python) for package in sorted(gone))


def _rounds(packages: Sequence[Package]) -> list[list[Package]]:
    """Return the packages in lists that have each project once."""
    rounds: list[dict[str, Package]] = []
    for package in packages:
        name = canonicalize_name(package.name)
        fitting = next((each for each in rounds if name not in each), None)
        if fitting is None:
            fitting = {}
            rounds.append(fitting)
        fitting[name] = package
    return [list(each.values()) for each in rounds]


def _resolve(
    packages: list[Package], python: str, platform: str, cache: Path, *, offline: bool
) -> dict[Package, Artefact | None]:
    """Return each package's file, or None where the index has none for this interpreter and platform."""
    found: dict[Package, Artefact | None] = {}
    while packages:
        text, words = _ask(packages, python, platform, cache, offline=offline)
        if text is not None:
            files = _read(text)
            return found | {each: files.get(canonicalize_name(each.name)) for each in packages}
        named = {canonicalize_name(name) for name in _REQUIRED.findall(words)}
        gone = [each for each in packages if canonicalize_name(each.name) in named]
        if not gone and len(packages) > 1:
            half = len(packages) // 2
            parts = (packages[:half], packages[half:])
            return found | {
                package: file
                for part in parts
                for package, file in _resolve(part, python, platform, cache, offline=offline).items()
            }
        gone = gone or packages
        found |= dict.fromkeys(gone)
        packages = [each for each in packages if each not in gone]
    return found


def _ask(
    packages: Sequence[Package], python: str, platform: str, cache: Path, *, offline: bool
) -> tuple[str | None, str]:
    """Return uv's lock file, or None and what it said."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (
            f"{{ name = {json.dumps(each.name)}, version = {json.dumps(each.version)}, requires-dist = [] }}"
            for each in packages
        )
        (folder / "uv.toml").write_text(f"dependency-metadata = [{', '.join(rows)}]\n")
        (folder / "packages.in").write_text("".join(f"{each}\n" for each in packages))
        done = run_uv(
            "pip", "compile", "--quiet", "--no-deps", "--no-header", f"--config-file={folder / 'uv.toml'}",
            "--format=pylock.toml", f"--python-version={full_version(python)}",
            f"--python-platform={platform}", *(("--offline",) if offline else ()), folder / "packages.in",
            cache=cache / "uv",
        )  # fmt: skip
    if done.returncode == 0:
        return done.stdout, ""
    if any(words in done.stderr for words in _NETWORK):
        raise InputError(
            "the package index cannot be reached, so that packages' files are not known",
            hint="try again with a network; what was found before is kept",
        )
    return None, " ".join(done.stderr.split())


def full_version(python: str) -> str:
    """Return a late patch release of a minor version, so that no package is too new for it.

    Interpreters older than those that uv knows are taken for the oldest one that it does.
    """
    return "3.6.20" if is_unknown(python) else f"{python}.20"


def is_unknown(python: str) -> bool:
    """Whether an interpreter is too old for uv (2.7, 3.5), so that pip installs for it."""
    return tuple(map(int, python.split("."))) < (3, 6)


def run_uv(*arguments: str | Path, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run uv, which downloads no interpreter and keeps what it fetches in a folder.

    Raises
    ------
    InputError
        It is not installed.
    """
    own = {"UV_PYTHON_DOWNLOADS": "never", "UV_CACHE_DIR": str(cache.absolute()), "NO_COLOR": "1"}
    return subprocess.run(
        [program(), *arguments],
        env=os.environ | own, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip


def _read(text: str) -> dict[str, Artefact]:
    """Return the file of each project in a lock file (PEP 751): its wheel, else its source distribution."""
    found: dict[str, Artefact] = {}
    for package in tomllib.loads(text).get("packages", ()):
        wheels = package.get("wheels", ())
        file = wheels[0] if wheels else package.get("sdist")
        if file:
            found[canonicalize_name(package["name"])] = Artefact(
                filename=file.get("name") or file.get("url", "").partition("#")[0].rpartition("/")[2],
                sha256=file.get("hashes", {}).get("sha256", ""),
                bytes=int(file.get("size", 0)),
                wheel=bool(wheels),
            )
    return found


def _place(cache: Path, package: Package, python: str, platform: str) -> Path:
    question = json.dumps([canonicalize_name(package.name), package.version, python, platform])
    key = hashlib.sha256(question.encode()).hexdigest()
    return cache / "artefacts" / key[:2] / f"{key}.json"


def _fault(package: Package, python: str) -> Fault:
    return Fault(
        where=str(package),
        what=f"the index has no file of it for Python {python}",
        hint="its size is estimated; installing it will fail unless it comes from elsewhere",
    )
