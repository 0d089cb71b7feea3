"""Make renamed.csv from Debian's own package lists: ``python -m data.bases.renamed``.

Asks the mirror that this machine's apt is set up with, through apt; its lists go into a temporary folder.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Index: TypeAlias = "Mapping[str, Mapping[str, str]]"
"""Fields of each package that a release has."""

Row: TypeAlias = tuple[str, str, str, str, str]

RELEASES = ("bullseye", "bookworm", "trixie")
"""Debian releases that mirrors still have, oldest first."""

HEADER = ("distribution", "release", "old", "new", "source")

BY_HAND: tuple[Row, ...] = (
    ("debian", "stretch", "libmysqlclient-dev", "default-libmysqlclient-dev", "by hand"),
    ("debian", "bullseye", "python-dev", "python3-dev", "by hand"),
    ("debian", "bullseye", "python-pip", "python3-pip", "by hand"),
    ("debian", "trixie", "python3-distutils", "python3-setuptools", "by hand"),
    ("ubuntu", "focal", "python-pip", "python3-pip", "by hand"),
    ("ubuntu", "jammy", "libffi7", "libffi8", "by hand"),
    ("ubuntu", "jammy", "libssl1.1", "libssl3", "by hand"),
    ("ubuntu", "noble", "libgl1-mesa-glx", "libgl1", "by hand"),
    ("ubuntu", "noble", "libncurses5", "libncurses6", "by hand"),
    ("ubuntu", "noble", "libtiff5", "libtiff6", "by hand"),
    ("ubuntu", "noble", "netcat", "netcat-openbsd", "by hand"),
    ("ubuntu", "noble", "python3-distutils", "python3-setuptools", "by hand"),
)
"""What no list tells: releases that the mirror does not have, and what has another name altogether."""

_SECTIONS = frozenset(
    {"admin", "database", "devel", "editors", "fonts", "graphics", "httpd", "interpreters", "java",
     "libdevel", "libs", "math", "misc", "net", "oldlibs", "php", "python", "ruby", "shell", "sound", "text",
     "utils", "vcs", "video", "web"}
)  # fmt: skip
"""Sections of what tasks install."""

_CROSS = re.compile(r"linux-gnu|-(cross|multilib|mingw)|debian-installer")
_TRANSITION = re.compile(r"\b(transitional|dummy)\b", re.IGNORECASE)


def parse_index(text: str) -> dict[str, dict[str, str]]:
    """Return the packages of a ``Packages`` file (deb822(5)), without continuation lines."""
    packages = {}
    for paragraph in text.split("\n\n"):
        lines = (line.partition(": ") for line in paragraph.splitlines() if not line.startswith((" ", "\t")))
        fields = {name: value for name, colon, value in lines if colon}
        if "Package" in fields:
            packages[fields["Package"]] = fields
    return packages


def renamed(old: Index, new: Index) -> Iterator[tuple[str, str, str]]:
    """Yield (package, successor, how it is known) for what `new` lacks and apt does not replace by itself.

    A package that exactly one other provides is not among them: ``apt-get install`` takes that one.
    """
    provided, replaced, origin = (
        defaultdict[str, set[str]](set),
        defaultdict[str, set[str]](set),
        defaultdict[str, set[str]](set),
    )
    for name, fields in new.items():
        for each in _names(fields, "Provides"):
            provided[each].add(name)
        for each in {*_names(fields, "Replaces")} & {*_names(fields, "Breaks"), *_names(fields, "Conflicts")}:
            replaced[each].add(name)
        origin[_letters(_origin(fields))].add(name)
    for name, fields in sorted(old.items()):
        if name in new or fields.get("Section") not in _SECTIONS or _CROSS.search(name):
            continue
        providers = sorted(provided[name])
        if len(providers) == 1:
            continue
        depends = _names(fields, "Depends")
        if providers:
            yield name, providers[0], "provided by several"
        elif _TRANSITION.search(fields.get("Description", "")) and depends and depends[0] in new:
            yield name, depends[0], "transitional"
        elif found := _alike(name, replaced[name]):
            yield name, found, "replaced"
        elif found := _alike(name, origin[_letters(_origin(fields))]):
            yield name, found, "same source"


def render(rows: list[Row]) -> bytes:
    """Return the table; a row by hand wins over one that was found."""
    known = {row[:3]: row for row in (*rows, *BY_HAND)}
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(known[key] for key in sorted(known))
    return buffer.getvalue().encode()


def _names(fields: Mapping[str, str], field: str) -> list[str]:
    return [re.split(r"[ (:|]", each.strip(), maxsplit=1)[0] for each in fields.get(field, "").split(",")]


def _origin(fields: Mapping[str, str]) -> str:
    return fields.get("Source", fields["Package"]).split()[0]


def _letters(name: str) -> str:
    return re.sub(r"[\d.]+|t64$", "", name)


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name.removesuffix("t64"))))


def _alike(name: str, others: set[str]) -> str | None:
    """Return the next of `others` that differs from `name` in a later number, or has lost it."""
    later = [
        each
        for each in others
        if _letters(each).replace("--", "-") == _letters(name).replace("--", "-")
        and (not _numbers(each) or _numbers(each) > _numbers(name))
    ]
    return min(later, key=lambda each: (_numbers(each), each)) if later else None


def read_indexes() -> dict[str, dict[str, dict[str, str]]]:
    """Return the packages of each of `RELEASES` as the configured mirror lists them today."""
    targets = _apt(
        "apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"
    )
    mirror = min(targets.split())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("state/lists/partial", "cache/archives/partial"):
            (folder / each).mkdir(parents=True)
        folder.chmod(0o755)
        (folder / "sources").write_text("".join(f"deb {mirror} {each} main\n" for each in RELEASES))
        options = [
            f"-o{key}={value}"
            for key, value in (
                ("Dir::State", folder / "state"),
                ("Dir::Cache", folder / "cache"),
                ("Dir::Etc::SourceList", folder / "sources"),
                ("Dir::Etc::SourceParts", "-"),
            )
        ]
        _apt("apt-get", "update", *options)
        listed = _apt(
            "apt-get", "indextargets", *options, "--format", "$(CODENAME) $(FILENAME)", "Created-By: Packages"
        )
        return {
            release: parse_index(_apt("/usr/lib/apt/apt-helper", "cat-file", path))
            for release, path in (line.split(" ", 1) for line in listed.splitlines())
        }


def _apt(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Write the table beside this file."""
    indexes = read_indexes()
    rows: list[Row] = []
    for number, (before, after) in enumerate(pairwise(RELEASES), start=1):
        found = renamed(indexes[before], indexes[after])
        back = {name for release in RELEASES[number:] for name in indexes[release]}
        rows += [("debian", after, name, new, how) for name, new, how in found if name not in back]
    write_atomically(Path(__file__).with_name("renamed.csv"), render(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
