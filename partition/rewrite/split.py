"""A task's Dockerfile as a program: the whole build of the final image, every value resolved.

What a started container cannot do, or not in the same way, is refused with the reason.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.environments.dockerfile import parse_dockerfile
from partition.environments.instruction import DockerfileError
from partition.errors import Fault
from partition.rewrite.placing import Placing, context_of, place
from partition.rewrite.program import Program
from partition.rewrite.refusal import Refused
from partition.rewrite.walker import Walk, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.rewrite.program import Step
    from partition.tasks.model import Task

_FILE = "environment/Dockerfile"


def program_of(task: Task) -> Program | Refused:
    """Return the build of the task's image, step by step, or every reason why it cannot be carried.

    Raises
    ------
    InputError
        A file of the task cannot be read any more.
    """
    where = f"{task.where}/{_FILE}"
    entry = task.environment.get("Dockerfile")
    if entry is None:
        what = "no Dockerfile: there is nothing to fold"
        return Refused(reasons=(Fault(where=where, what=what, task=task.id),))
    read = _read(entry.read())
    if isinstance(read, Refused):
        return _located(read.reasons, task, where)
    base, found = read
    steps: list[Step] = []
    faults = list(found.faults)
    workdir = found.workdir or task.config.environment.workdir
    if workdir is None:
        what = "the container starts in the base image's own WORKDIR, which is not known"
        faults.append(Fault(where="Dockerfile:1", what=what, hint="end with WORKDIR and an absolute path"))
    if any(isinstance(each, Placing) for each in found.steps):
        try:
            context = context_of(task.environment)
        except ValueError as error:
            hint = "Docker refuses it: correct the pattern"
            faults.append(Fault(where=".dockerignore", what=str(error), hint=hint))
            return _located(faults, task, where)
    for each in found.steps:
        if isinstance(each, Placing):
            puts, wrong = place(each, context)
            steps += puts
            faults += wrong
        else:
            steps.append(each)
    if faults:
        return _located(sorted(faults, key=_line), task, where)
    return Program(
        where=where,
        base=base,
        steps=(*steps, *found.volumes),
        environment=tuple(sorted(found.environment.items())),
        workdir=workdir or "/",
        user=found.user,
    )


def state_after(text: str) -> tuple[dict[str, str], str | None, str | None]:
    """Return variables, WORKDIR and USER behind a Dockerfile's last instruction, as far as they are known."""
    end = walk(parse_dockerfile(text, where="Dockerfile"))
    return {**end.known, **end.environment}, end.workdir, end.user


def _line(fault: Fault) -> int:
    return int(fault.where.rpartition(":")[2])


def _located(reasons: Sequence[Fault], task: Task, where: str) -> Refused:
    """Return the refusal with the task's own name in every place."""
    folder = where.rpartition("/")[0]
    return Refused(
        reasons=tuple(
            replace(
                each,
                where=where + each.where.removeprefix("Dockerfile")
                if each.where.startswith("Dockerfile")
                else f"{folder}/{each.where}",
                task=task.id,
            )
            for each in reasons
        )
    )


@lru_cache(maxsize=256)
def _read(data: bytes) -> tuple[str, Walk] | Refused:
    """Return the base image and what is done to it; the same text stands in many tasks."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what, hint = f"not UTF-8: byte 0x{data[error.start]:02x}", "save it as UTF-8"
        return Refused(reasons=(Fault(where=f"Dockerfile:{line}", what=what, hint=hint),))
    try:
        dockerfile = parse_dockerfile(text, where="Dockerfile")
    except DockerfileError as error:
        return Refused(reasons=error.faults)
    return dockerfile.image, walk(dockerfile)
