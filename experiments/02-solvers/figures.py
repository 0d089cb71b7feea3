"""The plots of the experiment, each from the lines of its runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

_LEAST_GAP = 1e-5


def profile(data: Mapping[str, list[float]], ax: Axes) -> None:
    """Draw for each solver the share of instances that it has proven after so many seconds."""
    ended = [second for seconds in data.values() for second in seconds if math.isfinite(second)]
    first, last = min(ended) / 2, max(ended) * 2
    for name, seconds in data.items():
        known = [second for second in seconds if math.isfinite(second)]
        share = np.arange(len(known) + 1) / len(seconds)
        label = f"{name} ({len(known)} of {len(seconds)})"
        ax.step([first, *known, last], [*share, share[-1]], where="post", label=label)
    ax.set(xscale="log", xlim=(first, last), ylim=(0, 1.02))
    ax.set(xlabel="processor seconds to the proof, model building included", ylabel="share proven optimal")
    ax.grid(visible=True, alpha=0.3)
    ax.legend(frameon=False, fontsize=8, loc="lower right")


def gaps(name: str, traces: Mapping[str, Sequence[Sequence[float]]], ax: Axes) -> None:
    """Draw the gap that each solver had left after so many seconds; what is proven is at the bottom."""
    for solver, trace in traces.items():
        seconds = [point[0] for point in trace]
        left = [max(point[1], _LEAST_GAP) for point in trace]
        ax.step(seconds, left, where="post", label=solver, marker="o", markersize=3)
    ax.set(xscale="log", yscale="log", xlim=(0.1, 120), ylim=(_LEAST_GAP * 0.8, 1.3), title=name)
    ax.set(xlabel="processor seconds", ylabel="gap")
    ax.grid(visible=True, alpha=0.3)
    ax.legend(frameon=False, fontsize=7)


def growth(lines: Sequence[Mapping[str, Any]], axes: Sequence[Axes]) -> None:
    """Draw seconds, memory and gap against the number of tasks."""
    quantities = (
        ("cpu_seconds", "processor seconds", 1.0),
        ("peak_mb", "peak memory, MB", 1.0),
        ("gap", "gap, %", 100.0),
    )
    for (key, label, factor), ax in zip(quantities, axes, strict=True):
        ax.plot([line["tasks"] for line in lines], [factor * line[key] for line in lines], marker="o")
        ax.set(xscale="log", xlabel="tasks", ylabel=label)
        if key != "gap":
            ax.set_yscale("log")
        ax.grid(visible=True, alpha=0.3)
