"""Which image a shared environment starts from where the tasks do not say or cannot share theirs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultBase:
    """A public base image with its distribution."""

    image: str
    distribution: str
    release: str


CONDA = DefaultBase(image="condaforge/miniforge3:24.11.3-2", distribution="ubuntu", release="noble")
"""For packages that an environment.yml or conda names."""

PLAIN = DefaultBase(image="debian:bookworm-slim", distribution="debian", release="bookworm")
"""For tasks that need no Python."""

_RELEASES = {
    # the last release that the official image was built on, for interpreters no longer rebuilt
    "2.7": "buster",
    "3.5": "buster",
    "3.6": "bullseye",
}


def python_base(python: str) -> DefaultBase:
    """Return the official slim image of a Python minor version."""
    release = _RELEASES.get(python, "bookworm")
    return DefaultBase(image=f"python:{python}-slim-{release}", distribution="debian", release=release)
