"""The base image that a class would have in a shared environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.default_bases import (
    CONDA,
    CONDA_KIND,
    PLAIN,
    PLAIN_KIND,
    DefaultBase,
    is_official_python,
    kind_of,
    python_base,
)

if TYPE_CHECKING:
    from partition.features.model import TaskFeatures


def base_of(features: TaskFeatures) -> tuple[DefaultBase, str | None]:
    """Return the base for one class, and the interpreter that it gives (None: the packages decide).

    What an environment.yml or conda names needs a conda image. A base that brings more than a distribution
    is kept, and so is one that comes with the interpreter or for which none is stated. An interpreter that
    was installed onto a plain base is had from the official image, which every task can share.
    """
    own = features.base
    kind = None if own is None else kind_of(own)
    follows_file = any(name.endswith((".yml", ".yaml")) for name in features.requirement_files)
    if (features.conda or follows_file) and kind in {None, PLAIN_KIND}:
        return CONDA, features.python
    if own is not None and (kind != PLAIN_KIND or features.python is None or is_official_python(own)):
        base = DefaultBase(
            image=own, distribution=features.distribution or "", release=features.release or ""
        )
        return base, features.python
    if features.python is not None:
        return python_base(features.python), features.python
    return (PLAIN, None) if features.repo is None else (python_base("3.11"), "3.11")


def can_bake(base: DefaultBase) -> bool:
    """Whether it is known how packages are installed onto a base."""
    return bool(base.distribution) or kind_of(base.image) == CONDA_KIND
