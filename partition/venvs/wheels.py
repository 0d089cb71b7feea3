"""Installed sizes of packages: measured once a file, estimated with a stated error until then."""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from partition.venvs.artefacts import Package, artefacts_of, full_version, is_unknown, run_uv
from partition.venvs.disk import BLOCK, RECORD, Size, size_of_installed, size_of_wheel
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partition.errors import Fault
    from partition.venvs.artefacts import Artefact

_DIST_INFO = re.compile(r"(.+?)-([^-]+)\.dist-info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A package's size and how it is known.

    Parameters
    ----------
    key
        What the size belongs to: packages with equal keys share their files in an image. Empty where nothing
        is shared, because the installer copies.
    error
        Relative error of an estimate that nine of ten packages stay within, 0.5 = half as much again; 0 where
        it was measured.
    """

    key: str
    size: Size
    error: float = 0.0

    @property
    def measured(self) -> bool:
        """Whether it was measured."""
        return self.error == 0.0

    @property
    def shared(self) -> int:
        """Bytes of an image layer that all its environments share."""
        return self.size.once if self.key else 0

    @property
    def own(self) -> int:
        """Bytes of an image layer that each environment adds."""
        return self.size.each + self.size.once - self.shared


def sizes_of(
    packages: Iterable[Package],
    *,
    python: str,
    platform: str,
    cache: Path,
    measure: bool = True,
    offline: bool = False,
) -> tuple[dict[Package, Sized], tuple[Fault, ...]]:
    """Return the installed size of each package.

    Wheels that were never measured are installed once, without their dependencies, into a folder that is
    removed again; what they hold is not run. Source distributions are estimated until `remember` has seen
    them installed. An interpreter that uv does not know gets the sizes of the oldest that it does.

    Parameters
    ----------
    python
        Minor version, ``3.9``; the interpreter itself is not needed.
    platform
        As uv names it: ``x86_64-manylinux_2_36`` for bookworm.
    measure
        Measure what is not known; else estimate it.
    offline
        Ask only the cache, and estimate the rest.

    Returns
    -------
    sizes
        One for each package; a guess where the index has no file of it.
    faults
        Packages of which the index has no file.

    Raises
    ------
    InputError
        uv is not installed, or the index cannot be reached; what was found before is kept.
    """
    wanted = sorted(set(packages))
    files, faults = artefacts_of(wanted, python=python, platform=platform, cache=cache, offline=offline)
    keys = {package: _key(file, python) for package, file in files.items()}
    known = {package: size for package, key in keys.items() if (size := _kept(cache, key))}
    if measure and not offline:
        missing = [package for package in files if package not in known and files[package].wheel]
        for batch in _batches(missing):
            for package, size in _measured(batch, python, platform).items():
                known[package] = size
                _keep(cache, keys[package], size)
    sizes = {}
    foreign = is_unknown(python)
    for package in wanted:
        if package in known:
            error = _RATIOS["binary"][2] if foreign and not files[package].pure else 0.0
            sizes[package] = Sized(key="" if foreign else keys[package], size=known[package], error=error)
        elif package in files:
            size, error = estimated(files[package])
            sizes[package] = Sized(key=keys[package], size=size, error=error)
        else:
            sizes[package] = Sized(
                key=f"{canonicalize_name(package.name)}=={package.version}", size=_GUESS[0], error=_GUESS[1]
            )
    return sizes, faults


def remember(
    site_packages: Path, packages: Iterable[Package], *, python: str, platform: str, cache: Path
) -> dict[Package, Size]:
    """Measure packages where they are installed, built ones too, and keep the sizes for `sizes_of`.

    Raises
    ------
    InputError
        The index cannot be reached, so that it is not known which file a package came from.
    """
    wanted = sorted(set(packages))
    files, _ = artefacts_of(wanted, python=python, platform=platform, cache=cache)
    found = {package: size for package, size in _installed(site_packages, wanted).items() if package in files}
    for package, size in found.items():
        _keep(cache, _key(files[package], python), size)
    return found


def remember_wheel(path: Path, sha256: str, *, cache: Path) -> Size:
    """Measure a wheel file by its table of contents, and keep the size for `sizes_of`.

    Raises
    ------
    InputError
        The file is no wheel.
    """
    size = size_of_wheel(path)
    _keep(cache, sha256, size)
    return size


def estimated(file: Artefact) -> tuple[Size, float]:
    """Return the size of a package by that of its file, and the relative error that nine of ten stay within.

    A build links against the system's libraries where a wheel brings its own, so that estimates of source
    distributions are upper ones where a package has much compiled code.
    """
    if not file.bytes:
        return _GUESS
    kind = "pure" if file.pure else "binary" if file.wheel else "source"
    ratio, per_file, error = _RATIOS[kind]
    return _of_bytes(round(file.bytes * ratio), per_file), error


def layer_bytes(venvs: Iterable[Mapping[Package, Sized]], *, skeleton: Size | None = None) -> int:
    """Return what virtual environments add to an image as one layer: shared files once, headers each time.

    Parameters
    ----------
    venvs
        For each environment its packages.
    skeleton
        What an environment without packages takes; by default as uv makes it.
    """
    frame = SKELETON if skeleton is None else skeleton
    once: dict[str, int] = {}
    total = 0
    for venv in venvs:
        total += frame.once + frame.each
        for sized in venv.values():
            total += sized.own
            once[sized.key] = sized.shared
    return total + sum(once.values())


def _of_bytes(total: int, per_file: int) -> Size:
    files = max(1, total // per_file)
    return Size(
        files=files,
        folders=1 + files // 6,
        bytes=total,
        records=total + files * RECORD // 2,
        blocks=total + files * BLOCK // 2,
        own_files=3,
        own_bytes=100 * files,
        own_records=100 * files + 2 * RECORD,
        own_blocks=100 * files + 2 * BLOCK,
    )


# Over the packages of SWE-bench Verified's environments, December 2026: installed bytes for each byte of a
# file (median), bytes for each file, and the error that nine of ten stay within. 391 wheels for any platform
# (their sum 15 % too high), 142 for one (2 % too low), and the source distributions beside 414 wheels; of 16
# that have no wheel and were built, 15 stayed within it (the sum 22 % too low).
_RATIOS = {"pure": (3.0, 12_000, 0.7), "binary": (3.3, 60_000, 0.25), "source": (1.8, 12_000, 2.1)}
_GUESS = (_of_bytes(2_000_000, 12_000), 9.0)
SKELETON = Size(folders=6, own_files=20, own_bytes=40_000, own_records=45_000, own_blocks=90_000)
"""A virtual environment without packages, as uv makes it."""


def _key(file: Artefact, python: str) -> str:
    # a source distribution is built anew for each interpreter
    key = file.sha256 or file.filename
    return key if file.wheel else f"{key}-{python}"


def _place(cache: Path, key: str) -> Path:
    return cache / "sizes" / key[:2] / f"{key}.json"


def _kept(cache: Path, key: str) -> Size | None:
    place = _place(cache, key)
    return Size(**json.loads(place.read_bytes())) if place.is_file() else None


def _keep(cache: Path, key: str, size: Size) -> None:
    place = _place(cache, key)
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(place, json.dumps(asdict(size)).encode())


def _batches(packages: Sequence[Package], largest: int = 64) -> list[list[Package]]:
    """Return packages in lists that install into one folder: each project once."""
    batches: list[dict[str, Package]] = []
    for package in packages:
        name = canonicalize_name(package.name)
        fitting = (each for each in batches if name not in each and len(each) < largest)
        batch = next(fitting, None)
        if batch is None:
            batch = {}
            batches.append(batch)
        batch[name] = package
    return [list(each.values()) for each in batches]


def _measured(packages: Sequence[Package], python: str, platform: str) -> dict[Package, Size]:
    """Return the sizes of those that install; a wheel that does not keeps none of the others back."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "packages.in").write_text("".join(f"{each}\n" for each in packages))
        done = run_uv(
            "pip", "install", "--quiet", "--no-config", "--no-deps", "--no-build",
            f"--target={folder / 'site'}", f"--python-version={full_version(python)}",
            f"--python-platform={platform}", "--requirements", folder / "packages.in",
            cache=folder / "uv",
        )  # fmt: skip
        if done.returncode == 0:
            return _installed(folder / "site", packages)
    if len(packages) == 1:
        return {}
    half = len(packages) // 2
    return _measured(packages[:half], python, platform) | _measured(packages[half:], python, platform)


def _installed(site_packages: Path, packages: Sequence[Package]) -> dict[Package, Size]:
    records: dict[str, list[Path]] = defaultdict(list)
    for record in sorted(site_packages.glob("*.dist-info/RECORD")):
        match = _DIST_INFO.fullmatch(record.parent.name)
        if match:
            records[canonicalize_name(match[1])].append(record)
    return {
        package: size_of_installed(site_packages, records[canonicalize_name(package.name)][0])
        for package in packages
        if records[canonicalize_name(package.name)]
    }
