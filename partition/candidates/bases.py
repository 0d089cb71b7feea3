"""The base image that a class would have in a shared environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.default_bases import CONDA, PLAIN, DefaultBase, python_base

if TYPE_CHECKING:
    from partition.features.model import TaskFeatures


def base_of(features: TaskFeatures) -> tuple[DefaultBase, str | None]:
    """Return the base for one class, and the interpreter that it gives (None: the packages decide).

    A base that comes with the interpreter, or a task that states none, keeps its own; an interpreter
    that was installed onto some other base is had from the official image, which every task can share.
    """
    follows_file = any(name.endswith((".yml", ".yaml")) for name in features.requirement_files)
    if features.conda or (follows_file and features.python is None):
        return CONDA, features.python
    own = features.base
    if own is not None and (features.python is None or _is_official_python(own)):
        base = DefaultBase(
            image=own, distribution=features.distribution or "", release=features.release or ""
        )
        return base, features.python
    if features.python is None:
        return (PLAIN, None) if features.repo is None else (python_base("3.11"), "3.11")
    return python_base(features.python), features.python


def _is_official_python(image: str) -> bool:
    name = image.partition("@")[0].rpartition(":")[0] or image
    return name.removeprefix("docker.io/").removeprefix("library/") == "python"
