"""What the builds of several tasks have in common at their beginning."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.environments.commands import calls_of
from partition.environments.shell import parse_shell
from partition.rewrite.program import Program, Put, Run, State
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.rewrite.program import Step
    from partition.tasks.model import Entry

_INDIFFERENT = frozenset({"apt-get", "git", "mkdir"})
"""Programs to which a variable of a task's own, such as ``COMMIT``, means nothing."""
_MEANINGFUL = re.compile(
    r"(?i:.*_?proxy)|(APT|BASH|CURL|DEB|DPKG|GIT|LC|LD|PERL|PYTHON|SSH|SSL|SSLKEYLOG|TMP|XDG)[A-Z_]*\d*"
    r"|CDPATH|ENV|HOME|IFS|LANG|LANGUAGE|LOGNAME|PATH|POSIXLY_CORRECT|SHELL|TERM|TEMP|TZ|USER"
)


def common(first: Sequence[Step] | None, second: Program | Sequence[Step]) -> tuple[Step, ...]:
    """Return the longest common beginning; associative, so that a stream of programs can be folded.

    Parameters
    ----------
    first
        None before anything was seen.
    """
    steps = second.steps if isinstance(second, Program) else second
    if first is None:
        return tuple(steps)
    found: list[Step] = []
    for left, right in zip(first, steps, strict=False):
        step = _shared(left, right)
        if step is None:
            break
        found.append(step)
    return tuple(found)


def does(step: Step, shared: Step) -> bool:
    """Return whether `step` does what `shared` does, which may know fewer of the task's own variables."""
    found = _shared(step, shared)
    return found is not None and (
        not isinstance(found, Run) or not isinstance(shared, Run) or found.state == shared.state
    )


def _shared(left: Step, right: Step) -> Step | None:
    """Return the step that both are; variables that it does not see stay where both have them."""
    if isinstance(left, Run) and isinstance(right, Run):
        if _call(left) != _call(right):
            return None
        if left.state == right.state:
            return left
        state = _state(left.state, right.state)
        differing = set(left.state.environment) ^ set(right.state.environment)
        names = {name for name, _ in differing} | {*left.state.arguments} ^ {*right.state.arguments}
        return replace(left, state=state) if all(_is_ignored(name, left) for name in names) else None
    if isinstance(left, Put) and isinstance(right, Put):
        same = _place(left) == _place(right) and _same_entry(left.entry, right.entry)
        return left if same else None
    return left if type(left) is type(right) and left.source == right.source else None


def _state(left: State, right: State) -> State:
    both = {(*pair, pair[0] in left.arguments) for pair in left.environment}
    both &= {(*pair, pair[0] in right.arguments) for pair in right.environment}
    return replace(
        left,
        environment=tuple(sorted((name, value) for name, value, _ in both)),
        arguments=tuple(sorted(name for name, _, is_argument in both if is_argument)),
    )


def _is_ignored(name: str, step: Run) -> bool:
    text = step.argv[-1]
    return (
        step.script is None
        and _MEANINGFUL.fullmatch(name) is None
        and re.search(rf"\b{re.escape(name)}\b", text) is None
        and _is_indifferent(text)
    )


@lru_cache(maxsize=1024)
def _is_indifferent(text: str) -> bool:
    script = parse_shell(text)
    calls = list(calls_of(script.commands))
    return not script.problems and bool(calls) and all(call.program in _INDIFFERENT for call in calls)


def _call(step: Run) -> tuple[object, ...]:
    return (step.argv, step.script, step.caches, step.state.workdir, step.state.user)


def _place(step: Put) -> tuple[object, ...]:
    """Return where a Put puts what; the source's name counts where the target may be a folder."""
    name = step.entry.path.rpartition("/")[2] if step.entry.kind is Kind.FILE else ""
    return (step.path, step.mode, step.owner, step.unpack, name)


def _same_entry(left: Entry, right: Entry) -> bool:
    if (left.kind, left.size, left.target) != (right.kind, right.size, right.target):
        return False
    return left.kind is not Kind.FILE or left.read() == right.read()
