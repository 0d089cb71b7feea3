"""The packages of one release, as apt lists them; fetched once, then read without a network."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from partition.apt.root import Root, make_root, update
from partition.apt.sources import suites_of
from partition.apt.versions import newest_last, relations
from partition.errors import InputError
from partition.writing import TEMPORARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from partition.apt.sources import Suite
    from partition.apt.versions import Relation

_FIELDS = (
    "Package",
    "Version",
    "Architecture",
    "Installed-Size",
    "Essential",
    "Priority",
    "Multi-Arch",
    "Provides",
    "Pre-Depends",
    "Depends",
    "Recommends",
    "Conflicts",
    "Breaks",
    # apt tells versions of one number apart by these fields, this one among them
    "Replaces",
)
_TABLE = "packages.tsv"
_DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class Package:
    """One version of a package, fields as in its control file."""

    cells: tuple[str, ...]

    def __getitem__(self, name: str) -> str:
        """Return a field; empty where the package has none."""
        return self.cells[_FIELDS.index(name)]

    @property
    def name(self) -> str:
        """Name of the package."""
        return self.cells[0]

    @property
    def version(self) -> str:
        """Version of the package."""
        return self.cells[1]

    @property
    def size(self) -> int:
        """Bytes when installed, as the package's maintainers state them (Debian Policy 5.6.20: in KiB)."""
        return int(self.cells[3] or 0) * 1024

    @property
    def depends(self) -> tuple[tuple[Relation, ...], ...]:
        """Groups of alternatives that must hold when it is installed."""
        return relations(self["Pre-Depends"]) + relations(self["Depends"])

    @property
    def recommends(self) -> tuple[tuple[Relation, ...], ...]:
        """Groups of alternatives that apt installs unless told not to."""
        return relations(self["Recommends"])

    @property
    def provides(self) -> tuple[Relation, ...]:
        """Names that it stands in for."""
        return tuple(group[0] for group in relations(self["Provides"]))

    @property
    def excludes(self) -> tuple[Relation, ...]:
        """Packages that cannot be installed beside it."""
        return tuple(group[0] for group in relations(self["Conflicts"]) + relations(self["Breaks"]))

    def stanza(self) -> str:
        """Return it as dpkg's status file has an installed package."""
        lines = [f"{name}: {cell}" for name, cell in zip(_FIELDS, self.cells, strict=True) if cell]
        return "\n".join([lines[0], "Status: install ok installed", *lines[1:], ""])


@dataclass(frozen=True)
class Index:
    """The packages of a release.

    Parameters
    ----------
    distribution, release, architecture
        As ``debian``, ``bookworm``, ``amd64``.
    root
        Where apt has it.
    digest
        SHA-256 of the signed Release files: equal digests, equal packages.
    """

    distribution: str
    release: str
    architecture: str
    root: Root
    digest: str
    _parsed: dict[str, tuple[Package, ...]] = field(default_factory=dict, repr=False, compare=False)

    def versions(self, name: str) -> tuple[Package, ...]:
        """Return the versions of a package, oldest first; none where the release has no such package."""
        if name not in self._parsed:
            found = [Package(tuple(line.split("\t"))) for line in self._lines.get(name, ())]
            found.sort(key=lambda package: newest_last(package.version))
            self._parsed[name] = tuple(found)
        return self._parsed[name]

    def newest(self, name: str) -> Package | None:
        """Return the version that apt would install."""
        return next(reversed(self.versions(name)), None)

    def find(self, name: str, version: str) -> Package | None:
        """Return one version of a package."""
        return next((each for each in self.versions(name) if each.version == version), None)

    def providers(self, name: str) -> tuple[str, ...]:
        """Return the packages that stand in for a name, sorted."""
        return self._providers.get(name, ())

    def minimal(self) -> tuple[str, ...]:
        """Return what a minimal system of the release holds: essential and required packages, and apt."""
        return tuple(sorted({*self._minimal, "apt"}))

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        lines: dict[str, list[str]] = defaultdict(list)
        text = (self.root.folder / _TABLE).read_text(encoding="utf-8")
        for line in text.splitlines():
            lines[line[: line.index("\t")]].append(line)
        return lines

    @cached_property
    def _providers(self) -> dict[str, tuple[str, ...]]:
        providers: dict[str, set[str]] = defaultdict(set)
        column = _FIELDS.index("Provides")
        for name, lines in self._lines.items():
            for line in lines:
                cell = line.split("\t")[column]
                for group in relations(cell) if cell else ():
                    providers[group[0].name].add(name)
        return {name: tuple(sorted(found)) for name, found in providers.items()}

    @cached_property
    def _minimal(self) -> tuple[str, ...]:
        essential, priority = _FIELDS.index("Essential"), _FIELDS.index("Priority")
        return tuple(
            name
            for name, lines in self._lines.items()
            if any(
                cells[essential] == "yes" or cells[priority] == "required"
                for cells in (line.split("\t") for line in lines)
            )
        )


def open_index(
    release: str,
    cache: Path,
    *,
    distribution: str = "debian",
    architecture: str = "amd64",
    offline: bool = False,
    refresh: bool = False,
    suites: Sequence[Suite] | None = None,
) -> Index:
    """Return the index of a release from the cache, fetched before where it is missing.

    Parameters
    ----------
    cache
        Folder for indexes of all releases; made where missing. A fetch that is interrupted leaves in it what
        was there before.
    offline
        Fetch nothing.
    refresh
        Fetch again what is cached.
    suites
        Where to fetch from; by default the mirrors of this machine's apt.

    Raises
    ------
    InputError
        Not cached and offline; not served; the mirrors cannot be reached; apt is not installed.
    """
    place = cache.absolute() / f"{distribution}-{release}-{architecture}"
    kept = place / _DIGEST
    if refresh or not kept.is_file():
        if offline:
            raise InputError(
                f"{distribution} {release}: package lists are not cached in {cache}",
                hint="run once with a network",
            )
        _fetch(place, suites or suites_of(distribution, release), architecture)
    root = Root(place)
    root.configure(architecture)
    return Index(distribution, release, architecture, root, kept.read_text().strip())


def _fetch(place: Path, suites: Sequence[Suite], architecture: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=place.parent) as name:
        made = Path(name) / "root"
        made.mkdir()
        root = make_root(made, suites, architecture)
        update(root, suites, architecture)
        _write_table(root)
        for stale in made.glob("*.bin"):
            # apt's own caches name their lists by absolute path
            stale.unlink()
        (made / _DIGEST).write_text(f"{_digest(made / 'lists')}\n")
        if place.exists():
            place.rename(Path(name) / "before")
        made.rename(place)


def _digest(lists: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(lists.glob("*Release")):
        total.update(json.dumps([path.name, hashlib.sha256(path.read_bytes()).hexdigest()]).encode())
    return total.hexdigest()


def _write_table(root: Root) -> None:
    listed = root.run("apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Packages")
    helper = shutil.which("apt-helper", path="/usr/lib/apt:/usr/libexec/apt") or "apt-helper"
    text = root.run(helper, "cat-file", *listed.stdout.split()).stdout
    rows = sorted(set(_rows(text.splitlines())))
    (root.folder / _TABLE).write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def _rows(lines: Iterable[str]) -> Iterator[str]:
    cells: dict[str, str] = {}
    for line in (*lines, ""):
        if not line:
            if cells.get("Package"):
                yield "\t".join(cells.get(name, "") for name in _FIELDS)
            cells = {}
        elif line[0] not in " \t":
            name, _, value = line.partition(":")
            if name in _FIELDS:
                cells[name] = " ".join(value.split())
