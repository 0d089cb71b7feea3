"""A plan for people: what is built, what each environment bakes, who goes where."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from partition.report.wording import page, plural

if TYPE_CHECKING:
    from partition.plan.document import Environment, Plan


def plan_table(plan: Plan) -> str:
    """Return the plan as text that fits 80 columns."""
    prediction = plan.prediction
    new = sum(not item.exists for item in plan.environments)
    lines = [
        (
            f"{plural(prediction.tasks, 'task')} into {plural(len(plan.environments), 'environment')} "
            f"({new} new, at most {plan.limits.max_new})"
        ),
        (
            f"predicted oracle yield {prediction.predicted_yield:.3f} "
            f"(95 % {prediction.low:.3f}-{prediction.high:.3f}), ceiling {prediction.ceiling:.3f}"
        ),
        (
            f"{plan.status.lower()}: {plan.objective:.1f} expected passes, at most {plan.bound:.1f} "
            f"with these {plan.candidates:,} candidates"
        ),
        "",
        f"{'tasks':>6}  {'yield':>5}  {'~GB':>5}  {'python':<6}  environment",
    ]
    for item in plan.environments:
        mark = " (exists)" if item.exists else ""
        lines.append(
            f"{item.tasks:>6}  {item.predicted_yield:>5.3f}  {item.predicted_size_bytes / 1e9:>5.1f}  "
            f"{item.python or '?':<6}  {item.name}{mark}"
        )
        lines.append(f"{'':>29}{_families(item)}")
        lines.append(f"{'':>29}{_baked(item)}")
    if plan.refused:
        lines += ["", f"Not folded, and not in this count of environments: {len(plan.refused):,} tasks"]
        reasons = Counter(item.reason.partition(":")[0] for item in plan.refused)
        lines += [f"{count:>6}  {reason}" for reason, count in sorted(reasons.items(), key=_most_first)]
    return page(lines)


def _most_first(entry: tuple[str, int]) -> tuple[int, str]:
    return (-entry[1], entry[0])


def _families(item: Environment) -> str:
    names = [f"{family.rpartition('/')[2]} {tasks}" for family, tasks in item.families.items()]
    shown = ", ".join(names[:4])
    return shown + (f", {len(names) - 4} more" if len(names) > 4 else "")


def _baked(item: Environment) -> str:
    lists = [entry for venv in item.venvs for entry in venv.lists]
    packages = f"{len(item.apt)} system packages" if item.apt else "no system packages"
    if not lists:
        return f"{packages}, nothing baked"
    named = [f"{entry.family.rpartition('/')[2]} {entry.version}" for entry in lists if entry.repo]
    shown = named[:3] + ([f"{len(named) - 3} more"] if len(named) > 3 else [])
    if len(lists) > len(named):
        shown.append(plural(len(lists) - len(named), "package list"))
    return f"{packages}, bakes {', '.join(shown)}"
