"""``uv pip compile`` as a function: questions in, packages or uv's own words out.

Nothing of a package is ever run: uv may not build. Its cache is the caller's, and so are its temporary files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from partition.errors import InputError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_KEPT = re.compile(
    r"UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|INDEX_STRATEGY|INDEX_\w+_(USERNAME|PASSWORD)"
    r"|KEYRING_PROVIDER|INSECURE_HOST|HTTP_\w+|NATIVE_TLS|SYSTEM_CERTS|CONCURRENT_\w+|REQUEST_TIMEOUT)"
)
"""Settings of uv that say where the index is and how it is reached; all others could change an answer."""
_INDEX = re.compile(r"UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|INDEX_STRATEGY)")
_PATIENCE = 1800
"""Seconds after which uv is given up on, as on a network that no longer answers."""
_NOISE = re.compile(r"warning: (The requested Python version|A managed Python download)|\s*$|Resolved ")
_YANKED = re.compile(r"warning: (`[^`]+` is yanked.*)")


@dataclass(frozen=True, slots=True)
class Found:
    """A package of an answer.

    Parameters
    ----------
    sha256
        Hex digests of the files that an installer may take: of its wheels, else of its source distribution.
    url
        The source distribution's address, where it is taken; else empty.
    uploaded
        ISO date of the newest of these files; empty where the index does not tell.
    released
        ISO date of the oldest file that uv names, the source distribution included; empty likewise.
    """

    name: str
    version: str
    sha256: tuple[str, ...]
    source_only: bool
    url: str
    uploaded: str
    released: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What uv answers: packages sorted by name, or None and its words; what it warned of."""

    packages: tuple[Found, ...] | None
    words: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """uv for one interpreter, platform and date.

    Parameters
    ----------
    python
        ``3.9.25``: requirements on patch releases exist.
    platform
        As uv names it.
    as_of
        The last day whose releases count.
    cache
        Folder for uv's cache and for temporary files; nothing is written elsewhere.
    offline
        Ask only uv's cache.
    """

    python: str
    platform: str
    as_of: dt.date | None
    cache: Path
    offline: bool = False

    def resolve(
        self,
        requirements: Iterable[str],
        *,
        constraints: Sequence[str] = (),
        wheels: Mapping[str, bytes] | None = None,
        undated: Iterable[str] = (),
    ) -> Answer:
        """Return a whole environment that satisfies the requirements, from wheels alone.

        Parameters
        ----------
        constraints
            Requirements on packages that nothing asks for by themselves.
        wheels
            File name and bytes of wheels that the index lacks.
        undated
            Names of packages that have no date, as those in `wheels`.
        """
        options = ["--no-build", *(f"--exclude-newer-package={each}=false" for each in sorted(undated))]
        return self._ask(requirements, options, constraints=constraints, wheels=wheels or {}, static="")

    def look_up(self, requirements: Iterable[str]) -> Answer:
        """Return the packages themselves, without what they need; wheels and source distributions alike."""
        requirements = sorted(requirements)
        names = sorted({re.split(r"[^\w.-]", each)[0] for each in requirements})
        rows = ", ".join(f"{{ name = {json.dumps(each)}, requires-dist = [] }}" for each in names)
        static = f"dependency-metadata = [{rows}]\n"
        return self._ask(requirements, ["--no-deps"], constraints=(), wheels={}, static=static)

    def _ask(
        self,
        requirements: Iterable[str],
        options: list[str],
        *,
        constraints: Sequence[str],
        wheels: Mapping[str, bytes],
        static: str,
    ) -> Answer:
        with temporary(self.cache) as folder:
            (folder / "uv.toml").write_text(static, encoding="utf-8")
            (folder / "asked.txt").write_text("".join(f"{each}\n" for each in sorted(requirements)))
            more = []
            if constraints:
                (folder / "constraints.txt").write_text("".join(f"{each}\n" for each in sorted(constraints)))
                more.append("--constraints=constraints.txt")
            if wheels:
                (folder / "wheels").mkdir()
                more.append("--find-links=wheels")
            for name, data in wheels.items():
                (folder / "wheels" / name).write_bytes(data)
            # uv would look for an interpreter all over the machine; it runs none, as it builds nothing
            cutoff = [f"--exclude-newer={self.as_of.isoformat()}T23:59:59Z"] if self.as_of else []
            done = _run(
                ["pip", "compile", "asked.txt", "--format=pylock.toml", "--no-header", "--color=never",
                 "--config-file=uv.toml",
                 f"--python={sys.executable}", f"--python-version={self.python}",
                 f"--python-platform={self.platform}",
                 *more, *cutoff, *(["--offline"] if self.offline else []), *options],
                folder, self.cache,
            )  # fmt: skip
        warnings = tuple(
            sorted({match[1] for match in map(_YANKED.match, done.stderr.splitlines()) if match})
        )
        if done.returncode == 0:
            return Answer(tuple(_packages(done.stdout)), warnings=warnings)
        lines = (line for line in done.stderr.splitlines() if not _NOISE.match(line))
        return Answer(None, "\n".join(lines).replace(str(folder), "."), warnings)


@contextmanager
def temporary(cache: Path) -> Iterator[Path]:
    """Give a folder inside the cache that is removed again."""
    place = cache / "tmp"
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name).resolve()


@lru_cache(maxsize=1)
def uv_version() -> str:
    """Return uv's version; other versions may resolve differently. Raises what `program` raises."""
    done = subprocess.run([program(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[1]


@lru_cache(maxsize=1)
def program() -> str:
    """Return the path of uv, beside this interpreter or on PATH.

    Raises
    ------
    InputError
        It is not installed.
    """
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = shutil.which("uv", path=places)
    if found is None:
        raise InputError("uv is not installed", hint="pip install uv")
    return found


def index_settings() -> tuple[tuple[str, str], ...]:
    """Return the settings of the environment that decide which index answers, sorted."""
    return tuple(sorted(each for each in os.environ.items() if _INDEX.fullmatch(each[0])))


def _run(arguments: list[str], folder: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("UV_") or _KEPT.fullmatch(name)
    }
    own = {
        "UV_CACHE_DIR": str((cache / "uv").resolve()),
        "UV_PYTHON_DOWNLOADS": "never",
        "NO_COLOR": "1",
        "TMPDIR": str(folder),
    }
    command = [program(), *arguments]
    try:
        return subprocess.run(
            command, cwd=folder, env=kept | own, stdin=subprocess.DEVNULL, timeout=_PATIENCE,
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"timed out after {_PATIENCE} seconds")


def _packages(text: str) -> list[Found]:
    """Read a lock file (PEP 751)."""
    return sorted(
        (_package(each) for each in tomllib.loads(text).get("packages", ())), key=lambda each: each.name
    )


def _package(entry: dict[str, Any]) -> Found:
    wheels = entry.get("wheels", [])
    files = wheels or [entry["sdist"]] if "sdist" in entry else wheels
    digests = {file.get("hashes", {}).get("sha256", "") for file in files}
    return Found(
        name=str(canonicalize_name(entry["name"])),
        version=entry["version"],
        sha256=tuple(sorted(digests - {""})),
        source_only=not wheels,
        url="" if wheels else entry.get("sdist", {}).get("url", ""),
        uploaded=max(map(_day, files), default=""),
        released=min(map(_day, [*files, *([entry["sdist"]] if "sdist" in entry else [])]), default=""),
    )


def _day(file: Mapping[str, Any]) -> str:
    return str(file.get("upload-time", ""))[:10]
