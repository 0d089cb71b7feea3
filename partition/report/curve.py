"""The curve of predicted yield against K: as a table, as CSV, as a picture."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from partition.plan.compare import (
    GREEDY,
    GROUP_BY_PYTHON,
    GROUP_BY_PYTHON_AND_REPO,
    GROUP_BY_VERSION,
    JACCARD,
)
from partition.report.wording import page, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from partition.plan.document import Curve

_SHORT = {
    GROUP_BY_PYTHON: "Python",
    GROUP_BY_PYTHON_AND_REPO: "Py+repo",
    GROUP_BY_VERSION: "repo,ver",
    JACCARD: "Jaccard",
    GREEDY: "greedy",
}
_STYLE = {
    GROUP_BY_PYTHON: ("#d95f02", "o"),
    GROUP_BY_PYTHON_AND_REPO: ("#7570b3", "s"),
    GROUP_BY_VERSION: ("#66a61e", "^"),
    JACCARD: ("#a6761d", "D"),
    GREEDY: ("#666666", "x"),
}
_OURS = "#1b5e9e"


def curve_table(curve: Curve) -> str:
    """Return the curve as a table that fits 80 columns."""
    rules = [name for name in _SHORT if name in curve.comparisons]
    lines = [
        (
            f"{plural(curve.tasks, 'task')} in {curve.classes:,} classes, {curve.candidates:,} candidates, "
            f"ceiling {curve.ceiling:.3f}"
        ),
        "",
        f"{'':>3}  {'-------- envfold --------':<37}  {'- same predictions, other rules -':>33}",
        f"{'K':>3}  {'yield':<5}  {'95 %':<11}  {'bound':<5}  {'status':<8}"
        + "".join(f"  {_SHORT[name]:>8}" for name in rules[:4]),
    ]
    for index, point in enumerate(curve.points):
        cells = [f"{curve.comparisons[name][index].predicted_yield:.3f}" for name in rules[:4]]
        lines.append(
            f"{point.k:>3}  {point.predicted_yield:.3f}  {point.low:.3f}-{point.high:.3f}  "
            f"{point.bound:.3f}  {point.status.lower():<8}" + "".join(f"  {cell:>8}" for cell in cells)
        )
    return page(lines)


def curve_csv(curve: Curve) -> bytes:
    """Return one row for each K and rule; the rule ``envfold`` has bound, gap and status as well."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ["rule", "k", "predicted_yield", "low", "high", "bound", "gap", "status", "environments", "baked"]
    )
    for point in curve.points:
        writer.writerow(
            [
                "envfold",
                point.k,
                point.predicted_yield,
                point.low,
                point.high,
                point.bound,
                point.gap,
                point.status,
                point.environments,
                point.baked,
            ]
        )
    for name, points in curve.comparisons.items():
        for item in points:
            writer.writerow(
                [name, item.k, item.predicted_yield, item.low, item.high, "", "", "", item.environments, ""]
            )
    return stream.getvalue().encode()


def curve_png(curve: Curve) -> bytes:
    """Return the curve as a PNG, 1500 x 900 pixels; same curve and library, same bytes."""
    figure = Figure(figsize=(10, 6), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    draw_curve(curve, figure.add_subplot())
    stream = io.BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def draw_curve(curve: Curve, ax: Axes) -> None:
    """Draw the curve, its band, its bound and the simple rules on `ax`."""
    ks = [point.k for point in curve.points]
    low, high = [point.low for point in curve.points], [point.high for point in curve.points]
    ax.fill_between(ks, low, high, color=_OURS, alpha=0.12, lw=0, label="95 % interval of the prediction")
    for name, points in curve.comparisons.items():
        colour, marker = _STYLE[name]
        ax.plot(
            [item.k for item in points],
            [item.predicted_yield for item in points],
            color=colour,
            marker=marker,
            markersize=3.5,
            lw=1,
            alpha=0.9,
            label=name,
        )
    ax.plot(ks, [point.bound for point in curve.points], color="black", lw=0.8, ls=":", label="proven bound")
    yields = [point.predicted_yield for point in curve.points]
    ax.plot(ks, yields, color=_OURS, lw=2.2, marker="o", markersize=4, label="envfold")
    ax.axhline(curve.ceiling, color="black", lw=0.8, ls="--")
    ax.annotate(
        f"ceiling: own environments, {curve.ceiling:.2f}",
        (ks[-1], curve.ceiling),
        textcoords="offset points",
        xytext=(0, 4),
        ha="right",
        fontsize=9,
    )
    ax.set(
        title=f"{curve.inputs.dataset}: predicted oracle yield of {curve.tasks:,} tasks",
        xlabel="K, shared environments",
        ylabel="predicted oracle yield",
        xlim=(min(ks) - 0.5, max(ks) + 0.5),
        ylim=(0, 1),
    )
    ax.grid(alpha=0.25)
    ax.legend(loc="lower right", fontsize=9, frameon=False)
