"""What ``envfold explain`` says: as text for a terminal, and as JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partition.environments.against import Verdict
from partition.report.wording import fault_document, page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from partition.environments.against import Comparison
    from partition.environments.drivers import DriverEffect, Explanation
    from partition.errors import Fault
    from partition.features.model import TaskFeatures

_SAYING = {
    Verdict.STALE: "stale: regenerating the artifact would do",
    Verdict.PATCHER: "patcher: the fresh rendering has (nearly) as many, so the patcher must change",
    Verdict.UNDECIDED: "undecided: fewer than two snapshots in common to compare",
}
_SETTINGS = ("env", "arg", "workdir", "user", "copied")
"""Sources that are no feature of their own."""


def explanation_document(explanation: Explanation, *, dataset: str) -> dict[str, Any]:
    """Return the explanation as plain data."""
    return {
        "dataset": dataset,
        "tasks": explanation.tasks,
        "explained": explanation.explained,
        "snapshots": explanation.snapshots,
        "unit": "distinct spec" if explanation.specs else "snapshot",
        "drivers": [_effect(each) for each in explanation.drivers],
        "apart": dict(explanation.apart),
        "faults": [fault_document(each) for each in explanation.faults],
    }


def comparison_document(comparison: Comparison, *, dataset: str, against: str) -> dict[str, Any]:
    """Return the comparison as plain data."""
    return {
        "dataset": dataset,
        "against": against,
        "verdict": comparison.verdict.value,
        "rule": "stale if 2 * fresh_snapshots <= artifact_snapshots over the common tasks, else patcher",
        "common": comparison.common,
        "identical": comparison.identical,
        "artifact_snapshots": comparison.artifact_snapshots,
        "fresh_snapshots": comparison.fresh_snapshots,
        "drivers": {driver.value: tasks for driver, tasks in comparison.drivers},
        "differences": [
            {
                "task": each.task,
                "drivers": [driver.value for driver in each.drivers],
                "where": each.where,
                "against": each.against,
            }
            for each in comparison.differences
        ],
        "only_artifact": list(comparison.only_artifact),
        "only_fresh": list(comparison.only_fresh),
        "faults": [fault_document(each) for each in comparison.faults],
    }


def features_document(features: TaskFeatures, notes: Sequence[Fault]) -> dict[str, Any]:
    """Return the features of one task as plain data, with the place that each came from."""
    return {
        "task": features.task,
        "base": features.base,
        "distribution": features.distribution,
        "release": features.release,
        "python": features.python,
        "apt": list(features.apt),
        "pip": list(features.pip),
        "conda": list(features.conda),
        "requirement_files": list(features.requirement_files),
        "other": list(features.other),
        "repo": features.repo,
        "version": features.version,
        "commit": features.commit,
        "family": features.family,
        "copied": [{"path": path, "bytes": size} for path, size in features.copied],
        "network_mode": features.network_mode,
        "resources": dict(zip(("cpus", "memory_mb", "storage_mb", "gpus"), features.resources, strict=True)),
        "created_at": features.created_at,
        "outcomes": [{"setting": setting, "outcome": outcome} for setting, outcome in features.outcomes],
        "refusal": features.refusal,
        "sources": [
            {"feature": feature, "value": value, "where": where} for feature, value, where in features.sources
        ],
        "notes": [fault_document(each) for each in notes],
    }


def render_explanation(explanation: Explanation) -> str:
    """Return the explanation as text within 80 columns."""
    unit = "distinct specs" if explanation.specs else "snapshots"
    lines = [f"{explanation.explained} tasks in {explanation.snapshots} {unit}"]
    if explanation.specs:
        lines.append("A spec table has no Dockerfiles: each distinct row counts as one environment.")
    lines += [f"  {count} left alone: {reason}" for reason, count in explanation.apart]
    lines += [
        "",
        f"{'driver':<30}{'values':>7}{'varying':>9}{'alone':>8}{'cumulative':>12}{'normalised':>12}",
    ]
    for effect in explanation.drivers:
        lines.append(
            f"{effect.driver.value:<30}{effect.values:>7}{effect.varying:>9}{effect.alone:>8}"
            f"{effect.cumulative:>12}{effect.normalised:>12}"
        )
    lines += [
        "",
        "values: different contributions; varying: not the commonest of them",
        f"alone: {unit} left if that driver alone were folded",
        "cumulative: left if it and all above it were folded",
        "normalised: the same, with comments and whitespace folded first",
    ]
    for effect in explanation.drivers:
        if effect.examples:
            lines += ["", effect.driver.value, *_examples(effect)]
    return page(lines)


def render_comparison(comparison: Comparison) -> str:
    """Return the comparison as text within 80 columns."""
    lines = [
        f"verdict: {_SAYING[comparison.verdict]}",
        "",
        f"{'tasks in both':<28}{comparison.common:>8}",
        f"{'  with the same snapshot':<28}{comparison.identical:>8}",
        f"{'only in the artifact':<28}{len(comparison.only_artifact):>8}",
        f"{'only in the fresh rendering':<28}{len(comparison.only_fresh):>8}",
        f"{'snapshots of the artifact':<28}{comparison.artifact_snapshots:>8}  over the tasks in both",
        f"{'snapshots when fresh':<28}{comparison.fresh_snapshots:>8}  over the tasks in both",
        "",
        "Stale means that the fresh rendering has at most half as many.",
    ]
    if comparison.drivers:
        lines += ["", "tasks that differ, by driver"]
        lines += [f"  {driver.value:<30}{tasks:>8}" for driver, tasks in comparison.drivers]
    for each in comparison.differences:
        lines += ["", f"{each.task}: {', '.join(driver.value for driver in each.drivers)}"]
        lines += [f"  {each.where}", f"  {each.against}"]
    return page(lines)


def render_features(features: TaskFeatures, notes: Sequence[Fault]) -> str:
    """Return the features of one task as text, each with the line that it came from."""
    lines = [features.task]
    places: dict[tuple[str, str], str] = {(name, value): where for name, value, where in features.sources}
    for name, value in _values(features):
        where = places.pop((name, value), "")
        lines.append(f"  {name:<18}{value}" + (f"  [{where}]" if where else ""))
    for (name, value), where in sorted(places.items()):
        if name in _SETTINGS:
            lines.append(f"  {name:<18}{value}  [{where}]")
    if notes:
        lines += ["", "notes", *(f"  {note}" for note in notes)]
    return "\n".join(lines)


def _values(features: TaskFeatures) -> Iterator[tuple[str, str]]:
    for name in ("base", "distribution", "release", "python", "repo", "version", "commit", "family"):
        value = getattr(features, name)
        if value:
            yield name, value
    for name in ("apt", "pip", "conda", "requirement_files", "other"):
        yield from ((name, value) for value in getattr(features, name))
    yield "network_mode", features.network_mode
    for name, amount in zip(("cpus", "memory_mb", "storage_mb", "gpus"), features.resources, strict=True):
        if amount is not None:
            yield name, str(amount)
    if features.created_at:
        yield "created_at", features.created_at
    yield from (("outcome", f"{setting}: {outcome}") for setting, outcome in features.outcomes)
    yield from (("copied file", f"{path} ({size} bytes)") for path, size in features.copied)
    if features.refusal:
        yield "refusal", features.refusal


def _examples(effect: DriverEffect) -> Iterable[str]:
    for each in effect.examples:
        yield f"  {each.text}"
        yield f"    {each.where}, in {each.snapshots} of them"


def _effect(effect: DriverEffect) -> dict[str, Any]:
    return {
        "driver": effect.driver.value,
        "values": effect.values,
        "varying": effect.varying,
        "alone": effect.alone,
        "cumulative": effect.cumulative,
        "normalised": effect.normalised,
        "examples": [
            {"where": each.where, "text": each.text, "snapshots": each.snapshots} for each in effect.examples
        ],
    }
