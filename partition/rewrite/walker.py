"""Docker's state, instruction by instruction: what every step of a build depends on.

Follows ``frontend/dockerfile/dockerfile2llb/convert.go`` of github.com/moby/buildkit.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.attribution import Driver, drivers_of_units
from partition.environments.runs import script_of
from partition.environments.stages import DEFAULT_SHELL, PLATFORM
from partition.environments.syntax import expand_text, expand_word, heredoc_name
from partition.errors import Fault
from partition.rewrite.base_variables import DEFAULT_PATH, base_variables
from partition.rewrite.executed import executed
from partition.rewrite.mounts import read_mounts
from partition.rewrite.placing import Placing, is_remote, owner_of
from partition.rewrite.program import Fixed, Put, Run, State, Step
from partition.rewrite.quoting import json_words
from partition.rewrite.supervisors import is_idle
from partition.rewrite.variables import PLATFORM_ARGS, Unquoted, Variables, global_arguments
from partition.tasks.model import Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partition.environments.dockerfile import Dockerfile
    from partition.environments.instruction import Heredoc, Instruction
    from partition.environments.stages import Stage
    from partition.environments.stages import Step as Written

_WITHOUT_EFFECT = frozenset({"CMD", "EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "STOPSIGNAL"})
_OWN_FRONTENDS = ("docker/dockerfile", "docker.io/docker/dockerfile")


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What a Dockerfile does, whatever files stand beside it.

    Parameters
    ----------
    steps
        In order; COPY and ADD are not yet placed.
    volumes
        Folders of VOLUME.
    known
        Variables of the base image whose values are known.
    environment, workdir, user
        In force in the end; `workdir` is None where only the base image could tell.
    faults
        What cannot be carried, with lines of ``Dockerfile``.
    """

    steps: tuple[Step | Placing, ...]
    volumes: tuple[Put, ...]
    known: Mapping[str, str]
    environment: Mapping[str, str]
    workdir: str | None
    user: str | None
    faults: tuple[Fault, ...]


def walk(dockerfile: Dockerfile) -> Walk:
    """Return what the final stage's chain does to the image that it rests on."""
    return _Walker(dockerfile).result()


class _Walker:
    """Walks a final stage's chain with Docker's state."""

    def __init__(self, dockerfile: Dockerfile) -> None:
        self.escape = dockerfile.directives.escape
        self.base = base_variables(dockerfile.image)
        self.known = dict(self.base.values)
        self.variables = Variables(self.known, self.base)
        self.environment: dict[str, str] = {}
        self.workdir = self.base.workdir
        self.user: str | None = None
        self.shell: tuple[str, ...] = DEFAULT_SHELL
        self.entrypoint: Instruction | None = None
        self.steps: list[Step | Placing] = []
        self.volumes: list[Put] = []
        self.faults: list[Fault] = []
        self.named = _names_set(dockerfile)
        self.state: State | None = None
        self.stages = dockerfile.stages
        self.chain = dockerfile.chain
        self.globals = global_arguments(dockerfile)
        self.triggers: list[Instruction] = []
        syntax = dockerfile.directives.syntax
        if syntax is not None and not syntax.split("@")[0].split(":")[0].endswith(_OWN_FRONTENDS):
            hint = "only Docker's own frontend is understood"
            self.faults.append(Fault(where="Dockerfile:1", what=f"built by the frontend {syntax}", hint=hint))

    def result(self) -> Walk:
        for stage in self.chain:
            self.stage(stage)
        if self.entrypoint is not None and not is_idle(self.entrypoint):
            what = f"ENTRYPOINT does something at every start: {self.entrypoint.original.strip()[:80]}"
            self.refuse(self.entrypoint.start_line, what, "a shared environment has no entry point")
        return Walk(
            steps=tuple(self.steps),
            volumes=tuple(self.volumes),
            known=self.known,
            environment=self.environment,
            workdir=self.workdir,
            user=self.user,
            faults=tuple(self.faults),
        )

    def stage(self, stage: Stage) -> None:
        """Take the instructions of one stage."""
        if stage.platform not in {None, "", PLATFORM, "linux", "linux/amd64/v1", "amd64", "linux/x86_64"}:
            what = f"built for the platform {stage.platform}, not {PLATFORM}"
            self.refuse(stage.line, what, "a shared environment has one platform")
        if stage.parent is None and stage.image == "scratch":
            self.refuse(stage.line, "starts from scratch", "nothing in an empty image can run a set-up")
        if stage.parent is not None:
            # the image's configuration is what a stage inherits: an ENV comes back from behind an ARG
            self.variables.update(self.environment)
            self.state = None
        triggers, self.triggers = self.triggers, []
        for trigger in triggers:
            self.take(trigger)
        for step in stage.steps:
            if step.name == "RUN" and self.workdir is None and not _is_apt_only(step):
                what = "RUN in the base image's own WORKDIR, which is not known"
                self.refuse(step.line, what, "name the folder: WORKDIR /")
            self.take(step.instruction)

    def take(self, instruction: Instruction) -> None:
        """Take one instruction."""
        name = instruction.name
        if name in _WITHOUT_EFFECT:
            return
        handler = getattr(self, f"take_{name.lower()}", None)
        if handler is None:
            self.refuse(instruction.start_line, f"{name} is not understood", "")
        else:
            handler(instruction)

    def take_env(self, instruction: Instruction) -> None:
        # every value is expanded with what was in force before the line
        pairs = [
            (self.expand(instruction, name), self.expand(instruction, value))
            for name, value in instruction.pairs
        ]
        self.variables.update(pairs)
        self.environment.update(pairs)
        self.state = None

    def take_arg(self, instruction: Instruction) -> None:
        for word in instruction.args:
            name, equals, value = word.partition("=")
            if equals:
                self.variables[name] = self.expand(instruction, value)
            elif name in self.globals or name in PLATFORM_ARGS:
                self.variables[name] = self.globals.get(name, PLATFORM_ARGS.get(name, ""))
        self.state = None

    def take_workdir(self, instruction: Instruction) -> None:
        path = self.expand(instruction, instruction.args[0])
        joined = self.absolute(instruction, path)
        self.workdir, self.state = joined, None
        if joined != "/":
            self.steps.append(self.folder(instruction, joined, self.user))

    def take_user(self, instruction: Instruction) -> None:
        user = self.expand(instruction, instruction.args[0])
        self.user, self.state = owner_of(user), None

    def take_shell(self, instruction: Instruction) -> None:
        name = posixpath.basename(instruction.args[0]).lower().removesuffix(".exe")
        if name in {"cmd", "powershell", "pwsh"}:
            self.refuse(instruction.start_line, f"SHELL {name} is no POSIX shell", "")
        self.shell = instruction.args

    def take_onbuild(self, instruction: Instruction) -> None:
        if instruction.trigger is not None:
            self.triggers.append(instruction.trigger)

    def take_entrypoint(self, instruction: Instruction) -> None:
        self.entrypoint = instruction

    def take_volume(self, instruction: Instruction) -> None:
        for word in instruction.args:
            path = self.absolute(instruction, self.expand(instruction, word))
            if path != "/":
                self.volumes.append(self.folder(instruction, path, None))

    def take_run(self, instruction: Instruction) -> None:
        caches, problems = read_mounts(
            instruction,
            lambda word: self.expand(instruction, word),
            self.workdir or "/",
        )
        for problem in problems:
            self.refuse(instruction.start_line, problem, "a started container cannot do the same")
        argv, script = executed(instruction, self.shell)
        self.steps.append(
            Run(
                line=instruction.start_line,
                source=_source(instruction),
                state=self.current(),
                argv=argv,
                script=script,
                caches=caches,
            )
        )

    def take_copy(self, instruction: Instruction) -> None:
        origin = instruction.flag("from")
        if origin is not None:
            self.take_copy_from(instruction, origin)
            return
        words = self.copied_words(instruction)
        remote = [each for each in words[:-1] if instruction.name == "ADD" and is_remote(each)]
        if remote and len(remote) == len(words) - 1 and not instruction.heredocs:
            self.fix(instruction, words, f"downloads {remote[0]}")
            return
        if remote:
            what = "ADD of files and downloads in one instruction"
            self.refuse(instruction.start_line, what, "write one ADD for each")
            return
        owner = instruction.flag("chown")
        mode = instruction.flag("chmod")
        self.steps.append(
            Placing(
                line=instruction.start_line,
                source=_source(instruction),
                state=self.current(),
                instruction=instruction,
                sources=words[:-1],
                target=self.target(instruction, words[-1]),
                owner=owner_of(self.expand(instruction, owner)) if owner else None,
                chmod=self.expand(instruction, mode) if mode else None,
                heredocs=tuple(self.heredoc(instruction, each) for each in instruction.heredocs),
                excluded=tuple(
                    self.expand(instruction, flag.partition("=")[2])
                    for flag in instruction.flags
                    if flag.startswith("--exclude=")
                ),
            )
        )

    take_add = take_copy

    def take_copy_from(self, instruction: Instruction, origin: str) -> None:
        if origin.isdecimal() or any(each.alias == origin.lower() for each in self.stages):
            what = f"COPY --from={origin} takes files that another stage builds"
            self.refuse(instruction.start_line, what, "build that stage into an image of its own")
            return
        self.fix(instruction, self.copied_words(instruction), f"copies from the image {origin}")

    def fix(self, instruction: Instruction, words: tuple[str, ...], why: str) -> None:
        """Keep what only a build can do as an instruction that depends on nothing around it."""
        flags = [
            flag if not flag.startswith("--chown=") else f"--chown={self.expand(instruction, flag[8:])}"
            for flag in instruction.flags
            if not flag.startswith("--link")
        ]
        target = self.target(instruction, words[-1])
        self.steps.append(
            Fixed(
                line=instruction.start_line,
                source=" ".join((instruction.name, *flags, json_words((*words[:-1], target)))),
                state=self.current(),
                why=why,
            )
        )

    def heredoc(self, instruction: Instruction, heredoc: Heredoc) -> tuple[str, str]:
        """Return name and content of a file written as a heredoc."""
        if not heredoc.expand:
            return heredoc.name, heredoc.content
        self.variables.missing.clear()
        try:
            content = expand_text(heredoc.content, Unquoted(self.variables))
        except ValueError:
            content = heredoc.content
        self.refuse_missing(instruction)
        return heredoc.name, content

    def copied_words(self, instruction: Instruction) -> tuple[str, ...]:
        """Return the sources and the destination, expanded; heredoc markers are left out."""
        return tuple(
            self.expand(instruction, word)
            for index, word in enumerate(instruction.args)
            if index == len(instruction.args) - 1 or instruction.json or heredoc_name(word) is None
        )

    def target(self, instruction: Instruction, word: str) -> str:
        """Return the destination, absolute, with a slash at its end where Docker takes it for a folder."""
        path = self.absolute(instruction, word)
        is_folder = word.endswith(("/", "/.")) or word in {"", "."}
        return f"{path.rstrip('/')}/" if is_folder else path

    def absolute(self, instruction: Instruction, path: str) -> str:
        """Return a path below the folder in force."""
        if self.workdir is None and not path.startswith("/"):
            what = (
                f"{instruction.name} {path} is relative to the base image's own WORKDIR, which is not known"
            )
            self.refuse(instruction.start_line, what, "write an absolute path")
        joined = posixpath.normpath(posixpath.join(self.workdir or "/", path))
        return "/" + joined.lstrip("/")

    def folder(self, instruction: Instruction, path: str, owner: str | None) -> Put:
        """Return a folder that an instruction makes."""
        return Put(
            line=instruction.start_line,
            source=_source(instruction),
            state=self.current(),
            path=path,
            entry=Entry(path=path.lstrip("/"), kind=Kind.DIRECTORY, mode=0o755),
            owner=owner_of(owner) if owner else None,
        )

    def current(self) -> State:
        """Return the state that an instruction meets."""
        if self.state is None:
            visible = {
                name: value
                for name, value in self.variables.items()
                if name in self.named or (name == "PATH" and value != DEFAULT_PATH)
            }
            self.state = State(
                environment=tuple(sorted(visible.items())),
                workdir=self.workdir or "/",
                user=self.user,
                arguments=tuple(
                    sorted(
                        name
                        for name, value in visible.items()
                        if self.environment.get(name, self.known.get(name)) != value
                    )
                ),
            )
        return self.state

    def expand(self, instruction: Instruction, word: str) -> str:
        """Return a word expanded; what only the base image could tell is refused."""
        self.variables.missing.clear()
        try:
            found = expand_word(word, self.variables, escape=self.escape, keep_unset=False)
        except ValueError:
            # parse_dockerfile has told of it
            return word
        self.refuse_missing(instruction)
        return found

    def refuse_missing(self, instruction: Instruction) -> None:
        """Refuse the variables that only the base image could tell."""
        for name in dict.fromkeys(self.variables.missing):
            what = f"{instruction.name} needs ${name}, which the base image may define"
            self.refuse(instruction.start_line, what, f"set it before: ENV {name}=...")

    def refuse(self, line: int, what: str, hint: str) -> None:
        """Note what cannot be carried."""
        fault = Fault(where=f"Dockerfile:{line}", what=what, hint=hint)
        if fault not in self.faults:
            self.faults.append(fault)


def _source(instruction: Instruction) -> str:
    """Return the instruction as it stands in a Dockerfile, continuations joined."""
    bodies = "".join(f"\n{each.body}{each.name}" for each in instruction.heredocs)
    return instruction.original.strip() + bodies


def _names_set(dockerfile: Dockerfile) -> frozenset[str]:
    """Return the names that ENV and ARG set in the final image's chain."""
    return frozenset(
        word.partition("=")[0]
        for step in dockerfile.steps
        if step.name in {"ARG", "ENV"}
        for word in step.words
    )


def _is_apt_only(step: Written) -> bool:
    """Return whether a RUN does the same in whatever folder it is run."""
    return all(driver is Driver.APT for driver in drivers_of_units(script_of(step).units))
