"""Whatever stands where a package is expected, apt sees a name or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.apt.names import Request, read_requests


@pytest.mark.parametrize(
    ("written", "request_"),
    [
        ("git", Request("git")),
        ("g++", Request("g++")),
        ("libstdc++6", Request("libstdc++6")),
        ("git:amd64", Request("git")),
        ("git:any", Request("git")),
        ("git=1:2.39.5-0+deb12u3", Request("git", "1:2.39.5-0+deb12u3")),
        ("postgresql-client=15*", Request("postgresql-client", "15*")),
    ],
)
def test_a_name_is_a_name(written: str, request_: Request) -> None:
    assert read_requests([written]) == ((request_,), ())


@pytest.mark.parametrize(
    "written",
    [
        "-y", "--allow-unauthenticated", "-oDpkg::Pre-Install-Pkgs::=touch /tmp/x", "/etc/passwd", "./x.deb",
        "git/testing", "git:i386", "lib.*", "libssl?", "?essential", "~nlib", "^git$", "git;reboot", "$(ls)",
        "`reboot`", "git\nrm", "Git", "é", "", "x" * 500, "git=", "git=1 2", "git=$(x)", "git=1;2", "a", "@x",
    ],
)  # fmt: skip
def test_what_is_no_name_is_a_fault_with_a_remedy(written: str) -> None:
    requests, faults = read_requests([written], where="specs.csv:7")
    assert requests == ()
    assert [(fault.where, bool(fault.hint)) for fault in faults] == [("specs.csv:7", True)]


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.text(max_size=12))
def test_no_text_gets_through_that_apt_takes_for_more_than_a_name(written: str) -> None:
    for request in read_requests([written])[0]:
        assert request.name[0].isalnum()
        assert set(str(request)) <= set(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.:~*?="
        )
        assert "/" not in str(request)


def test_requests_are_sorted_and_each_stands_once() -> None:
    requests, faults = read_requests(["zip", "git", "git", "git:amd64"])
    assert requests == (Request("git"), Request("zip"))
    assert faults == ()
