"""Which base image may stand in for another."""

import pytest

from partition.environments.replacing import why_not


@pytest.mark.parametrize(
    ("own", "shared"),
    [
        ("python:3.9-slim-bookworm", "python:3.9-slim-bookworm"),
        ("docker.io/library/python:3.9-slim-bookworm", "python:3.9-slim-bookworm"),
        ("python:3.9-slim-bookworm", "python:3.9-bookworm"),
        ("ghcr.io/someone/prebuilt:1", "ghcr.io/someone/prebuilt:1"),
    ],
)
def test_an_image_that_holds_what_the_other_does_stands_in(own, shared):
    assert why_not(own, shared) == ""


@pytest.mark.parametrize(
    ("own", "shared", "word"),
    [
        ("debian:bookworm", "python:3.11-slim-bookworm", "would hide"),
        ("python:3.11-slim-bookworm", "debian:bookworm", "has Python 3.11"),
        ("python:3.9-slim-bookworm", "python:3.10-slim-bookworm", "has Python 3.9"),
        ("python:3.9-slim-bookworm", "python:3.9-slim-bullseye", "is debian bookworm"),
        ("python:3.9-bookworm", "python:3.9-slim-bookworm", "compilers"),
        ("ubuntu:22.04", "debian:bookworm", "is ubuntu"),
        ("ghcr.io/someone/prebuilt:1", "ghcr.io/someone/prebuilt:2", "may hold"),
        ("python@sha256:" + "a" * 64, "python:latest", ""),
    ],
)
def test_an_image_that_may_lack_something_does_not(own, shared, word):
    why = why_not(own, shared)
    assert why
    assert word in why
