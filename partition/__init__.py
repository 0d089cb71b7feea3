"""envfold as a library: the commands as functions on plain objects.

>>> import partition
>>> plan = partition.propose("swegym", cap=8)
>>> len(plan.environments)
8
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partition.api import count, explain, load_plan, load_tasks, propose, rewrite, sweep

__all__ = ["count", "explain", "load_plan", "load_tasks", "propose", "rewrite", "sweep"]


def __getattr__(name: str) -> Any:
    # imported when asked for: `envfold --help` must not wait for solvers and plots
    if name in __all__:
        from partition import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
