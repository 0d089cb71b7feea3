"""From the raw runs to the tables of ``results/summary.md`` and the plots beside it.

python experiments/02-solvers/summarise.py
"""

from __future__ import annotations

import importlib.util
import math
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, Any

import figures
import matplotlib as mpl
from records import RESULTS, read

if TYPE_CHECKING:
    from collections.abc import Iterable

OURS = "envfold"
_ENOUGH = 20
NAMES = {
    OURS: "envfold",
    "highs": "HiGHS, radius MIP",
    "scip": "SCIP, radius MIP",
    "spopt": "spopt (HiGHS)",
    "cpsat-radius": "CP-SAT, radius, default",
    "cpsat-naive": "CP-SAT, naive",
    "cpsat-naive-2": "CP-SAT, naive, 2 workers",
    "fasterpam": "FasterPAM, best of 20",
    "apricot": "apricot-select, greedy",
    "greedy": "greedy",
}
"""Solvers in the order of the tables."""
HEURISTICS = {"fasterpam", "apricot", "greedy"}

Line = dict[str, Any]
Runs = dict[str, dict[str, Line]]
"""By solver, then by instance."""


def main() -> None:
    runs = newest(read(RESULTS / "pmed.jsonl"))
    parts = [
        ["# Raw figures", "", "Seconds are processor time where it was recorded, else wall time."],
        ["## pmed1 to pmed40", "", *overview(runs), "", *comparison(runs), "", *every(runs)],
        ["## Dense random, 1,000 classes x 400 candidates, K = 10", "", *dense()],
        ["## Scale", "", *scale()],
        ["## Gap over time", "", *gap_table()],
        *others(),
    ]
    (RESULTS / "summary.md").write_text(
        "\n\n".join("\n".join(part) for part in parts) + "\n", encoding="utf-8"
    )
    draw(runs)


def draw(runs: Runs) -> None:
    mpl.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the backend is chosen

    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    figures.profile(times(runs), ax)
    figure.savefig(RESULTS / "profile.png", dpi=150, metadata={"Software": None})
    found = traces()
    if found:
        figure, axes = plt.subplots(
            1, len(found), figsize=(4 * len(found), 3.5), layout="constrained", squeeze=False
        )
        for (name, solvers), ax in zip(found.items(), axes[0], strict=True):
            figures.gaps(name, {NAMES[solver]: trace for solver, trace in solvers.items()}, ax)
        figure.savefig(RESULTS / "gap.png", dpi=150, metadata={"Software": None})
    grown = [line for line in scale_lines() if line["part"] == "growth" and line["status"] != "FAILED"]
    if grown:
        figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
        figures.growth(grown, axes)
        figure.savefig(RESULTS / "growth.png", dpi=150, metadata={"Software": None})
    plt.close("all")


def newest(found: Iterable[Line]) -> Runs:
    """Return the last run of each solver on each instance."""
    runs: Runs = defaultdict(dict)
    for line in found:
        runs[line["solver"]][line["instance"]] = line
    return {solver: runs[solver] for solver in NAMES if solver in runs}


def spent(line: Line) -> float:
    """Return the seconds of a run: processor time if that is known."""
    return float(line.get("cpu_seconds", line["seconds"]))


def times(runs: Runs) -> dict[str, list[float]]:
    """Return by solver the seconds to a proof, infinite without one, on the instances that all were given.

    Heuristics prove nothing, and a solver that was given fewer than `_ENOUGH` instances is left out.
    """
    compared = {
        solver: own for solver, own in runs.items() if solver not in HEURISTICS and len(own) >= _ENOUGH
    }
    shared = set.intersection(*(set(own) for own in compared.values()))
    return {
        NAMES[solver]: sorted(spent(own[name]) if proven(own[name]) else math.inf for name in shared)
        for solver, own in compared.items()
    }


def proven(line: Line) -> bool:
    return bool(line["status"] == "OPTIMAL")


def overview(runs: Runs) -> Iterable[str]:
    yield from head(
        "solver",
        "version",
        "instances",
        "limit, s",
        "proven",
        "optimum found",
        "median s",
        "largest s",
        "mean gap",
        "peak MB",
    )
    for solver, own in runs.items():
        group = list(own.values())
        answered = [line for line in group if line.get("cost") is not None]
        gaps = [line["cost"] / line["optimum"] - 1 for line in answered]
        seconds = [spent(line) for line in group]
        limits = sorted({f"{line['time_limit']:g}" for line in group})
        heuristic = solver in HEURISTICS
        yield row(
            NAMES[solver],
            group[-1]["version"] if solver != OURS else f"ortools {group[-1]['version']}",
            len(group),
            "-" if heuristic else ", ".join(limits) + (" units" if solver == OURS else ""),
            "-" if heuristic else sum(map(proven, group)),
            sum(line["cost"] == line["optimum"] for line in answered),
            f"{median(seconds):.3f}",
            f"{max(seconds):.2f}",
            f"{100 * sum(gaps) / len(gaps):.3f} %" if gaps else "no answer",
            f"{max(line.get('peak_mb', 0) for line in group):.0f}",
        )


def comparison(runs: Runs) -> Iterable[str]:
    """Say how much faster envfold is where both prove the optimum."""
    for solver in ("highs", "scip", "spopt"):
        both = [
            (spent(runs[solver][name]), spent(runs[OURS][name]))
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
    yield from head("instance", "n", "p", "optimum", *(NAMES[solver] for solver in runs))
    names = sorted({name for own in runs.values() for name in own}, key=lambda name: int(name[4:]))
    for name in names:
        known = next(own[name] for own in runs.values() if name in own and "optimum" in own[name])
        yield row(
            name, known["n"], known["p"], known["optimum"], *(cell(own.get(name)) for own in runs.values())
        )


def cell(line: Line | None) -> str:
    if line is None:
        return ""
    if line["status"] == "FAILED":
        return "failed"
    text = f"{spent(line):.3f}" + ("" if proven(line) else "*")
    if line["cost"] is None:
        return text + " (no answer)"
    return text if line["cost"] == line["optimum"] else f"{text} ({line['cost']})"


def dense() -> Iterable[str]:
    found = {line["solver"]: line for line in read(RESULTS / "dense.jsonl")}
    yield from head("solver", "limit", "seconds", "objective", "bound", "gap", "peak MB")
    for solver in (solver for solver in NAMES if solver in found):
        line = found[solver]
        objective, bound = line["objective"], line["bound"]
        gap = (
            "no answer"
            if objective is None
            else ""
            if bound is None
            else f"{100 * (1 - objective / bound):.2f} %"
        )
        yield row(
            NAMES[solver],
            "-"
            if solver in HEURISTICS
            else f"{line['time_limit']:g}" + (" units" if solver == OURS else " s"),
            f"{spent(line):.1f}",
            "" if objective is None else f"{objective:.3f}",
            "" if bound is None else f"{bound:.3f}",
            gap,
            line["peak_mb"],
        )


def scale_lines() -> list[Line]:
    """Return of each case the last run with each limit by the code that ran last, by size."""
    cases: dict[tuple[Any, ...], dict[float, Line]] = defaultdict(dict)
    for line in read(RESULTS / "scale.jsonl"):
        case = cases[line["part"], line["kind"], line.get("tasks"), line["k"]]
        if any(other["code"] != line["code"] for other in case.values()):
            case.clear()
        case[line["time_limit"]] = line
    found = [case[limit] for case in cases.values() for limit in sorted(case)]
    return sorted(found, key=lambda line: (line["part"], line.get("tasks", 0)))


def scale() -> Iterable[str]:
    lines = scale_lines()
    for part in ("target", "document", "growth"):
        here = [line for line in lines if line["part"] == part]
        if not here:
            continue
        yield from head(
            part,
            "tasks",
            "classes",
            "candidates",
            "K",
            "units",
            "gap",
            "processor s",
            "wall s",
            "peak MB",
            "method",
        )
        for line in here:
            if line["status"] == "FAILED":
                yield row(line["kind"], "", "", "", line["k"], "", "failed: " + line["why"], "", "", "", "")
                continue
            gap = "proven" if proven(line) else f"{100 * line['gap']:.3f} %"
            yield row(
                line["kind"],
                f"{line['tasks']:,}",
                f"{line['n']:,}",
                f"{line['m']:,}",
                line["k"],
                f"{line['time_limit']:g}",
                gap,
                line["cpu_seconds"],
                line["seconds"],
                line["peak_mb"],
                line["method"],
            )
        yield ""


def traces() -> dict[str, dict[str, list[list[float]]]]:
    """Return by instance and solver the (seconds, gap) points; of envfold those of one code, by limit."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    own: dict[tuple[str, float], Line] = {}
    for line in read(RESULTS / "gap.jsonl"):
        if line["solver"] == OURS:
            own[line["instance"], line["time_limit"]] = line
        else:
            found.setdefault(line["instance"], {})[line["solver"]] = line["trace"]
    for name, limit in sorted(own):
        found.setdefault(name, {}).setdefault(OURS, []).extend(own[name, limit]["trace"])
    return {
        name: {solver: found[name][solver] for solver in NAMES if solver in found[name]}
        for name in sorted(found)
    }


def gap_table() -> Iterable[str]:
    seconds = (1, 2, 5, 10, 30, 60)
    yield "Gap left after so many processor seconds, in per cent; envfold's runs are one a limit."
    yield ""
    yield from head("instance", "solver", *(f"{second} s" for second in seconds), "end")
    for name, solvers in traces().items():
        for solver, trace in solvers.items():
            left = []
            for second in seconds:
                known = [point[1] for point in trace if point[0] <= second]
                left.append(f"{100 * min(known):.2f}" if known else "-")
            yield row(name, NAMES[solver], *left, f"{100 * trace[-1][1]:.2f} ({trace[-1][0]:.1f} s)")


def others() -> Iterable[list[str]]:
    """Return the tables that scripts with a `table` of their own make of their runs."""
    for name, title in (("pagination", "Pagination"), ("verified", "SWE-bench Verified")):
        path = RESULTS / f"{name}.jsonl"
        if path.exists() and importlib.util.find_spec(name):
            module = importlib.import_module(name)
            yield [f"## {title}", "", *module.table(read(path))]


def head(*columns: str) -> Iterable[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
