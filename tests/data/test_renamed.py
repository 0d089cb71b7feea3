"""The table of renamed packages is what its script makes of package lists."""

from __future__ import annotations

import csv
from pathlib import Path

from data.bases.renamed import BY_HAND, HEADER, parse_index, renamed, render
from partition.environments.bases import find_release

TABLE = Path(__file__).parents[2] / "data" / "bases" / "renamed.csv"

OLD = """\
Package: libgl1-mesa-glx
Source: mesa
Section: oldlibs
Depends: libgl1, libglx-mesa0
Description: transitional dummy package

Package: libffi7
Source: libffi (3.3-6)
Section: libs
Description: Foreign Function Interface library runtime
 with a second line: that is no field

Package: libahven11-dev
Section: libdevel
Description: unit test library

Package: libasound2
Section: libs
Description: shared library for ALSA applications

Package: netcat
Section: net
Description: TCP/IP swiss army knife

Package: libpcre3
Source: pcre3
Section: libs
Description: old library

Package: cpp-10-mips64-linux-gnuabi64
Source: gcc-10-cross
Section: devel
Description: cross compiler

Package: libghc-x9
Section: haskell
Description: of no interest

Package: git
Section: vcs
Description: stays
"""

NEW = """\
Package: libgl1
Source: libglvnd
Section: libs

Package: libffi8
Source: libffi
Section: libs

Package: libffi10
Source: libffi
Section: libs

Package: libahven-dev
Source: ahven
Section: libdevel
Breaks: libahven11-dev
Replaces: libahven11-dev (<< 2)

Package: libasound2t64
Section: libs
Provides: libasound2 (= 1.2.14-1)

Package: netcat-openbsd
Section: net
Provides: netcat

Package: netcat-traditional
Section: net
Provides: netcat

Package: libpcre2
Source: pcre2
Section: libs

Package: cpp-11-mips64-linux-gnuabi64
Source: gcc-11-cross
Section: devel

Package: libghc-x10
Section: haskell

Package: git
Section: vcs
"""


def test_a_successor_is_found_by_what_the_lists_say_and_by_nothing_less() -> None:
    assert list(renamed(parse_index(OLD), parse_index(NEW))) == [
        ("libahven11-dev", "libahven-dev", "replaced"),
        ("libffi7", "libffi8", "same source"),
        ("libgl1-mesa-glx", "libgl1", "transitional"),
        ("netcat", "netcat-openbsd", "provided by several"),
    ]


def test_the_table_is_sorted_and_names_each_package_once_with_its_source() -> None:
    rows = [tuple(row) for row in csv.reader(TABLE.read_text(encoding="utf-8").splitlines())]
    assert rows[0] == HEADER
    keys = [row[:3] for row in rows[1:]]
    assert keys == sorted(set(keys))
    assert {row[4] for row in rows[1:]} == {
        "transitional", "provided by several", "replaced", "same source", "by hand",
    }  # fmt: skip
    assert {row for row in rows if row[4] == "by hand"} == {*BY_HAND}
    assert all(find_release(*row[:2]) and row[2] != row[3] for row in rows[1:])


def test_rendering_the_table_again_gives_its_bytes() -> None:
    rows = [tuple(row) for row in csv.reader(TABLE.read_text(encoding="utf-8").splitlines())][1:]
    assert render(rows[::-1]) == TABLE.read_bytes()  # type: ignore[arg-type]
