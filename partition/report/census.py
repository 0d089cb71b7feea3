"""What ``envfold count`` says: as text for a terminal, and as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partition.report.wording import fault_document, page, plural, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from partition.environments.caps import CapCheck
    from partition.environments.count import CountResult, Finding, ResourceUse

_SHOWN = 5


def count_document(
    result: CountResult,
    *,
    dataset: str,
    target: str | None,
    existing: frozenset[str],
    caps: Sequence[CapCheck],
) -> dict[str, Any]:
    """Return the result as plain data, keys in the order a reader wants them."""
    snapshots = frozenset(result.snapshots)
    return {
        "dataset": dataset,
        "tasks": result.tasks,
        "specs": result.specs,
        "uncounted": result.uncounted,
        "snapshots": len(snapshots),
        "key": result.key.value,
        "target": target,
        "environment_snapshots": result.environment_snapshots,
        "verifier_snapshots": result.verifier_snapshots,
        "separate_verifiers": result.separate_verifiers,
        "existing_snapshots": len(snapshots & existing),
        "new_snapshots": len(snapshots - existing),
        "unfoldable": [{"task": each.task, "reason": each.reason.value} for each in result.unfoldable],
        "resource_collisions": [
            {
                "snapshot": each.snapshot,
                "tasks": each.tasks,
                "resources": [
                    {
                        "cpus": wish.cpus,
                        "memory_mb": wish.memory_mb,
                        "storage_mb": wish.storage_mb,
                        "gpus": wish.gpus,
                        "tasks": wish.tasks,
                        "example": wish.example,
                    }
                    for wish in each.resources
                ],
            }
            for each in result.resource_collisions
        ],
        "false_duplicates_saved": result.false_duplicates_saved,
        "false_duplicates": {difference.value: saved for difference, saved in result.false_duplicates},
        "false_duplicate_examples": [
            {"task": each.task, "same_as": each.same_as, "difference": each.difference.value}
            for each in result.false_duplicate_examples
        ],
        "largest": [
            {
                "snapshot": each.snapshot,
                "role": each.role.value,
                "tasks": each.tasks,
                "example": each.example,
            }
            for each in result.largest
        ],
        "scripts_with_carriage_returns": _finding(result.broken_scripts, "tasks"),
        "unseen_context": _finding(result.unseen_context, "snapshots"),
        "caps": [
            {
                "preset": cap.preset,
                "cap": cap.cap,
                "limit": cap.limit,
                "value": cap.value,
                "holds": cap.holds,
                "enforced": cap.enforced,
            }
            for cap in caps
        ],
        "faults": [fault_document(fault) for fault in result.faults],
    }


def render_count(result: CountResult, *, existing: frozenset[str], caps: Sequence[CapCheck]) -> str:
    """Return the result as text within 80 columns, names of tasks shortened where they must be."""
    lines = [
        *_numbers(result, existing),
        *_unfoldable(result),
        *_largest(result),
        *_duplicates(result),
        *_collisions(result),
        *_findings(result),
        *_caps(caps),
    ]
    return page(lines)


def _numbers(result: CountResult, existing: frozenset[str]) -> Iterable[str]:
    snapshots = frozenset(result.snapshots)
    yield _row("tasks", result.tasks)
    if result.uncounted:
        yield _row("not counted (at fault)", result.uncounted)
    if result.specs:
        yield "A spec table has no Dockerfiles: each distinct row counts as one environment."
    yield _row("snapshots", len(snapshots), f"{result.key.value} key")
    yield _row("  of environments", result.environment_snapshots)
    apart = f"{plural(result.separate_verifiers, 'task')} with one" if result.separate_verifiers else ""
    yield _row("  of verifiers alone", result.verifier_snapshots, apart)
    if existing:
        yield _row("  already there", len(snapshots & existing))
        yield _row("  to build", len(snapshots - existing))
    yield _row("saved by normalising", result.false_duplicates_saved)


def _unfoldable(result: CountResult) -> Iterable[str]:
    if not result.unfoldable:
        return
    reasons: dict[str, list[str]] = {}
    for each in result.unfoldable:
        reasons.setdefault(each.reason.value, []).append(each.task)
    yield from ("", "Left alone, without a snapshot of their own")
    for reason, tasks in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        yield _row(f"  {reason}", len(tasks), f"e.g. {tasks[0]}")


def _largest(result: CountResult) -> Iterable[str]:
    shared = [group for group in result.largest if group.tasks > 1]
    if not shared:
        return
    yield from ("", "Snapshots with the most tasks")
    for group in shared[:_SHOWN]:
        role = "" if group.role.value == "environment" else " (verifier)"
        yield _row(f"  {shorten(group.snapshot, 32)}", group.tasks, f"e.g. {group.example}{role}")


def _duplicates(result: CountResult) -> Iterable[str]:
    if not result.false_duplicates_saved:
        return
    yield from ("", "False duplicates: snapshots that differ only by")
    for difference, saved in result.false_duplicates:
        if saved:
            yield _row(f"  {difference.value}", saved)
    for each in result.false_duplicate_examples[:_SHOWN]:
        yield f"  {shorten(each.task, 28)} = {shorten(each.same_as, 28)}: {each.difference.value}"


def _collisions(result: CountResult) -> Iterable[str]:
    if not result.resource_collisions:
        return
    number = len(result.resource_collisions)
    yield from ("", f"Resource collisions: {plural(number, 'snapshot')} asked for with different resources")
    for collision in result.resource_collisions[:_SHOWN]:
        yield f"  {collision.snapshot}: whoever builds it first decides"
        for wish in collision.resources[:_SHOWN]:
            yield _row(f"    {_resources(wish)}", wish.tasks, f"e.g. {wish.example}")
    if number > _SHOWN:
        yield f"  ... and {number - _SHOWN} more (--json has all)"


def _findings(result: CountResult) -> Iterable[str]:
    scripts, unseen = result.broken_scripts, result.unseen_context
    if scripts.count:
        yield from ("", "Scripts with carriage returns, which no shell runs")
        yield _row("  tasks", scripts.count, plural(scripts.files, "file"))
        yield from (f"  {shorten(task, 38)}: {path}" for task, path in scripts.examples[:_SHOWN])
    if unseen.count:
        yield from ("", "In the key, but .dockerignore keeps it from the image")
        files = f"{plural(unseen.files, 'file')}, {unseen.size:,} bytes"
        yield _row("  snapshots", unseen.count, files)
        yield from (f"  {shorten(task, 38)}: {path}" for task, path in unseen.examples[:_SHOWN])


def _caps(caps: Sequence[CapCheck]) -> Iterable[str]:
    if not caps:
        return
    yield from ("", "Caps")
    for cap in caps:
        verdict = "holds" if cap.holds else "EXCEEDED" if cap.enforced else "would not hold"
        yield f"  {cap.preset:<11} {cap.cap:<32} {cap.value:>7} of {cap.limit:<7} {verdict}"


def _finding(finding: Finding, noun: str) -> dict[str, Any]:
    return {
        noun: finding.count,
        "files": finding.files,
        "bytes": finding.size,
        "examples": [{"task": task, "path": path} for task, path in finding.examples],
    }


def _row(name: str, number: int, note: str = "") -> str:
    return f"{name:<34}{number:>8}  {note}".rstrip()


def _resources(wish: ResourceUse) -> str:
    wishes = {
        "cpus": wish.cpus,
        "MiB memory": wish.memory_mb,
        "MiB disk": wish.storage_mb,
        "gpus": wish.gpus,
    }
    named = [f"{value:g} {unit}" for unit, value in wishes.items() if value is not None]
    return ", ".join(named) or "the provider's default"
