"""How a task's set-up gets into its container, and what that changes in the task's files.

``healthcheck``
    ``[environment.healthcheck]`` of task.toml, which Harbor runs once after the container has started and
    before the agent.
``scripts``
    Called by ``solution/solve.sh`` and ``tests/test.sh``, and shown to the agent in ``instruction.md``.
``setup-files``
    ``setup_files/setup.sh``, which some forks of Harbor upload and run before the agent.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from partition.environments.identity import is_separate
from partition.errors import Fault
from partition.rewrite.carried import READ_FIRST, VARIABLES
from partition.rewrite.refusal import Refused
from partition.rewrite.script_edits import (
    SETUP_NAME,
    why_not_callable,
    with_call,
    with_section,
    without_call,
    without_section,
)
from partition.rewrite.secrets import removed_again
from partition.rewrite.task_config import UneditableError, edited
from partition.tasks.assembly import CONFIG, INSTRUCTION
from partition.tasks.config import document_of
from partition.tasks.model import Entry, Kind, Tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from partition.rewrite.program import Program
    from partition.rewrite.setup import Setup
    from partition.tasks.model import Task

PAYLOADS = "/opt/envfold/payload"
"""Folder of an image with the set-ups that do not fit a channel, each named by its SHA-256."""

LARGEST_COMMAND = 96 << 10
"""Bytes of a healthcheck command: Linux takes 128 KiB an argument, and sandboxes wrap the command."""

LARGEST_SHOWN = 64 << 10
"""Bytes of a set-up that an instruction shows: it is itself an argument, of most agents."""

SETUP_FOLDER = "setup_files"
SOLVE, TEST = "solution/solve.sh", "tests/test.sh"

_STATE = "/var/lib/envfold"
_RUN = f"{_STATE}/run"
_TIMEOUT = 1800.0
_ROOT = frozenset({"root", "0", "root:root", "0:0", "root:0", "0:root", ""})
_KEEPS = "the task keeps its own environment"


class Channel(StrEnum):
    """Where set-up is put."""

    HEALTHCHECK = "healthcheck"
    SCRIPTS = "scripts"
    SETUP_FILES = "setup-files"


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """A folded task.

    Parameters
    ----------
    files
        The task directory.
    payload
        What the image must hold as ``PAYLOADS/<SHA-256>``; None where the files hold all.
    notes
        What a reader should know, a sentence each.
    """

    files: Tree
    payload: bytes | None = None
    notes: tuple[str, ...] = ()


def payload_of(setup: Setup, channel: str) -> bytes | None:
    """Return what the image must hold for a set-up that does not fit the channel, or None."""
    match Channel(channel):
        case Channel.HEALTHCHECK:
            fits = len(setup.packed) <= LARGEST_COMMAND
        case Channel.SCRIPTS:
            fits = len(setup.payload) <= LARGEST_SHOWN
        case Channel.SETUP_FILES:
            fits = True
    return None if fits else setup.payload


def deliver(
    task: Task,
    setup: Setup,
    program: Program,
    shared: Tree,
    channel: str,
    *,
    provided: Collection[tuple[str, str]] = (),
    more: Mapping[tuple[str, ...], Any] = MappingProxyType({}),
    whole: Program | None = None,
) -> Delivered | Refused:
    """Return the task with the shared environment and its set-up in the channel.

    Parameters
    ----------
    program
        What its Dockerfile says about the running container: ENV, WORKDIR and USER.
    shared
        The new ``environment/``, payloads included.
    provided
        ENV that the shared image sets itself.
    more
        Further values of task.toml, by path.
    whole
        The program with what the shared image holds of it; `program` where that is nothing.

    Returns
    -------
    Delivered | Refused
        Refused with every reason why this task cannot be set up through this channel.
    """
    chosen = Channel(channel)
    entry = task.files.get(CONFIG)
    if entry is None:
        return Refused(reasons=(_fault(task, CONFIG, "is missing"),))
    data = entry.read()
    document = document_of(data)
    payload = payload_of(setup, chosen)
    faults = [*_refusals(task, setup, program, document, provided)]
    if chosen is Channel.SCRIPTS:
        faults += _refusals_of_scripts(task, setup, whole or program, document)
    elif chosen is Channel.SETUP_FILES:
        if task.config.steps:
            faults.append(_fault(task, CONFIG, "has steps, which only the healthcheck channel comes before"))
        if any(path.partition("/")[0] == SETUP_FOLDER for path in task.files.by_path):
            faults.append(_fault(task, SETUP_FOLDER, "is there already"))
    if faults:
        return Refused(reasons=tuple(faults))
    changes = {**dict(_changes(task, setup, program, document, provided)), **more}
    if chosen is Channel.HEALTHCHECK:
        changes |= _healthcheck(setup, payload, document)
    try:
        config = edited(data, changes)
    except UneditableError as error:
        return Refused(reasons=(_fault(task, CONFIG, str(error)),))
    new = {CONFIG: _file(CONFIG, config, entry.mode)}
    if chosen is Channel.SCRIPTS:
        new |= _scripts(task, setup, payload)
    elif chosen is Channel.SETUP_FILES:
        new |= _setup_files(setup)
    return Delivered(
        files=_replaced(task.files, shared, new), payload=payload, notes=tuple(_notes(task, chosen, payload))
    )


def added_path(path: str, channel: str) -> bool:
    """Return whether the channel adds a file or folder of this name."""
    match Channel(channel):
        case Channel.SCRIPTS:
            return path in {f"solution/{SETUP_NAME}", f"tests/{SETUP_NAME}"}
        case Channel.SETUP_FILES:
            return path in {SETUP_FOLDER, f"{SETUP_FOLDER}/setup.sh"}
        case Channel.HEALTHCHECK:
            return False


def without_channel(path: str, data: bytes) -> bytes:
    """Return the bytes of a file as they were before a channel changed them; task.toml is left alone."""
    if path in {SOLVE, TEST}:
        return without_call(data)
    return without_section(data) if path == INSTRUCTION else data


def is_root(user: str | int | None) -> bool:
    """Return whether USER names the superuser."""
    return user is None or str(user) in _ROOT


def _refusals(
    task: Task,
    setup: Setup,
    program: Program,
    document: Mapping[str, Any],
    provided: Collection[tuple[str, str]],
) -> Iterator[Fault]:
    own = _table(document, "environment", "env")
    if setup.later and READ_FIRST in own:
        names = ", ".join(name for name, _ in setup.later)
        yield _fault(task, CONFIG, f"sets {READ_FIRST}, and another file there must set {names}")
    for name, value in program.environment:
        if "$" in value and not (name in own or (name, value) in provided or (name, value) in setup.later):
            yield Fault(
                where=program.where,
                what=f"ENV {name} holds `$`, which Harbor and Compose would expand on the host",
                hint=_KEEPS,
                task=task.id,
            )
    if not is_root(program.user):
        if _table(document, "environment", "healthcheck"):
            yield _fault(task, CONFIG, f"its own healthcheck ran as {program.user}, and would run as root")
        hooks = _table(document, "verifier").get("collect")
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict) and "user" not in hook and hook.get("service", "main") == "main":
                yield _fault(task, CONFIG, f"a collect hook ran as {program.user}, and would run as root")


def _refusals_of_scripts(
    task: Task, setup: Setup, program: Program, document: Mapping[str, Any]
) -> Iterator[Fault]:
    if task.config.steps:
        yield _fault(task, CONFIG, "has steps, which only the healthcheck channel comes before")
    users = {
        "USER": program.user,
        "agent.user": _table(document, "agent").get("user"),
        "verifier.user": _table(document, "verifier").get("user"),
    }
    for name, user in users.items():
        if not is_root(user):
            yield _fault(
                task, CONFIG, f"{name} is {user}, and a set-up that scripts call runs as whoever calls it"
            )
    for path in _callers(task):
        script = task.files.by_path[path]
        why = "is no regular file" if script.kind is not Kind.FILE else why_not_callable(script.read())
        if why:
            yield _fault(task, path, why)
    for folder in ("solution", "tests"):
        if task.files.get(f"{folder}/{SETUP_NAME}") is not None:
            yield _fault(task, f"{folder}/{SETUP_NAME}", "is there already")
    entry = task.files.get(INSTRUCTION)
    if entry is None or entry.kind is not Kind.FILE:
        yield _fault(task, INSTRUCTION, "is no regular file, and set-up could not be shown in it")
    if any("\udc80" <= character <= "\udcff" for character in setup.script):
        yield Fault(where=program.where, what="holds bytes that are not UTF-8", hint=_KEEPS, task=task.id)
    for fault in removed_again(program):
        hint = "the agent would read it in the set-up; use the healthcheck channel"
        yield replace(fault, hint=hint, task=task.id)


def _callers(task: Task) -> Iterator[str]:
    """Yield the scripts that run in the container that is set up."""
    for path in (SOLVE, TEST):
        if task.files.get(path) is not None and not (path == TEST and is_separate(task.config, None)):
            yield path


def _changes(
    task: Task,
    setup: Setup,
    program: Program,
    document: Mapping[str, Any],
    provided: Collection[tuple[str, str]],
) -> Iterator[tuple[tuple[str, ...], Any]]:
    if "workdir" not in _table(document, "environment"):
        yield ("environment", "workdir"), program.workdir
    own = _table(document, "environment", "env")
    given = {*provided, *setup.later}
    for name, value in program.environment:
        if name not in own and (name, value) not in given:
            yield ("environment", "env", name), value
    if setup.later:
        yield ("environment", "env", READ_FIRST), VARIABLES
    if is_root(program.user):
        return
    if "user" not in _table(document, "agent"):
        yield ("agent", "user"), program.user
    steps = task.config.steps or (None,)
    shares = any(not is_separate(task.config, step) for step in steps)
    if shares and "user" not in _table(document, "verifier"):
        yield ("verifier", "user"), program.user


def _healthcheck(
    setup: Setup, payload: bytes | None, document: Mapping[str, Any]
) -> Iterable[tuple[tuple[str, ...], Any]]:
    path = ("environment", "healthcheck")
    own = _table(document, *path)
    timeout = max(_TIMEOUT, _seconds(_table(document, "environment").get("build_timeout_sec")))
    command = _launch(setup, payload)
    if not own:
        return (((*path, "command"), command), ((*path, "timeout_sec"), timeout), ((*path, "retries"), 1))
    # a set-up that is done, or has failed, ends at once when a retry runs it again
    both = f"{{ {command}; }} || exit $?\n{own['command']}"
    return (
        ((*path, "command"), both),
        ((*path, "timeout_sec"), max(timeout, _seconds(own.get("timeout_sec")))),
    )


def _table(document: Mapping[str, Any], *path: str) -> Mapping[str, Any]:
    """Return a table of the document; empty where there is none, or something else."""
    for name in path:
        value = document.get(name)
        document = value if isinstance(value, dict) else {}
    return document


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else 0.0


def _launch(setup: Setup, payload: bytes | None) -> str:
    """Return the command that runs the set-up, unless it is done."""
    if payload is not None:
        start = f"sh {PAYLOADS}/{hashlib.sha256(payload).hexdigest()}"
    else:
        unpack = f"printf %s {setup.packed} | base64 -d | gzip -dc >{_RUN}/setup"
        start = f"(umask 077 && mkdir -p {_RUN}) && {unpack} && sh {_RUN}/setup"
    return f'if [ "$(cat {_STATE}/done 2>/dev/null)" != {setup.digest} ]; then {start}; fi'


def _scripts(task: Task, setup: Setup, payload: bytes | None) -> dict[str, Entry]:
    script = setup.script if payload is None else f"#!/bin/sh\n{_launch(setup, payload)}\n"
    new: dict[str, Entry] = {}
    for path in _callers(task):
        entry = task.files.by_path[path]
        new[path] = _file(path, with_call(entry.read(), read=bool(setup.later)), entry.mode)
        beside = f"{path.rpartition('/')[0]}/{SETUP_NAME}"
        new[beside] = _file(beside, script.encode(), 0o755)
    entry = task.files.by_path[INSTRUCTION]
    shown = script if payload is None else _launch(setup, payload)
    section = with_section(entry.read(), shown, read=bool(setup.later))
    new[INSTRUCTION] = _file(INSTRUCTION, section, entry.mode)
    return new


def _setup_files(setup: Setup) -> dict[str, Entry]:
    path = f"{SETUP_FOLDER}/setup.sh"
    # the fork has put this file into the container, where the agent would find it
    first, _, rest = setup.script.partition("\n")
    script = f"{first}\ntrap 'rm -f -- \"$0\"' EXIT\n{rest}"
    return {
        SETUP_FOLDER: Entry(path=SETUP_FOLDER, kind=Kind.DIRECTORY, mode=0o755),
        path: _file(path, script.encode("utf-8", "surrogateescape"), 0o755),
    }


def _notes(task: Task, channel: Channel, payload: bytes | None) -> Iterator[str]:
    for path in (SOLVE, TEST):
        entry = task.files.get(path)
        if entry is not None and entry.kind is Kind.FILE and b"\r\n" in entry.read():
            yield f"{path} has carriage returns: it fails in a Linux container, folded or not"
    if channel is Channel.SCRIPTS and payload is not None:
        yield (
            "its set-up is too long to be shown and lies in the image, where agents of the environment's "
            "other tasks can read it until they have run their own"
        )


def _replaced(files: Tree, shared: Tree, new: Mapping[str, Entry]) -> Tree:
    entries = {
        path: entry for path, entry in files.by_path.items() if path.partition("/")[0] != "environment"
    }
    folder = files.get("environment")
    if folder is None or folder.kind is not Kind.DIRECTORY:
        folder = Entry(path="environment", kind=Kind.DIRECTORY, mode=0o755)
    entries["environment"] = folder
    for entry in shared.entries:
        path = f"environment/{entry.path}"
        entries[path] = replace(entry, path=path)
    entries |= new
    return Tree(tuple(entries[path] for path in sorted(entries)), name=files.name)


def _file(path: str, data: bytes, mode: int) -> Entry:
    return Entry(path=path, source=data, size=len(data), mode=mode)


def _fault(task: Task, path: str, what: str) -> Fault:
    return Fault(where=f"{task.where}/{path}", what=what, hint=_KEEPS, task=task.id)
