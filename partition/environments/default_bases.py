"""Which image a shared environment starts from where the tasks do not say or cannot share theirs."""

from __future__ import annotations

from dataclasses import dataclass

from partition.environments.bases import describe_image

PLAIN_KIND = "plain"
"""Images that hold a distribution and at most a Python: one stands in for another."""
CONDA_KIND = "conda"

_PLAIN_REPOSITORIES = frozenset({"python", "debian", "ubuntu", "alpine", "buildpack-deps"})
_CONDA_REPOSITORIES = frozenset(
    {
        "condaforge/mambaforge",
        "condaforge/miniforge3",
        "continuumio/anaconda3",
        "continuumio/miniconda3",
        "mambaorg/micromamba",
    }
)


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


def kind_of(image: str) -> str:
    """Return what an image brings beyond a distribution: `PLAIN_KIND`, `CONDA_KIND`, or its repository.

    An image that brings a toolchain (``node``, ``golang``), or of which nobody knows what it brings
    (a prebuilt image of one task), is of a kind of its own.
    """
    repository = describe_image(image).repository
    if repository in _PLAIN_REPOSITORIES:
        return PLAIN_KIND
    return CONDA_KIND if repository in _CONDA_REPOSITORIES else repository


def is_official_python(image: str) -> bool:
    """Whether an image is the official Python image of some version."""
    return describe_image(image).repository == "python"
