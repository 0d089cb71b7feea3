"""What an environment is, as far as its Dockerfile and build context tell: each fact with its line."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.attribution import Driver, drivers_of_units
from partition.environments.bases import Base, describe_image, find_release
from partition.environments.clones import clones_of, repository_of
from partition.environments.commands import calls_of, findings_of
from partition.environments.commands.findings import Kind
from partition.environments.commands.git import repo_of
from partition.environments.commands.python import version_of_package
from partition.environments.context import unseen_files
from partition.environments.copies import read_copy
from partition.environments.packages import PackageLists
from partition.environments.runs import script_of
from partition.environments.textfiles import TextFiles
from partition.errors import Fault

if TYPE_CHECKING:
    from partition.environments.clones import Clone
    from partition.environments.commands.findings import Call, Finding
    from partition.environments.copies import Copied
    from partition.environments.dockerfile import Dockerfile
    from partition.environments.script import Script
    from partition.environments.stages import Step
    from partition.tasks.model import Tree

_PYTHON_RANK = {
    "uv venv": 5, "uv sync": 5, "virtualenv": 5, "venv": 5,
    "conda": 4, "environment.yml": 4, "pyenv global": 4, "pyenv local": 4,
    "uv python": 3, "uv pip": 3, "pyenv install": 3,
    "base image": 2, "conda installer": 2,
    "apt": 1,
    "distribution": 0,
}  # fmt: skip
"""Who decides where several provide an interpreter: what was made last for the task before what was there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentFacts:
    """What an environment is made of.

    Parameters
    ----------
    where
        The Dockerfile, as messages name it.
    base
        The image that the final stage rests on, and what is known about it.
    python
        Minor version of the interpreter made for the task; None where nothing tells.
    apt, pip, conda, requirement_files, other
        As in `TaskFeatures`.
    clones
        In order.
    repository
        The clone that the task is about: the one at the final WORKDIR, else one with a checkout, else the
        first that is no well-known tool; None without any.
    copied
        Files that the image receives from the context and from heredocs.
    unseen
        Context paths that ``.dockerignore`` keeps out.
    environment
        ENV, sorted.
    workdir, user, shell
        In force at the end; `user` is None where the base image decides.
    entrypoint, command
        As written, or None.
    run
        (text, line) of what no other driver claims in RUN, normalised.
    sources
        (feature, value, place) of every value above.
    notes
        What is no reason to refuse the environment but may make its build or its tests fail.
    """

    where: str
    base: Base
    python: str | None = None
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    conda: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    clones: tuple[Clone, ...] = ()
    repository: Clone | None = None
    copied: tuple[Copied, ...] = ()
    unseen: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    workdir: str = "/"
    user: str | None = None
    shell: tuple[str, ...] = ()
    entrypoint: str | None = None
    command: str | None = None
    run: tuple[tuple[str, int], ...] = ()
    sources: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[Fault, ...] = ()


def read_facts(dockerfile: Dockerfile, tree: Tree) -> EnvironmentFacts:
    """Return the facts of the final stage and of those that it is built on.

    Parameters
    ----------
    dockerfile
        Its `where` is the prefix of every place.
    tree
        The build context.
    """
    return _Reading(dockerfile, tree).result()


class _Reading:
    def __init__(self, dockerfile: Dockerfile, tree: Tree) -> None:
        self.dockerfile = dockerfile
        self.where = dockerfile.where
        self.notes: list[Fault] = []
        self.sources: list[tuple[str, str, str]] = []
        self.base = describe_image(dockerfile.image)
        self.unseen = self.hidden(tree)
        hidden = frozenset(self.unseen)
        self.entries = [each for each in tree.entries if each.path not in hidden]
        self.texts = TextFiles(context=posixpath.dirname(self.where), by_path=tree.by_path)
        self.packages = PackageLists(self.texts)
        self.folders: set[str] = {"/"}
        self.copied: list[Copied] = []
        self.clones: list[Finding] = []
        self.checkouts: list[Finding] = []
        self.pythons: list[tuple[int, int, str, str]] = []
        self.run: list[tuple[str, int]] = []
        self.entrypoint: str | None = None
        self.command: str | None = None

    def result(self) -> EnvironmentFacts:
        self.about_base()
        self.about_unseen()
        for step in self.dockerfile.steps:
            self.step(step)
        end = self.dockerfile.final.end
        clones = clones_of(self.clones, self.checkouts)
        repository = repository_of(clones, end.workdir)
        python = self.python()
        packages = self.packages
        if repository is not None and repository.destination:
            packages.name_files_within(repository.destination)
        for name, values in packages.sources():
            self.sources += [(name, value, place) for value, place in values]
        if repository is not None:
            self.source("repo", repository.repo or repository.url, repository.line)
        self.source_of_commit(repository)
        return EnvironmentFacts(
            where=self.where,
            base=self.base,
            python=python,
            apt=packages.values("apt"),
            pip=packages.values("pip"),
            conda=packages.values("conda"),
            requirement_files=packages.values("requirement_files"),
            other=packages.values("other"),
            clones=clones,
            repository=repository,
            copied=tuple(self.copied),
            unseen=self.unseen,
            environment=tuple(sorted(end.environment.items())),
            workdir=end.workdir,
            user=end.user,
            shell=end.shell,
            entrypoint=self.entrypoint,
            command=self.command,
            run=tuple(self.run),
            sources=tuple(sorted(dict.fromkeys(self.sources))),
            notes=tuple(self.notes + self.packages.notes),
        )

    def about_base(self) -> None:
        base = self.base
        line = self.dockerfile.chain[0].line
        self.source("base", base.image, line)
        for name, value in (("distribution", base.distribution), ("release", base.release)):
            if value:
                self.source(name, value, line)
        if base.python:
            self.pythons.append((_PYTHON_RANK["base image"], 0, base.python, self.place(line)))
        facts = base.facts
        if facts is not None and facts.state:
            archived = facts.state == "archived"
            what = f"{base.distribution} {base.release} ended on {facts.ends}"
            self.note(
                line,
                what + (": its packages are gone from the mirrors, apt update fails" if archived else ""),
                "choose a base of a later release" if archived else "expect no more updates",
            )

    def about_unseen(self) -> None:
        if self.unseen:
            shown = ", ".join(self.unseen[:3]) + (", ..." if len(self.unseen) > 3 else "")
            where = f"{posixpath.dirname(self.where)}/.dockerignore"
            what = f"keeps from the image what is in the snapshot key ({len(self.unseen)}): {shown}"
            hint = "move them out of environment/ where tasks could share a snapshot without them"
            self.notes.append(Fault(where=where, what=what, hint=hint))

    def step(self, step: Step) -> None:
        match step.name:
            case "RUN":
                self.texts.mount(step)
                self.script(script_of(step))
            case "COPY" | "ADD":
                self.copy(step)
            case "WORKDIR" if step.words:
                self.folders.add(posixpath.normpath(posixpath.join(step.workdir, step.words[0])))
                self.source("workdir", step.words[0], step.line)
            case "ENTRYPOINT":
                self.entrypoint = _written(step)
            case "CMD":
                self.command = _written(step)
            case "USER" | "ENV" | "ARG":
                for word in step.words:
                    self.source(step.name.lower(), word, step.line)

    def copy(self, step: Step) -> None:
        result = read_copy(step, self.entries, folders=self.folders, escape=self.dockerfile.directives.escape)
        self.copied += result.files
        for each in result.files:
            self.folders.add(posixpath.dirname(each.destination))
            self.texts.add(each)
            self.sources.append(("copied", f"{each.source} -> {each.destination}", self.place(each.line)))
        for remote in result.remote:
            if repo_of(remote) and remote.partition("#")[0].endswith(".git"):
                self.packages.add_other(f"add-git:{remote}", self.place(step.line))
            else:
                self.packages.add_other(f"add-url:{remote}", self.place(step.line))
        for source in result.missing:
            self.note(
                step.line, f"{step.name} {source}: not in the build context", "the build will fail: add it"
            )
        if result.origin is not None and _is_stage(self.dockerfile, result.origin):
            what = f"{step.name} --from={result.origin}: what that stage built is not among the features"
            self.note(step.line, what, "install it in the final stage where it decides what a task needs")
        elif result.origin is not None:
            self.packages.add_other(f"image:{result.origin}", self.place(step.line))

    def script(self, script: Script) -> None:
        for line, what in script.problems:
            self.note(line, f"shell: {what}", "check the quotes and operators of this RUN")
        for driver, unit in zip(drivers_of_units(script.units), script.units, strict=True):
            if driver is Driver.RUN:
                self.run.append((" ".join(unit.tokens), unit.line))
        for call in calls_of(script.commands):
            self.texts.write(call.command)
            for finding in findings_of(call):
                self.finding(finding, call)

    def finding(self, finding: Finding, call: Call) -> None:
        if call.command.operator == "||" and finding.kind is not Kind.UNRESOLVED:
            return
        place = self.place(finding.line)
        match finding.kind:
            case Kind.CLONE:
                self.clones.append(finding)
            case Kind.CHECKOUT:
                self.checkouts.append(finding)
            case Kind.PYTHON:
                self.found_python(finding.value, finding.detail, place)
            case Kind.PIPED_SCRIPT:
                self.packages.add_other(f"script:{finding.value}", place)
            case Kind.UNCHECKED_DOWNLOAD:
                self.note(
                    finding.line,
                    f"curl saves {finding.value} without -f: an error page would be kept as the file",
                    "use curl -f",
                )
            case Kind.UNRESOLVED:
                self.note(
                    finding.line,
                    f"{finding.detail}: {finding.value} is known to a running shell only",
                    "write it out where it decides what is installed",
                )
            case _:
                self.packages.take(finding, place)
                for python, detail, where in self.packages.take_pythons():
                    self.found_python(python, detail, where)
        if finding.kind is Kind.APT:
            self.python_of_package(finding.value, place)

    def python_of_package(self, package: str, place: str) -> None:
        name = package.partition("=")[0]
        version = version_of_package(name)
        if version is not None:
            self.found_python(version, "apt", place)
        elif name in {
            "python3",
            "python3-pip",
            "python3-dev",
            "python3-venv",
            "python-is-python3",
            "python3-full",
        }:
            release = find_release(self.base.distribution, self.base.release)
            if release is not None and release.python:
                self.found_python(release.python, "distribution", place)

    def found_python(self, version: str, provider: str, place: str) -> None:
        self.pythons.append((_PYTHON_RANK.get(provider, 0), len(self.pythons), version, place))

    def python(self) -> str | None:
        if not self.pythons:
            return None
        _, _, version, place = max(self.pythons)
        self.sources.append(("python", version, place))
        return version

    def source_of_commit(self, repository: Clone | None) -> None:
        if repository is None or repository.commit is None:
            return
        line = next(each.line for each in reversed(self.checkouts) if each.value == repository.commit)
        self.source("commit", repository.commit, line)

    def hidden(self, tree: Tree) -> tuple[str, ...]:
        try:
            return tuple(path for path, _ in unseen_files([(each.path, each) for each in tree.files()]))
        except (ValueError, OSError) as error:
            where = f"{posixpath.dirname(self.where)}/.dockerignore"
            self.notes.append(
                Fault(where=where, what=str(error), hint="Docker refuses it: correct the pattern")
            )
            return ()

    def source(self, feature: str, value: str, line: int) -> None:
        self.sources.append((feature, value, self.place(line)))

    def place(self, line: int) -> str:
        return f"{self.where}:{line}"

    def note(self, line: int, what: str, hint: str) -> None:
        self.notes.append(Fault(where=self.place(line), what=what, hint=hint))


def _written(step: Step) -> str:
    return step.instruction.original.strip().partition(" ")[2].strip()


def _is_stage(dockerfile: Dockerfile, name: str) -> bool:
    return name.isdecimal() or any(stage.alias == name.lower() for stage in dockerfile.stages)
