"""The predicted curve of SWE-Gym: run the README's main job, compare it with what is on record.

    python experiments/01-swegym-curve/run.py

Writes ``results/`` beside this file: the curve (JSON, CSV, PNG), the plan at the K compared, ``summary.md``
(also the README's figures) and ``measured.json`` (the times of this machine). Takes a few minutes.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.stats import beta

from partition.plan.compare import GROUP_BY_PYTHON, RULES
from partition.plan.document import Curve, Plan

if TYPE_CHECKING:
    from collections.abc import Iterable

_HERE = Path(__file__).parent
_RESULTS = _HERE / "results"
_README = _HERE.parents[1] / "README.md"
_MARKS = ("<!-- figures: swegym -->", "<!-- /figures: swegym -->")
_LARGEST = 40
_SHOWN = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 40)
_RECORDED = (19, 40)
"""SWE-Gym, 989 tasks in 5 environments by Python version: gold patches that passed, sampled."""


def main() -> None:
    runs = [_sweep() for _ in range(2)]
    plans = [_envfold("propose", "swegym", "--cap", "8", "--json") for _ in range(2)]
    _RESULTS.mkdir(exist_ok=True)
    files = runs[0][1]
    for name, data in files.items():
        (_RESULTS / name).write_bytes(data)
    (_RESULTS / "plan-8.json").write_bytes(plans[0])
    curve = Curve.model_validate_json(files["curve.json"])
    plan = Plan.model_validate_json(plans[0])
    text = summary(curve, plan)
    (_RESULTS / "summary.md").write_text(text, encoding="utf-8")
    _put_into_readme(text)
    measured = {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}",
        "sweep_seconds": [round(seconds, 1) for seconds, _ in runs],
        "points": len(curve.points),
        "points_optimal": sum(point.status == "OPTIMAL" for point in curve.points),
        "sweep_bytes_identical": runs[0][1] == runs[1][1],
        "plan_bytes_identical": plans[0] == plans[1],
        "plan_sha256": hashlib.sha256(plans[0]).hexdigest(),
        "points_below_a_rule": _below(curve),
    }
    (_RESULTS / "measured.json").write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(measured, indent=1))


def summary(curve: Curve, plan: Plan) -> str:
    """Return the tables of this experiment as Markdown; same curve, same text."""
    return "\n".join([*_curve_table(curve), "", *_against_record(curve), "", *_difference(curve, plan), ""])


def _curve_table(curve: Curve) -> Iterable[str]:
    yield f"{curve.tasks:,} tasks, {curve.classes} classes, {curve.candidates} candidate environments."
    yield f"Predicted yield of every task in its own environment (ceiling): {curve.ceiling:.3f}."
    yield ""
    yield "| K | envfold | 95 % interval | proven bound | status | " + " | ".join(RULES) + " |"
    yield "|---|---|---|---|---|" + "---|" * len(RULES)
    for point in curve.points:
        if point.k not in _SHOWN:
            continue
        cells = [f"{_rule(curve, name, point.k).predicted_yield:.3f}" for name in RULES]
        interval = f"{point.low:.2f}-{point.high:.2f}"
        ours = [f"**{point.predicted_yield:.3f}**", interval, f"{point.bound:.3f}", point.status.lower()]
        yield f"| {point.k} | {' | '.join(ours + cells)} |"


def _against_record(curve: Curve) -> Iterable[str]:
    passed, sampled = _RECORDED
    low, high = beta.ppf(0.025, passed, sampled - passed + 1), beta.ppf(0.975, passed + 1, sampled - passed)
    ours = _rule(curve, GROUP_BY_PYTHON, 5)
    inside = low <= ours.predicted_yield <= high
    yield "Group by Python, 5 environments: what is on record, and what the model predicts"
    yield ""
    yield "| | yield | 95 % interval |"
    yield "|---|---|---|"
    recorded = f"recorded, {passed} of {sampled} sampled gold patches"
    yield f"| {recorded} | {passed / sampled:.3f} | {low:.3f}-{high:.3f} |"
    predicted = "predicted, structural priors alone"
    yield f"| {predicted} | {ours.predicted_yield:.3f} | {ours.low:.3f}-{ours.high:.3f} |"
    yield ""
    yield f"The prediction lies {'inside' if inside else 'outside'} the recorded interval."


def _difference(curve: Curve, plan: Plan) -> Iterable[str]:
    gains = {
        point.k: point.predicted_yield - _rule(curve, GROUP_BY_PYTHON, point.k).predicted_yield
        for point in curve.points
    }
    better = [k for k, gain in gains.items() if gain > 1e-6]
    saturated = max(item.environments for item in curve.comparisons[GROUP_BY_PYTHON])
    at = plan.limits.max_environments
    yield (
        f"Better than group-by-Python at {_spans(better)}: by {gains[saturated]:+.3f} at K = {saturated}, "
        f"where that rule has all its {saturated} environments, {gains[at]:+.3f} at K = {at} and "
        f"{gains[max(gains)]:+.3f} at K = {max(gains)}."
    )
    yield ""
    baked: dict[str, list[str]] = {}
    for item in plan.environments:
        for entry in (entry for venv in item.venvs for entry in venv.lists):
            baked.setdefault(entry.family.rpartition("/")[2], []).append(entry.version)
    split = {family: versions for family, versions in sorted(baked.items()) if len(versions) > 1}
    shown = " and ".join(f"{family} ({', '.join(versions)})" for family, versions in split.items())
    yield (
        f"The plan at K = {at} bakes package lists of {len(baked)} families and gives more than one "
        f"environment, by era or interpreter, to {shown or 'none'}:"
    )
    yield ""
    yield "| tasks | environment | bakes | families | predicted |"
    yield "|---|---|---|---|---|"
    for item in plan.environments:
        lists = [f"{entry.family} {entry.version}" for venv in item.venvs for entry in venv.lists]
        families = ", ".join(
            f"{family.rpartition('/')[2]} {tasks}" for family, tasks in item.families.items()
        )
        yield (
            f"| {item.tasks} | `{item.name}` | {', '.join(lists) or 'nothing'} | {families} "
            f"| {item.predicted_yield:.3f} |"
        )


def _rule(curve: Curve, name: str, k: int) -> Any:
    return next(item for item in curve.comparisons[name] if item.k == k)


def _below(curve: Curve) -> list[str]:
    return [
        f"K={point.k} {name}"
        for point in curve.points
        for name in RULES
        if point.predicted_yield < _rule(curve, name, point.k).predicted_yield - 1e-9
    ]


def _spans(values: list[int]) -> str:
    if values == list(range(values[0], values[-1] + 1)):
        return f"every K from {values[0]} to {values[-1]}"
    return "K = " + ", ".join(map(str, values))


def _sweep() -> tuple[float, dict[str, bytes]]:
    folder = Path(tempfile.mkdtemp(prefix="envfold-"))
    try:
        started = time.perf_counter()
        _envfold("sweep", "swegym", "--max", str(_LARGEST), "--out", str(folder / "out"))
        seconds = time.perf_counter() - started
        return seconds, {path.name: path.read_bytes() for path in sorted((folder / "out").iterdir())}
    finally:
        shutil.rmtree(folder)


def _envfold(*arguments: str) -> bytes:
    return subprocess.run(
        [sys.executable, "-m", "partition", *arguments], stdout=subprocess.PIPE, check=True
    ).stdout


def _put_into_readme(text: str) -> None:
    before, _, rest = _README.read_text(encoding="utf-8").partition(_MARKS[0])
    _, _, after = rest.partition(_MARKS[1])
    _README.write_text(f"{before}{_MARKS[0]}\n{text}{_MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
