"""What ``envfold rewrite`` says: before and after, what was folded, what was not and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partition.report.wording import page, plural, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from partition.rewrite.manifest import Summary, WrittenEnvironment
    from partition.rewrite.tally import Refusals

_SHOWN = 8


def rewrite_document(summary: Summary, refusals: Sequence[Refusals]) -> dict[str, Any]:
    """Return the summary as plain data, with the refusals by reason; the tasks are in the manifest."""
    document: dict[str, Any] = summary.model_dump(mode="json")
    document["refusals"] = [
        {"reason": each.reason, "tasks": each.tasks, "examples": list(each.examples)} for each in refusals
    ]
    return document


def rewrite_table(summary: Summary, refusals: Sequence[Refusals]) -> str:
    """Return the summary as text within 80 columns."""
    return page(
        [
            *_numbers(summary),
            *_environments(summary.environments),
            *_refusals(refusals),
            *_plan(summary),
            *_notes(summary),
        ]
    )


def _numbers(summary: Summary) -> Iterator[str]:
    yield f"{plural(summary.tasks_written, 'task')} written to {summary.output}"
    yield ""
    yield f"{'':<26}{'before':>10}{'after':>10}"
    before, after = summary.before, summary.after
    rows = (
        ("snapshots", before.snapshots, after.snapshots),
        ("  of environments", before.of_environments, after.of_environments),
        ("  of verifiers alone", before.of_verifiers, after.of_verifiers),
        ("by the legacy key", before.legacy, after.legacy),
    )
    yield from (f"{name:<26}{old:>10,}{new:>10,}" for name, old, new in rows)
    yield f"{'allowed':<26}{'':>10}{summary.cap:>10,}{_preset(summary)}"
    yield ""
    yield f"{summary.folded:,} folded, set up by {summary.channel}; {summary.refused:,} as they were"
    yield "every task read back and compared with its source: nothing else differs"
    if summary.source.faults:
        yield f"{plural(len(summary.source.faults), 'fault')} in the source: those tasks are left out"


def _preset(summary: Summary) -> str:
    return f"  ({summary.preset})" if summary.preset else ""


def _environments(environments: Sequence[WrittenEnvironment]) -> Iterator[str]:
    if not environments:
        return
    yield ""
    yield f"{'tasks':>6}  {'baked':>5}  {'snapshot':<30}  environment"
    for each in sorted(environments, key=lambda item: (-item.tasks, item.name)):
        yield f"{each.tasks:>6}  {each.baked_steps:>5}  {each.snapshot:<30}  {each.name}"
    yield "baked: build steps that all tasks of the environment begin with"


def _refusals(refusals: Sequence[Refusals]) -> Iterator[str]:
    if not refusals:
        return
    yield ""
    yield "Not folded: these keep their own environment"
    for each in refusals[:_SHOWN]:
        yield f"{each.tasks:>6}  {each.reason}"
        yield f"{'':>8}e.g. {shorten(', '.join(each.examples), 66)}"
    if len(refusals) > _SHOWN:
        yield f"        and {len(refusals) - _SHOWN} more reasons (the manifest has all)"


def _plan(summary: Summary) -> Iterator[str]:
    if not summary.changes_of_plan:
        return
    yield ""
    yield "The plan was solved again, for what refused tasks leave of the cap"
    yield from (f"  {each}" for each in summary.changes_of_plan[:_SHOWN])
    if len(summary.changes_of_plan) > _SHOWN:
        yield f"  and {len(summary.changes_of_plan) - _SHOWN} more changes (the manifest has all)"


def _notes(summary: Summary) -> Iterable[str]:
    if not summary.notes:
        return
    yield ""
    yield "Notes"
    yield from (f"  {each}" for each in summary.notes[:_SHOWN])
    if len(summary.notes) > _SHOWN:
        yield f"  and {len(summary.notes) - _SHOWN} more (the manifest has all)"
