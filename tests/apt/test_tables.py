"""The tables of base images and of what packages leave behind hold what the code takes them for."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from partition.apt.bases import base_for, share_of_packages, size_of_image
from partition.apt.generated import installed_bytes

if TYPE_CHECKING:
    from partition.apt.index import Index

BASES = Path(__file__).parents[2] / "data" / "bases"


def rows(name: str) -> list[dict[str, str]]:
    with (BASES / name).open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def test_every_recipe_lists_names_sorted_and_stands_on_another_of_the_table() -> None:
    repositories = {row["repository"] for row in rows("contents.csv")}
    for row in rows("contents.csv"):
        assert re.compile(row["tag"])
        names = row["apt"].split()
        assert names == sorted(names)
        assert not row["under"] or row["under"].partition(":")[0] in repositories


def test_an_interpreter_has_the_bytes_of_one() -> None:
    found = {row["python"]: int(row["bytes"]) for row in rows("interpreters.csv")}
    assert {"2.7", "3.6", "3.13"} <= found.keys()
    assert all(30_000_000 < size < 120_000_000 for size in found.values())
    assert all(row["version"].startswith(f"{row['python']}.") for row in rows("interpreters.csv"))


def test_a_package_takes_at_least_what_its_maintainers_state(index: Index) -> None:
    for name in ("git", "perl-tiny", "libgl1"):
        package = index.newest(name)
        assert package is not None
        assert package.size < installed_bytes(package) < package.size + 100_000


@pytest.mark.parametrize(("image", "share"), [("python:3.11-slim-trixie", 0.91), ("debian:trixie", 1.0)])
def test_slim_images_keep_less_of_packages(image: str, share: float) -> None:
    assert share_of_packages(image) == share


def test_the_size_of_an_image_is_that_of_its_packages_and_its_interpreter(index: Index) -> None:
    plain, python = size_of_image("debian:trixie", index), size_of_image("python:3.11-trixie", index)
    assert plain is not None
    assert python is not None
    assert plain.bytes == base_for("debian:trixie", index).bytes
    assert 50_000_000 < python.bytes - plain.bytes < 80_000_000
    assert size_of_image("someone/private:1", index) is None
