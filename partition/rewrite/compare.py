"""Compare a task with what was made of it, file by file: whatever differs must have a reason."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from partition.errors import Fault
from partition.rewrite.channel import added_path, without_channel
from partition.rewrite.resources import DEPRECATED, NAMES
from partition.tasks.assembly import CONFIG
from partition.tasks.config import document_of
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from partition.tasks.model import Entry, Tree

_ENVIRONMENT = "environment"
_HINT = "this is a bug in envfold: nothing was put in place"


def differences(source: Tree, written: Tree, *, task: str, where: str) -> list[Fault]:
    """Return how a task that keeps its environment differs from the source; it must not."""
    return [
        _fault(f"{where}/{path}", what, task) for path, what in _compare(source, written, lambda _: False)
    ]


def unexplained(
    source: Tree, written: Tree, environment: Tree, *, channel: str, task: str, where: str
) -> list[Fault]:
    """Return what differs between a task and its folded form and is not what folding changes.

    Parameters
    ----------
    source, written
        The whole task, before and after; `written` is read back from where it was put.
    environment
        The shared ``environment/``, which replaces the task's own.
    channel
        How set-up gets into the container: what it adds is taken away again before comparing.
    """
    found = list(_compare(environment, written.below(_ENVIRONMENT), lambda _: False))
    found = [(f"{_ENVIRONMENT}/{path}", what) for path, what in found]

    def is_explained(path: str) -> bool:
        return path == _ENVIRONMENT or path.startswith(f"{_ENVIRONMENT}/")

    for path, what in _compare(source, written, is_explained):
        before, after = source.get(path), written.get(path)
        if before is None and after is not None and added_path(path, channel):
            continue
        if before and after and _alike(before, after):
            if path == CONFIG:
                found += [(path, each) for each in _config(before.read(), after.read())]
                continue
            if without_channel(path, after.read()) == before.read():
                continue
        found.append((path, what))
    return [_fault(f"{where}/{path}", what, task) for path, what in found]


def _compare(source: Tree, written: Tree, is_explained: Any) -> Iterator[tuple[str, str]]:
    for path in sorted({*source.by_path, *written.by_path}):
        if is_explained(path):
            continue
        before, after = source.get(path), written.get(path)
        if after is None:
            yield path, "is lost"
        elif before is None:
            yield path, "was not there before"
        elif not _alike(before, after):
            yield path, f"was {_shown(before)} and is {_shown(after)}"
        elif before.kind is Kind.FILE and (before.size != after.size or before.read() != after.read()):
            yield path, "has other bytes"


def _alike(before: Entry, after: Entry) -> bool:
    """Return whether kind, permissions and target agree; a link's permissions mean nothing."""
    if before.kind is not after.kind or before.target != after.target:
        return False
    return before.kind is Kind.LINK or before.mode == after.mode


def _shown(entry: Entry) -> str:
    if entry.kind is Kind.LINK:
        return f"a link to {entry.target!r}"
    return f"a {entry.kind} of mode {entry.mode:o}"


def _config(before: bytes, after: bytes) -> Iterator[str]:
    """Yield what folding must not do to task.toml: only set-up, ENV, WORKDIR, USER and resources may come."""
    old, new = document_of(before), document_of(after)
    old_environment, new_environment = _table(old, _ENVIRONMENT), _table(new, _ENVIRONMENT)
    for name, value in _table(old_environment, "env").items():
        if _table(new_environment, "env").get(name) != value:
            yield f"environment.env.{name} was {value!r} and is no more"
    given = [(_ENVIRONMENT, "workdir"), ("agent", "user"), ("verifier", "user")]
    for table, name in given:
        value, now = _table(old, table).get(name), _table(new, table).get(name)
        if value is not None and now != value:
            yield f"{table}.{name} was {value!r} and is {now!r}"
    for name in NAMES:
        value, now = old_environment.get(name), new_environment.get(name)
        if value is not None and (now is None or now < value):
            yield f"environment.{name} was {value} and is {now}"
    if _kept(old) != _kept(new):
        yield "says something else than set-up, ENV, WORKDIR, USER and resources explain"


def _kept(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what folding does not touch."""
    kept = deepcopy(dict(document))
    folded = {
        _ENVIRONMENT: ("env", "workdir", "healthcheck", *NAMES, *DEPRECATED.values()),
        "agent": ("user",),
        "verifier": ("user",),
    }
    for table, names in folded.items():
        for name in names:
            _table(kept, table).pop(name, None)
        if kept.get(table) == {}:
            del kept[table]
    return kept


def _table(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a table of a document; an empty one where there is none, or something else."""
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _fault(where: str, what: str, task: str) -> Fault:
    return Fault(where=where, what=what, hint=_HINT, task=task)
