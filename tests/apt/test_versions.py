"""Debian versions compare as dpkg compares them."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.apt.versions import Relation, compare, relations

VERSIONS = st.from_regex(r"([0-3]:)?[0-9][0-9a-z.+~]{0,6}(-[0-9a-z.+~]{1,4})?", fullmatch=True)


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="dpkg is not installed")
@settings(derandomize=True, deadline=None, max_examples=150)
@given(left=VERSIONS, right=VERSIONS)
def test_the_order_is_that_of_dpkg(left: str, right: str) -> None:
    operator = {-1: "lt", 0: "eq", 1: "gt"}[(compare(left, right) > 0) - (compare(left, right) < 0)]
    done = subprocess.run(
        ["dpkg", "--compare-versions", left, operator, right], capture_output=True, check=False
    )
    assert done.returncode == 0, (left, operator, right, done.stderr)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.0~rc1", "1.0"),
        ("1.0", "1.0+b1"),
        ("9", "10"),
        ("1:0", "2:0"),
        ("99", "1:0"),
        ("1.0-1", "1.0-1+deb12u1"),
        ("1.0a", "1.0+"),
        ("2.36-9", "2.36-9+deb12u14"),
    ],
)
def test_older_is_less(older: str, newer: str) -> None:
    assert compare(older, newer) < 0 < compare(newer, older)


def test_a_dependency_field_is_read_as_groups_of_alternatives() -> None:
    field = "libc6 (>= 2.34), default-mta | mail-transport-agent, python3:any (<< 3.12), perl"
    assert relations(field) == (
        (Relation("libc6", ">=", "2.34"),),
        (Relation("default-mta"), Relation("mail-transport-agent")),
        (Relation("python3", "<<", "3.12"),),
        (Relation("perl"),),
    )
    assert relations("") == ()


def test_a_provided_name_without_a_version_satisfies_only_a_relation_without_one() -> None:
    assert Relation("x").allows(None)
    assert not Relation("x", ">=", "1").allows(None)
