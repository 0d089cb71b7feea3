"""The base image that a class would have in a shared environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.bases import describe_image
from partition.environments.default_bases import (
    CONDA,
    CONDA_KIND,
    PLAIN,
    DefaultBase,
    kind_of,
    python_base,
)

if TYPE_CHECKING:
    from partition.features.model import TaskFeatures


def base_of(features: TaskFeatures) -> tuple[DefaultBase, str | None]:
    """Return the base for one class, and the interpreter that it gives (None: the packages decide).

    A task with a Dockerfile keeps its base: what it does beyond what is shared is replayed, and would mean
    something else on another distribution. Without one, what an environment.yml or conda names needs a
    conda image, and everything else the official image of its interpreter; but for one whose release is gone
    from the mirrors (Python 2.7 and 3.5), on which not even git can be installed: conda still has those.
    """
    if features.base is not None:
        base = DefaultBase(
            image=features.base, distribution=features.distribution or "", release=features.release or ""
        )
        return base, features.python
    follows_file = any(name.endswith((".yml", ".yaml")) for name in features.requirement_files)
    if features.conda or follows_file:
        return CONDA, features.python
    if features.python is not None:
        official = python_base(features.python)
        return CONDA if describe_image(official.image).archived else official, features.python
    return (PLAIN, None) if features.repo is None else (python_base("3.11"), "3.11")


def can_bake(base: DefaultBase) -> bool:
    """Whether it is known how packages are installed onto a base, and from where."""
    if describe_image(base.image).archived:
        return False
    return bool(base.distribution) or kind_of(base.image) == CONDA_KIND
