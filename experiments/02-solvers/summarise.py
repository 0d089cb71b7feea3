"""From the raw runs to ``results/summary.md`` and ``results/profile.png``.

python experiments/02-solvers/summarise.py
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes

RESULTS = Path(__file__).parent / "results"
OURS = "envfold"
_ENOUGH = 10
ORDER = (OURS, "highs", "scip", "cpsat-naive", "fasterpam")
NAMES = {
    OURS: "envfold",
    "highs": "HiGHS, radius MIP",
    "scip": "SCIP, radius MIP",
    "cpsat-naive": "CP-SAT, naive",
    "fasterpam": "FasterPAM, best of 20",
}

Runs = dict[str, dict[str, dict[str, Any]]]
"""By solver, then by instance."""


def main() -> None:
    runs = newest(lines(RESULTS / "pmed.jsonl"))
    text = "\n".join([*overview(runs), "", *comparison(runs), "", *every(runs), "", *dense(), ""])
    (RESULTS / "summary.md").write_text(text, encoding="utf-8")
    mpl.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the backend is chosen

    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    profile(times(runs), ax)
    figure.savefig(RESULTS / "profile.png", dpi=150, metadata={"Software": None})
    plt.close(figure)


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.splitlines() if line.endswith("}")]


def newest(found: Iterable[dict[str, Any]]) -> Runs:
    """Return the last run of each solver on each instance."""
    runs: Runs = defaultdict(dict)
    for line in found:
        runs[line["solver"]][line["instance"]] = line
    return {solver: runs[solver] for solver in ORDER if solver in runs}


def times(runs: Runs) -> dict[str, list[float]]:
    """Return by solver the seconds to a proof, infinite without one, on the instances that all were given.

    FasterPAM proves nothing, and a solver that was given fewer than `_ENOUGH` instances is left out.
    """
    compared = {solver: own for solver, own in runs.items() if solver != "fasterpam" and len(own) >= _ENOUGH}
    shared = set.intersection(*(set(own) for own in compared.values()))
    return {
        NAMES[solver]: sorted(own[name]["seconds"] if proven(own[name]) else math.inf for name in shared)
        for solver, own in compared.items()
    }


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
    ax.set(xlabel="seconds to the proof, model building included", ylabel="share proven optimal")
    ax.grid(visible=True, alpha=0.3)
    ax.legend(frameon=False, fontsize=8, loc="lower right")


def proven(line: dict[str, Any]) -> bool:
    return bool(line["status"] == "OPTIMAL")


def overview(runs: Runs) -> Iterable[str]:
    columns = ["solver", "version", "instances", "limit, s", "proven", "optimum found"]
    columns += ["median s", "largest s", "mean gap", "peak MB"]
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for solver, own in runs.items():
        group = list(own.values())
        answered = [line for line in group if line.get("cost") is not None]
        gaps = [line["cost"] / line["optimum"] - 1 for line in answered]
        seconds = [line["seconds"] for line in group]
        cells = [
            NAMES[solver],
            group[0]["version"] if solver != OURS else f"ortools {group[0]['version']}",
            f"{len(group)}",
            "-"
            if solver == "fasterpam"
            else f"{group[0]['time_limit']:g}" + (" units" if solver == OURS else ""),
            "-" if solver == "fasterpam" else f"{sum(map(proven, group))}",
            f"{sum(line['cost'] == line['optimum'] for line in answered)}",
            f"{median(seconds):.3f}",
            f"{max(seconds):.2f}",
            f"{100 * sum(gaps) / len(gaps):.3f} %" if gaps else "no answer",
            f"{max(line.get('peak_mb', 0) for line in group):.0f}",
        ]
        yield "| " + " | ".join(cells) + " |"


def comparison(runs: Runs) -> Iterable[str]:
    """Say how much faster envfold is where both prove the optimum."""
    for solver in ("highs", "scip"):
        both = [
            (runs[solver][name]["seconds"], runs[OURS][name]["seconds"])
            for name in runs.get(solver, {})
            if name in runs[OURS] and proven(runs[solver][name]) and proven(runs[OURS][name])
        ]
        if both:
            ratios = [theirs / ours for theirs, ours in both]
            yield (
                f"* On the {len(both)} that {NAMES[solver]} proves too, envfold is {median(ratios):.1f} "
                f"times as fast in the median (at least {min(ratios):.1f}, at most {max(ratios):.0f})."
            )


def every(runs: Runs) -> Iterable[str]:
    yield "Seconds; a star where optimality is not proven, the cost in brackets where it is not the optimum."
    yield ""
    yield "| instance | n | p | optimum | " + " | ".join(NAMES[solver] for solver in runs) + " |"
    yield "|---|---|---|---|" + "---|" * len(runs)
    names = sorted({name for own in runs.values() for name in own}, key=lambda name: int(name[4:]))
    for name in names:
        known = next(own[name] for own in runs.values() if name in own and "optimum" in own[name])
        cells = [cell(own.get(name)) for own in runs.values()]
        yield f"| {name} | {known['n']} | {known['p']} | {known['optimum']} | {' | '.join(cells)} |"


def cell(line: dict[str, Any] | None) -> str:
    if line is None:
        return ""
    if line["status"] == "FAILED":
        return "failed"
    text = f"{line['seconds']:.3f}" + ("" if proven(line) else "*")
    if line["cost"] is None:
        return text + " (no answer)"
    return text if line["cost"] == line["optimum"] else f"{text} ({line['cost']})"


def dense() -> Iterable[str]:
    """Tabulate the dense random instance."""
    found = lines(RESULTS / "dense.jsonl")
    if not found:
        return
    yield "Dense random, 1,000 classes x 400 candidates, K = 10:"
    yield ""
    yield "| solver | limit | seconds | objective | bound | bound above objective | peak MB |"
    yield "|---|---|---|---|---|---|---|"
    for line in found:
        objective, bound = line["objective"], line["bound"]
        above = (
            "" if bound is None else f"{100 * (bound / objective - 1):.1f} %" if objective else "no answer"
        )
        cells = [
            line["solver"],
            "-" if line["solver"] == "greedy" else f"{line['time_limit']:g}",
            f"{line['seconds']}",
            "" if objective is None else f"{objective:.3f}",
            "" if bound is None else f"{bound:.3f}",
            above,
            f"{line['peak_mb']}",
        ]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
