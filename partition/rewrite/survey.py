"""The first pass over a dataset: what each task is, and what all tasks of an environment begin with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from partition.environments.identity import identify
from partition.environments.snapshot import Generation
from partition.errors import Fault, InputError
from partition.rewrite.beginning import common
from partition.rewrite.handover import handed_over
from partition.rewrite.manifest import Keys
from partition.rewrite.refusal import Refused
from partition.rewrite.residual import AptNeeds, apt_needs, without_baked
from partition.rewrite.split import program_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partition.environments.census import Resources
    from partition.environments.identity import TaskIdentity
    from partition.plan.document import Environment
    from partition.rewrite.program import Program, Step
    from partition.tasks.model import Task, Tree
    from partition.tasks.piece import Piece

_MOST_PROGRAMS = 512


@dataclass(frozen=True, slots=True)
class Surveyed:
    """One task, without its files.

    Parameters
    ----------
    reasons
        Why it cannot be folded, as far as its Dockerfile alone says.
    program
        What it does beyond what its environment has, as `handed_over`; empty where it is not to be folded.
    """

    id: str
    where: str
    digest: str
    keys: Keys
    separate: int
    reasons: tuple[Fault, ...] = ()
    program: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What tasks of one environment have in common; gathering is associative.

    Parameters
    ----------
    tasks
        Number of tasks.
    beginning
        Steps that all of them begin with; None before the first.
    workdirs
        Folders that their containers start in.
    wishes
        Different resources that they ask for.
    apt
        What their own apt installations leave, taken together.
    """

    tasks: int = 0
    beginning: tuple[Step, ...] | None = None
    workdirs: frozenset[str] = frozenset()
    wishes: frozenset[Resources] = frozenset()
    apt: AptNeeds = field(default_factory=AptNeeds)

    def with_task(self, program: Program, apt: AptNeeds, resources: Resources) -> Gathered:
        """Return this and one task more."""
        return self.with_all(
            Gathered(
                tasks=1,
                beginning=program.steps,
                workdirs=frozenset({program.workdir}),
                wishes=frozenset({resources}),
                apt=apt,
            )
        )

    def with_all(self, other: Gathered) -> Gathered:
        """Return the union of two."""
        if not (self.tasks and other.tasks):
            return self if self.tasks else other
        assert other.beginning is not None  # noqa: S101 - it has tasks
        return Gathered(
            tasks=self.tasks + other.tasks,
            beginning=common(self.beginning, other.beginning),
            workdirs=self.workdirs | other.workdirs,
            wishes=self.wishes | other.wishes,
            apt=self.apt | other.apt,
        )


@dataclass(frozen=True, slots=True)
class ChunkSurvey:
    """What one chunk holds: a task or faults for each of its pieces, and what it adds to each environment."""

    items: tuple[Surveyed | tuple[Fault, ...], ...]
    gathered: dict[str, Gathered]


class Programs:
    """Reads Dockerfiles into programs; equal environments are read once.

    Parameters
    ----------
    environments
        The plan's, by name.
    """

    def __init__(self, environments: Mapping[str, Environment]) -> None:
        self._environments = environments
        self._known: dict[tuple[str, bytes, str | None], tuple[str, Program | Refused, AptNeeds, bytes]] = {}

    def of(self, task: Task, environment: str) -> tuple[Program | Refused, AptNeeds, bytes]:
        """Return what `task` does beyond what the environment has, and what its apt installations leave.

        Returns
        -------
        tuple
            The last is the first as `handed_over`.
        """
        key = (environment, _contents(task.environment), task.config.environment.workdir)
        if key not in self._known:
            program = program_of(task)
            needs, handed = AptNeeds(), b""
            if not isinstance(program, Refused):
                needs = apt_needs(program)
                program = without_baked(program, self._environments[environment])
                handed = handed_over(program, task)
            if len(self._known) >= _MOST_PROGRAMS:
                del self._known[next(iter(self._known))]
            self._known[key] = (task.where, program, needs, handed)
            return program, needs, handed
        where, program, needs, handed = self._known[key]
        if isinstance(program, Refused):
            return Refused(reasons=tuple(_moved(each, where, task) for each in program.reasons)), needs, b""
        return replace(program, where=program.where.replace(where, task.where, 1)), needs, handed


@dataclass(frozen=True)
class Survey:
    """The job of the first pass.

    Parameters
    ----------
    environments
        The plan's, by name.
    assignment
        Environment of each task to be folded.
    """

    environments: Mapping[str, Environment]
    assignment: Mapping[str, str]
    programs: Programs = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "programs", Programs(self.environments))

    def __call__(self, chunk: Sequence[Piece]) -> ChunkSurvey:
        """Look at every piece of a chunk."""
        items: list[Surveyed | tuple[Fault, ...]] = []
        gathered: dict[str, Gathered] = {}
        for piece in chunk:
            read = list(piece.read())
            faults = tuple(each for each in read if isinstance(each, Fault))
            items += [self._look(each, gathered) for each in read if not isinstance(each, Fault)] or [faults]
        return ChunkSurvey(tuple(items), gathered)

    def _look(self, task: Task, gathered: dict[str, Gathered]) -> Surveyed:
        keys, identity, wrong = keys_of(task)
        environment = self.assignment.get(task.id)
        reasons = list(wrong)
        handed = b""
        if environment is not None and not wrong:
            program, needs, handed = self._program(task, environment)
            reasons += program.reasons if isinstance(program, Refused) else _verifier(task, identity)
            if not isinstance(program, Refused) and not reasons:
                before = gathered.get(environment, Gathered())
                gathered[environment] = before.with_task(program, needs, task.config.environment.resources)
        return Surveyed(
            id=task.id,
            where=task.where,
            digest=task.digest,
            keys=keys,
            separate=len(keys.content) - 1,
            reasons=tuple(replace(each, task=task.id) for each in reasons),
            program=b"" if reasons else handed,
        )

    def _program(self, task: Task, environment: str) -> tuple[Program | Refused, AptNeeds, bytes]:
        try:
            return self.programs.of(task, environment)
        except InputError as error:
            reasons = error.faults or (Fault(where=task.where, what=error.message),)
            return Refused(reasons=reasons), AptNeeds(), b""


def keys_of(task: Task) -> tuple[Keys, TaskIdentity | None, tuple[Fault, ...]]:
    """Return the snapshot keys of a task by both generations, and why Harbor cannot load it."""
    try:
        identity = identify(task, generation=Generation.CONTENT)
    except InputError as error:
        return Keys(content=[None], legacy=[]), None, error.faults
    try:
        legacy = [use.key for use in identify(task, generation=Generation.LEGACY).uses]
    except InputError:
        legacy = []
    return Keys(content=[use.key for use in identity.uses], legacy=legacy), identity, ()


def _verifier(task: Task, identity: TaskIdentity | None) -> Iterable[Fault]:
    """Refuse a task whose verifier has a container of its own from the same folder, without set-up."""
    if identity is not None and any(use.folder == "environment" for use in identity.verifiers):
        yield Fault(
            where=f"{task.where}/task.toml",
            what="its verifier is a container of its own built from environment/, where no set-up would run",
            hint="give the verifier a tests/Dockerfile",
        )


def _contents(tree: Tree) -> bytes:
    """Return a digest of everything that a build can see."""
    digest = hashlib.sha256()
    for entry in tree.entries:
        digest.update(
            f"{entry.kind}\0{entry.path}\0{entry.mode:o}\0{entry.size}\0{entry.target}\0".encode(
                "utf-8", "surrogateescape"
            )
        )
        for chunk in entry.chunks():
            digest.update(chunk)
    return digest.digest()


def _moved(fault: Fault, before: str, task: Task) -> Fault:
    return replace(fault, where=fault.where.replace(before, task.where, 1), task=task.id)
