"""Source distributions as they lie: what they need, what they are built with; read, never run."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import tarfile
import time
import tomllib
import urllib.request
import zipfile
from dataclasses import asdict, dataclass
from email.parser import HeaderParser
from functools import lru_cache, partial
from http.client import HTTPException
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from partition.errors import InputError
from partition.shipped import shipped
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

_LARGEST = 1 << 28
"""Bytes of a source distribution that is still fetched; the index's own limit is smaller as a rule."""
_LONGEST = 1 << 20
"""Bytes of a metadata file that is still read."""
_MOST = 50_000
"""Members of an archive that are still looked at."""
_LANGUAGES = {
    "c": (".c", ".pyx", ".pxd"),
    "c++": (".cc", ".cpp", ".cxx"),
    "fortran": (".f", ".f77", ".f90"),
    "rust": (".rs",),
}
_ASIDE = frozenset(
    {"test", "tests", "testing", "doc", "docs", "example", "examples", "benchmark", "benchmarks"}
)
_COMPILERS = {
    "c": ("gcc", "libc6-dev"),
    "c++": ("g++",),
    "fortran": ("gfortran",),
    "rust": ("cargo", "rustc"),
}
_EXTRA = re.compile(r"""extra == ["']([\w.-]+)""")
_HEADING = re.compile(r"\[([^\]:]*)(?::(.*))?\]\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a source distribution says.

    Parameters
    ----------
    requires
        PEP 508 requirements of the package, sorted; None where it does not tell.
    requires_python
        Specifier, or empty.
    languages
        ``c``, ``c++``, ``fortran``, ``rust``: of sources beside tests and examples.
    build
        Names of what it is built with, sorted.
    """

    requires: tuple[str, ...] | None
    requires_python: str
    languages: tuple[str, ...]
    build: tuple[str, ...]


def source_of(url: str, sha256: str, *, cache: Path, offline: bool = False) -> Source:
    """Fetch and read a source distribution once; what was read is kept by its digest.

    What is not served over https, or is huge, is not fetched and tells nothing.

    Raises
    ------
    InputError
        It cannot be fetched, or is not the file that the index promised.
    """
    kept = cache / "sources" / sha256[:2] / f"{sha256}.json"
    if sha256 and kept.is_file():
        return _thawed(json.loads(kept.read_bytes()))
    data = _fetch(url, sha256, offline=offline)
    if data is None:
        return Source(requires=None, requires_python="", languages=(), build=("setuptools", "wheel"))
    source = read_source(data, PurePosixPath(url.partition("#")[0]).name)
    if sha256:
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps(asdict(source), sort_keys=True).encode())
    return source


def read_source(data: bytes, name: str) -> Source:
    """Read a source distribution's metadata: PKG-INFO, else setuptools' ``requires.txt``.

    A damaged archive tells nothing.
    """
    members: dict[str, bytes] = {}
    names: list[str] = []
    try:
        for path, read in _members(data, name):
            names.append(path)
            parts = PurePosixPath(path).parts
            wanted = parts[-1] in {"PKG-INFO", "pyproject.toml"} and len(parts) == 2
            if wanted or (parts[-1] == "requires.txt" and parts[-2:-1] and parts[-2].endswith(".egg-info")):
                members[parts[-1]] = read()
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError):
        pass
    head = HeaderParser().parsestr(members.get("PKG-INFO", b"").decode("utf-8", "replace"))
    requires = tuple(head.get_all("Requires-Dist") or ())
    if not requires and "requires.txt" in members:
        requires = tuple(_old_requirements(members["requires.txt"].decode("utf-8", "replace")))
    tells = "PKG-INFO" in members
    valid = {str(each) for each in map(_requirement, requires) if each}
    return Source(
        requires=tuple(sorted(valid)) if tells or valid else None,
        requires_python=head.get("Requires-Python") or "",
        languages=_languages(names),
        build=_build(members.get("pyproject.toml", b"")),
    )


def stub_wheel(name: str, version: str, source: Source) -> tuple[str, bytes]:
    """Return a wheel that holds nothing but a source distribution's metadata: a resolver's view of it."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    extras = {extra for each in source.requires or () for extra in _EXTRA.findall(each)}
    lines = [
        "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}",
        *([f"Requires-Python: {source.requires_python}"] if source.requires_python else []),
        *(f"Provides-Extra: {each}" for each in sorted(extras)),
        *(f"Requires-Dist: {each}" for each in source.requires or ()),
    ]  # fmt: skip
    tags = "Tag: py2-none-any\nTag: py3-none-any\n"
    wheel = f"Wheel-Version: 1.0\nGenerator: envfold\nRoot-Is-Purelib: true\n{tags}"
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, text in (("METADATA", "\n".join(lines) + "\n"), ("WHEEL", wheel), ("RECORD", "")):
            archive.writestr(zipfile.ZipInfo(f"{folder}/{path}"), text)
    return f"{name.replace('-', '_')}-{version}-py2.py3-none-any.whl", stream.getvalue()


def apt_needs(packages: Iterable[tuple[str, Source]]) -> tuple[str, ...]:
    """Return Debian packages that building these needs, sorted: compilers by language, headers by a table."""
    needed: set[str] = set()
    for name, source in packages:
        for language in source.languages:
            needed.update(_COMPILERS[language])
        needed.update(_headers().get(name, ()))
    return tuple(sorted(needed))


def _thawed(fields: dict[str, Any]) -> Source:
    requires = fields["requires"]
    return Source(
        requires=None if requires is None else tuple(requires),
        requires_python=fields["requires_python"],
        languages=tuple(fields["languages"]),
        build=tuple(fields["build"]),
    )


def _fetch(url: str, sha256: str, *, offline: bool) -> bytes | None:
    where = PurePosixPath(url).name
    if not url.startswith("https://"):
        return None
    if offline:
        raise InputError(f"{where} is not in the cache", hint="lock once with a network")
    data = b""
    for pause in (1, 4, None):
        try:
            with urllib.request.urlopen(url, timeout=60) as stream:  # noqa: S310  # https alone, checked above
                data = stream.read(_LARGEST + 1)
            break
        except (OSError, HTTPException) as error:
            if pause is None:
                hint = "try again with a network"
                raise InputError(f"{where} cannot be fetched: {error}", hint=hint) from error
            time.sleep(pause)
    if len(data) > _LARGEST:
        return None
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(f"{where} is not the file that the index promised", hint="try again")
    return data


def _members(data: bytes, name: str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the path of each file of an archive, and what reads its beginning."""
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist()[:_MOST]:
                if not info.is_dir():
                    yield info.filename, partial(_zipped, archive, info)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in islice(tar, _MOST):
            if member.isfile():
                yield member.name, partial(_tarred, tar, member)


def _zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as stream:
        return stream.read(_LONGEST)


def _tarred(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    return stream.read(_LONGEST) if stream else b""


def _languages(names: Iterable[str]) -> tuple[str, ...]:
    found: set[str] = set()
    for name in names:
        path = PurePosixPath(name)
        if _ASIDE.isdisjoint(path.parts[:-1]):
            found.update(language for language, ends in _LANGUAGES.items() if path.suffix in ends)
    return tuple(sorted(found))


def _build(pyproject: bytes) -> tuple[str, ...]:
    """Return ``build-system.requires``, else setuptools and wheel (PEP 517, PEP 518)."""
    try:
        system = tomllib.loads(pyproject.decode()).get("build-system", {})
        requires = system.get("requires", ["setuptools", "wheel"])
    except (ValueError, AttributeError):
        requires = ["setuptools", "wheel"]
    parsed = (_requirement(each) for each in requires if isinstance(each, str))
    return tuple(sorted({str(canonicalize_name(each.name)) for each in parsed if each and not each.url}))


def _requirement(text: str) -> Requirement | None:
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def _old_requirements(text: str) -> Iterator[str]:
    """Yield PEP 508 requirements of ``requires.txt`` ("The Internal Structure of Python Eggs")."""
    marker = ""
    for line in map(str.strip, text.splitlines()):
        heading = _HEADING.match(line)
        if heading:
            parts = [f"({heading[2]})"] if heading[2] else []
            parts += [f'extra == "{heading[1]}"'] if heading[1] else []
            marker = " and ".join(parts)
        elif line and not line.startswith("#"):
            yield f"{line} ; {marker}" if marker else line


@lru_cache(maxsize=1)
def _headers() -> dict[str, tuple[str, ...]]:
    with shipped("venvs", "build_needs.csv").open(encoding="utf-8", newline="") as stream:
        return {row["pypi"]: tuple(row["apt"].split()) for row in csv.DictReader(stream)}
