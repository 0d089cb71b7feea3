"""Virtual environments as items to be packed into images: what they share counts once an image.

A wheel's files are there once, however many venvs of the image link to them; each venv adds names for them
and a few files of its own. So a venv needs the wheels, its interpreter, and one item that is nobody else's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from partition.venvs.wheels import SKELETON
from solvers.composition.instance import CompositionInstance, Goal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partition.venvs.artefacts import Package
    from partition.venvs.wheels import Sized


@dataclass(frozen=True, slots=True, kw_only=True)
class VenvItem:
    """One virtual environment.

    Parameters
    ----------
    python
        Minor version, ``3.9``.
    packages
        What it holds, with sizes.
    """

    python: str
    packages: Mapping[Package, Sized]


@dataclass(frozen=True, eq=False, kw_only=True)
class Packing:
    """An instance for the solver, and what its numbers mean.

    Parameters
    ----------
    venvs, packages
        Names by index.
    """

    instance: CompositionInstance
    venvs: tuple[str, ...]
    packages: tuple[str, ...]


def packing(
    venvs: Mapping[str, VenvItem],
    *,
    interpreters: Mapping[str, int],
    base_bytes: int,
    capacity: int,
    max_images: int | None = None,
) -> Packing:
    """Return the instance that packs all venvs into the fewest images.

    Parameters
    ----------
    interpreters
        Bytes of each interpreter by minor version; 0 where the base has it.
    base_bytes
        Bytes of the base image with its system packages.
    capacity
        Bytes that an image may have.
    max_images
        At most so many images; None for any number.

    Raises
    ------
    KeyError
        An interpreter that a venv needs has no size.
    """
    sizes: dict[str, int] = {}
    needs: list[tuple[int, ...]] = []
    index: dict[str, int] = {}

    def item(name: str, size: int) -> int:
        sizes.setdefault(name, size)
        return index.setdefault(name, len(index))

    names = tuple(sorted(venvs))
    for name in names:
        venv = venvs[name]
        own = SKELETON.once + SKELETON.each
        needed = [item(f"python {venv.python}", interpreters[venv.python])]
        for package, sized in sorted(venv.packages.items()):
            own += sized.own
            if sized.key:
                needed.append(item(f"{package} {sized.key}", sized.shared))
        needed.append(item(f"venv {name}", own))
        needs.append(tuple(sorted(needed)))
    count = len(names)
    nothing = np.zeros(0)
    instance = CompositionInstance(
        sizes=np.array(list(sizes.values()), dtype=np.int64),
        venvs=tuple(needs),
        base_sizes=np.array([base_bytes], dtype=np.int64),
        runs_on=np.ones((count, 1), dtype=bool),
        capacity=capacity,
        goal=Goal.FEWEST_IMAGES,
        max_images=max_images,
        conflicts=(),
        weights=nothing,
        class_venvs=np.zeros(0, dtype=np.int64),
        baked=nothing,
        fallback=nothing,
        forbids=(),
        admitted=np.ones((0, 1), dtype=bool),
    )
    return Packing(instance=instance, venvs=names, packages=tuple(index))
