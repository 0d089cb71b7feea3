"""What must not happen silently to one task in one shared environment: refused, or noted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.bases import describe_image
from partition.environments.commands import findings_of
from partition.environments.commands.findings import Kind
from partition.environments.default_bases import PLAIN_KIND, is_official_python, kind_of
from partition.environments.renamed import gone_packages
from partition.environments.replacing import why_not
from partition.errors import Fault
from partition.rewrite.commands import calls_in
from partition.rewrite.forbidden import forbidden
from partition.rewrite.network import needs_network
from partition.rewrite.own_release import own_releases
from partition.rewrite.program import Put, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from partition.plan.document import Environment
    from partition.rewrite.program import Program, Step
    from partition.tasks.model import Task

_KEEPS = "the task keeps its own environment"
_ARCHIVES = re.compile(r"archive\.debian\.org|old-releases\.ubuntu\.com|snapshot\.debian\.org|vault\.centos")
_APT = re.compile(r"\b(?:apt|apt-get|aptitude)\s")
_INSTALLS = re.compile(r"\b(?:apt|apt-get|aptitude|yum|dnf)\s")
_SYSTEM = r"bin|boot|dev|etc|lib\w*|logs|media|mnt|proc|run|sbin|solution|sys|tests|tmp|usr|var"
"""Folders that every image has, or that Harbor fills."""
_PATH = re.compile(rf"(?<![\w/.:$}}<>~-])/(?!(?:{_SYSTEM})\b)\w[\w.+-]*(?<![.-])(?:/[\w.+-]*\w)*(?![\w-])")
_PIP_COMES = re.compile(r"python3?-pip|py3-pip|ensurepip|get-pip|conda|mamba|pyenv|venv|\buv\b|pipx")
_DOWNLOAD = re.compile(r"\bcurl\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mates:
    """What a task shares its environment with.

    Parameters
    ----------
    tasks
        Number of tasks that the plan puts there, this one included.
    families
        Their repository families, sorted.
    baked
        Build steps that all of them begin with, baked into the image.
    """

    tasks: int
    families: tuple[str, ...] = ()
    baked: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazards:
    """What was found.

    Parameters
    ----------
    refusals
        Each of these keeps the task in its own environment.
    notes
        What a reader of the manifest should know.
    """

    refusals: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One task in one environment; `program` is what is left for run time."""

    task: Task
    program: Program
    environment: Environment
    mates: Mates

    def fault(self, what: str, hint: str = _KEEPS, line: int | None = None) -> Fault:
        place = self.program.where if line is None else f"{self.program.where}:{line}"
        return Fault(where=place, what=what, hint=hint, task=self.task.id)

    @property
    def moved(self) -> bool:
        return self.program.base != self.environment.base

    @property
    def steps(self) -> tuple[Step, ...]:
        return (*self.mates.baked, *self.program.steps)


def hazards_of(task: Task, program: Program, environment: Environment, mates: Mates) -> Hazards:
    """Return what speaks against folding a task, every reason of it.

    Parameters
    ----------
    program
        What is left for run time.
    environment
        The plan's environment for it.
    """
    case = _Case(task=task, program=program, environment=environment, mates=mates)
    return Hazards(
        refusals=tuple(dict.fromkeys(fault for rule in REFUSING for fault in rule(case))),
        notes=tuple(dict.fromkeys(note for rule in NOTING for note in rule(case))),
    )


def _base(case: _Case) -> Iterator[Fault]:
    """Refuse a base that the shared one cannot stand in for."""
    why = why_not(case.program.base, case.environment.base)
    if why:
        place = f"{case.program.where}: FROM {case.program.base}"
        yield Fault(where=place, what=why, hint=_KEEPS, task=case.task.id)


def _network(case: _Case) -> Iterable[Fault]:
    """Refuse a task that may not reach the network and whose set-up needs it."""
    return () if case.task.config.environment.network_mode == "public" else needs_network(case.program)


def _forbidden(case: _Case) -> Iterable[Fault]:
    """Refuse a task that says that a package is absent which the image holds."""
    return forbidden(
        case.task, case.environment, case.mates.baked, case.program.where, base=case.program.base
    )


def _own_release(case: _Case) -> Iterable[Fault]:
    """Refuse a task that would find a later release of its own project."""
    return own_releases(case.task, case.environment, case.program.where)


def _no_apt(case: _Case) -> Iterator[Fault]:
    """Refuse apt on a base that has another package manager, or none."""
    manager = describe_image(case.environment.base).manager
    if not case.moved or manager == "apt":
        return
    for step in case.program.steps:
        if isinstance(step, Run) and _APT.search(step.source):
            has = f"has {manager}" if manager else "has no package manager that is known"
            yield case.fault(f"uses apt, and {case.environment.base} {has}", line=step.line)


def _no_bash(case: _Case) -> Iterator[Fault]:
    """Refuse steps for bash on a base that ships without it."""
    if not case.moved or not describe_image(case.environment.base).lacks_bash:
        return
    if "bash" in case.environment.apt or any(
        re.search(r"apk add.*\bbash\b", s.source, re.DOTALL) for s in case.steps
    ):
        return
    for step in case.program.steps:
        if isinstance(step, Run) and step.argv[0].rpartition("/")[2] == "bash":
            yield case.fault(f"runs bash, and {case.environment.base} has none", line=step.line)


def _renamed(case: _Case) -> Iterator[Fault]:
    """Refuse packages that the shared environment's release has under another name."""
    own, shared = describe_image(case.program.base), describe_image(case.environment.base)
    if (own.distribution, own.release) == (shared.distribution, shared.release):
        return
    gone = gone_packages(shared.distribution, shared.release)
    for step in case.program.steps if gone else ():
        for word in dict.fromkeys(re.findall(r"[a-z0-9][a-z0-9+.-]+", step.source)):
            if word in gone and _APT.search(step.source):
                what = f"installs {word}, which {shared.distribution} {shared.release} does not have"
                yield case.fault(what, f"there it is {gone[word]}", step.line)


def _no_pip(case: _Case) -> Iterator[Fault]:
    """Refuse pip on a base that has none."""
    base = case.environment.base
    if not case.moved or kind_of(base) != PLAIN_KIND or is_official_python(base):
        return
    before = [case.environment.dockerfile, *(step.source for step in case.mates.baked)]
    for step, call in calls_in(case.program):
        texts = [word.text for word in call.words]
        if call.program == "pip" or texts[1:3] == ["-m", "pip"]:
            earlier = (each.source for each in case.program.steps if each.line <= step.line)
            if not any(_PIP_COMES.search(text) for text in (*before, *earlier)):
                yield case.fault(f"uses pip, and {base} has none", line=step.line)


def _to_a_gone_release(case: _Case) -> Iterator[Fault]:
    """Refuse an image that cannot be built any more, and a move to a release without packages."""
    base = describe_image(case.environment.base)
    if not base.archived or case.environment.exists or base.facts is None:
        return
    gone = f"{base.distribution} {base.release} ended on {base.facts.ends} and is gone from the mirrors"
    dockerfile = case.environment.dockerfile
    if not describe_image(case.program.base).archived:
        yield case.fault(f"would be moved to a release without packages: {gone}")
    elif _INSTALLS.search(dockerfile) and not _ARCHIVES.search(dockerfile):
        what = f"the image of {case.environment.name} cannot be built, because it installs packages: {gone}"
        yield case.fault(what)


def _paths(case: _Case) -> Iterator[Fault]:
    """Refuse a task whose text names a path that only its own base can have held."""
    if not why_not(case.program.base, case.environment.base):
        # images that one another can stand in for hold nothing there
        return
    paths = (step.path for step in case.steps if isinstance(step, Put))
    made = "\n".join((case.environment.dockerfile, *(step.source for step in case.steps), *paths))
    workdir = case.program.workdir
    for entry in case.task.files.files():
        if entry.path != "instruction.md" and not entry.path.startswith(("tests/", "solution/")):
            continue
        text = entry.read().decode("utf-8", "replace")
        for match in _PATH.finditer(text):
            folder = "/".join(match[0].split("/")[:3])
            if folder not in made and not f"{workdir}/".startswith(f"{folder}/"):
                line = text.count("\n", 0, match.start()) + 1
                yield Fault(
                    where=f"{case.task.where}/{entry.path}:{line}",
                    what=f"names {match[0]}, which nothing makes on {case.environment.base}",
                    hint=_KEEPS,
                    task=case.task.id,
                )
                return


def _ended(case: _Case) -> Iterator[str]:
    """Note apt at run time on a release whose packages are gone."""
    base = describe_image(case.environment.base)
    if not base.archived or base.facts is None:
        return
    text = "\n".join(step.source for step in case.steps)
    if _INSTALLS.search(text) and not _ARCHIVES.search(text + case.environment.dockerfile):
        yield (
            f"{case.program.where}: uses {base.manager} on {base.distribution} {base.release}, which ended on"
            f" {base.facts.ends} and is gone from the mirrors"
        )


def _downloads(case: _Case) -> Iterator[str]:
    """Note files that may turn out to be an error page."""
    if not any(_DOWNLOAD.search(step.source) for step in case.program.steps):
        return
    for step, call in calls_in(case.program):
        if call.program == "curl":
            for each in findings_of(call):
                if each.kind is Kind.UNCHECKED_DOWNLOAD:
                    yield f"{case.program.where}:{step.line}: curl saves {each.value} without -f"


REFUSING: tuple[Callable[[_Case], Iterable[Fault]], ...] = (
    _base, _network, _forbidden, _own_release, _no_apt, _no_pip, _no_bash, _renamed, _to_a_gone_release,
    _paths,
)  # fmt: skip
"""Rules that refuse a task; each is asked."""

NOTING: tuple[Callable[[_Case], Iterable[str]], ...] = (_ended, _downloads)
"""Rules that note something."""
