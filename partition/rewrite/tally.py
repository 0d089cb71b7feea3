"""Count the snapshots before and after from the tasks' keys, and hold what was written against the caps."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partition.environments.snapshot import snapshot_name
from partition.errors import CapExceededError
from partition.rewrite.manifest import Counts

if TYPE_CHECKING:
    from partition.plan.limits import Limits
    from partition.rewrite.manifest import Keys, TaskRecord


@dataclass(slots=True)
class Snapshots:
    """Distinct snapshots of tasks, as `envfold count` counts them."""

    environments: set[str] = field(default_factory=set)
    verifiers: set[str] = field(default_factory=set)
    legacy: set[str] = field(default_factory=set)

    def add(self, keys: Keys) -> None:
        """Count one task."""
        agent, *verifiers = keys.content
        self.environments.update(snapshot_name(key) for key in (agent,) if key)
        self.verifiers.update(snapshot_name(key) for key in verifiers if key)
        self.legacy.update(snapshot_name(key) for key in keys.legacy if key)

    @property
    def all(self) -> set[str]:
        """Return the names by the content key."""
        return self.environments | self.verifiers

    def counts(self) -> Counts:
        """Return the numbers."""
        return Counts(
            snapshots=len(self.all),
            of_environments=len(self.environments),
            of_verifiers=len(self.verifiers - self.environments),
            legacy=len(self.legacy),
        )


_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Refusals:
    """Tasks that are not folded for one reason."""

    reason: str
    tasks: int
    examples: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """What was written, counted from the records of its parts."""

    before: Snapshots = field(default_factory=Snapshots)
    after: Snapshots = field(default_factory=Snapshots)
    shared: set[str] = field(default_factory=set)
    tasks: int = 0
    folded: Counter[str] = field(default_factory=Counter)
    legacy: dict[str, str] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    """Snapshot of a refused task -> its first reason."""
    reasons: dict[str, list[str]] = field(default_factory=dict)
    """First reason -> the first tasks refused for it."""
    numbers: Counter[str] = field(default_factory=Counter)

    def add(self, record: TaskRecord) -> None:
        """Count one task."""
        self.tasks += 1
        self.before.add(record.old)
        self.after.add(record.new)
        agent = record.new.content[0]
        if record.environment is not None:
            self.folded[record.environment] += 1
            if agent is not None:
                self.shared.add(snapshot_name(agent))
            return
        reason = record.refused[0].what
        self.numbers[reason] += 1
        if self.numbers[reason] <= _EXAMPLES:
            self.reasons.setdefault(reason, []).append(record.task)
        if agent is not None:
            self.own.setdefault(snapshot_name(agent), reason)

    @property
    def refusals(self) -> tuple[Refusals, ...]:
        """Return the refused tasks by reason, most first."""
        return tuple(
            Refusals(reason, count, tuple(self.reasons[reason]))
            for reason, count in sorted(self.numbers.items(), key=_most_first)
        )

    @property
    def refused(self) -> int:
        """Return the number of tasks that keep their own environment."""
        return self.tasks - self.folded.total()

    @property
    def fixed(self) -> set[str]:
        """Return the snapshots that no plan can save: refused tasks' own, and separate verifiers'."""
        return self.after.all - self.shared

    def excess(self, limits: Limits, existing: frozenset[str]) -> str:
        """Return in words which cap does not hold; empty where all hold."""
        names = self.after.all
        new = len(names - existing)
        if new > limits.max_new:
            return f"{new:,} new snapshots, and {limits.max_new} are allowed"
        if limits.max_total is not None and len(names) > limits.max_total:
            return f"{len(names):,} snapshots in all, and {limits.max_total} are allowed"
        return ""

    def cap_exceeded(self, excess: str) -> CapExceededError:
        """Return the error that names what takes the places."""
        verifiers = self.after.verifiers - self.after.environments
        parts = [
            f"{len(self.shared):,} shared",
            f"{len(self.own.keys() - self.shared):,} of tasks not folded",
        ]
        if verifiers:
            parts.append(f"{len(verifiers):,} of separate verifiers")
        reasons = Counter(self.own.values())
        lines = [f"{count:,}: {reason}" for reason, count in sorted(reasons.items(), key=_most_first)[:5]]
        if len(reasons) > len(lines):
            lines.append(f"and {len(reasons) - len(lines):,} other reasons")
        hint = "nothing was put in place; raise --max-environments, or leave tasks out of the dataset"
        if lines:
            hint = "\n".join(("tasks not folded, by snapshots and reason:", *lines, hint))
        return CapExceededError(f"{excess}: {', '.join(parts)}", hint=hint)


def _most_first(entry: tuple[str, int]) -> tuple[int, str]:
    return (-entry[1], entry[0])
