"""Whether one base image may stand in for another, so that a Dockerfile means the same on it."""

from __future__ import annotations

from functools import lru_cache

from partition.environments.bases import describe_image

_PYTHON = "python"
_OFFICIAL = frozenset({"debian", "ubuntu", _PYTHON})
"""Images whose content follows from distribution, release and interpreter."""
_TOOLS = frozenset(
    {
        "autoconf", "automake", "bzip2", "curl", "dpkg-dev", "file", "g++", "gcc", "git", "gnupg",
        "imagemagick", "make", "mercurial", "openssh-client", "patch", "procps", "subversion", "unzip",
        "wget", "xz-utils",
    }
)  # fmt: skip
"""Tools of ``buildpack-deps`` (github.com/docker-library/buildpack-deps), which full images start from."""


@lru_cache(maxsize=1 << 14)
def why_not(own: str, shared: str) -> str:
    """Return why `shared` cannot stand in for `own`, as a predicate of `own`; empty where it can.

    Official images of one release of a distribution can: ``python:3.9`` for ``python:3.9-slim-bookworm``, not
    for another interpreter, nor a slim image for a full one, nor for plain ``debian:bookworm``, whose own
    ``python3`` it would hide. What else an image holds nobody knows, so that only itself can stand in for it.
    """
    task, other = describe_image(own), describe_image(shared)
    if own == shared or ("@" not in own + shared and _reference(own) == _reference(shared)):
        return ""
    if task.repository not in _OFFICIAL or other.repository not in _OFFICIAL:
        return f"may hold what {shared} lacks"
    if task.release is None or (task.distribution, task.release) != (other.distribution, other.release):
        here, there = (f"{each.distribution} {each.release or each.tag}" for each in (task, other))
        return f"is {here}, and {shared} is {there}"
    if task.repository == _PYTHON and (task.python is None or task.python != other.python):
        return f"has Python {task.python or 'of no known version'}, and {shared} {other.python or 'its own'}"
    if task.repository != _PYTHON and other.repository == _PYTHON:
        return f"has the distribution's python3, which that of {shared} would hide"
    if _is_full(task.repository, task.tag) and not _is_full(other.repository, other.tag):
        return f"holds compilers and libraries that {shared} lacks"
    return ""


def brings(own: str, shared: str) -> frozenset[str]:
    """Return the tools that `shared`, a full image, holds and `own` does not."""
    task, other = describe_image(own), describe_image(shared)
    if other.repository not in _OFFICIAL or not _is_full(other.repository, other.tag):
        return frozenset()
    return frozenset() if _is_full(task.repository, task.tag) else _TOOLS


def _reference(image: str) -> tuple[str, str]:
    base = describe_image(image)
    return base.repository, base.tag


def _is_full(repository: str, tag: str) -> bool:
    return repository == _PYTHON and "slim" not in tag.split("-")
