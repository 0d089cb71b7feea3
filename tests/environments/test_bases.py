"""The tables of base images: what a FROM line tells."""

from __future__ import annotations

import pytest

from partition.environments.bases import describe_image, find_release, split_reference


@pytest.mark.parametrize(
    ("image", "distribution", "release", "manager", "python"),
    [
        ("python:3.9-slim-bookworm", "debian", "bookworm", "apt", "3.9"),
        ("docker.io/library/python:3.11@sha256:" + "0" * 64, "debian", "trixie", "apt", "3.11"),
        ("python:3.6", "debian", "bullseye", "apt", "3.6"),
        ("python:3.11.3-slim", "debian", "bullseye", "apt", "3.11"),
        ("python:3.9-alpine3.18", "alpine", "3.18", "apk", "3.9"),
        ("python:3.10-alpine", "alpine", None, "apk", "3.10"),
        ("python", "debian", None, "apt", None),
        ("ubuntu:22.04", "ubuntu", "jammy", "apt", None),
        ("ubuntu:focal-20240101", "ubuntu", "focal", "apt", None),
        ("debian:12.5-slim", "debian", "bookworm", "apt", None),
        ("debian:stable", "debian", None, "apt", None),
        ("alpine:3.19.1", "alpine", "3.19", "apk", None),
        ("nvidia/cuda:12.1.0-devel-ubuntu20.04", "ubuntu", "focal", "apt", None),
        ("node:20-bullseye-slim", "debian", "bullseye", "apt", None),
        ("ghcr.io/astral-sh/uv:python3.12-bookworm-slim", "debian", "bookworm", "apt", "3.12"),
        ("mcr.microsoft.com/devcontainers/python:1-3.11-bullseye", "debian", "bullseye", "apt", "3.11"),
        ("swebench/sweb.eval.x86_64.x:latest", "ubuntu", "jammy", "apt", None),
        ("localhost:5000/own/image:1.0", None, None, None, None),
        ("fedora:40", "fedora", "40", "dnf", None),
        ("busybox", "busybox", None, None, None),
        ("scratch", None, None, None, None),
    ],
)
def test_an_image_tells_what_its_name_and_the_tables_say(
    image: str, distribution: str | None, release: str | None, manager: str | None, python: str | None
) -> None:
    base = describe_image(image)
    assert (base.distribution, base.release, base.manager, base.python) == (
        distribution,
        release,
        manager,
        python,
    )


@pytest.mark.parametrize(
    ("image", "moves"),
    [
        ("python:3.11-slim", True),
        ("python:3.11-slim-bookworm", False),
        ("python:3.11.3", False),
        ("ubuntu", False),
    ],
)
def test_a_tag_without_a_release_moves_to_the_next_one(image: str, moves: bool) -> None:
    assert describe_image(image).moves is moves


@pytest.mark.parametrize("release", ["jessie", "stretch", "buster"])
def test_releases_gone_from_the_mirrors_are_marked(release: str) -> None:
    facts = find_release("debian", release)
    assert facts is not None
    assert facts.state == "archived"


@pytest.mark.parametrize("release", ["xenial", "bionic", "focal"])
def test_releases_without_updates_are_marked(release: str) -> None:
    facts = find_release("ubuntu", release)
    assert facts is not None
    assert facts.state == "ended"


def test_references_are_split_as_a_registry_reads_them() -> None:
    assert split_reference("localhost:5000/a/b") == ("localhost:5000/a/b", "latest")
    assert split_reference("docker.io/library/python:3@sha256:0") == ("python", "3")


def test_alpine_ships_without_bash() -> None:
    assert describe_image("python:3.9-alpine").lacks_bash
    assert not describe_image("python:3.9").lacks_bash
