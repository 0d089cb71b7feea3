"""Build stages: which image each starts from, and the state in which each instruction runs.

Variables follow ``frontend/dockerfile/dockerfile2llb/convert.go`` of github.com/moby/buildkit: an ARG before
the first FROM is seen by FROM lines alone; inside a stage ARG and ENV share one name space in which the
later definition wins, and a stage built on another inherits it.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from partition.environments.instruction import Directives, Instruction
from partition.environments.syntax import expand_word
from partition.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_SHELL = ("/bin/sh", "-c")
PLATFORM = "linux/amd64"
"""The platform that a Dockerfile is read for."""

_PLATFORM_ARGS = {
    f"{side}{name}": value
    for side in ("BUILD", "TARGET")
    for name, value in (("PLATFORM", PLATFORM), ("OS", "linux"), ("ARCH", "amd64"), ("VARIANT", ""))
}
_EXPANDED = frozenset({"ADD", "COPY", "EXPOSE", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"})

# github.com/distribution/reference, regexp.go
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_REFERENCE = re.compile(
    rf"(?:(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?/)?"
    rf"{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::\w[\w.-]{0,127})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?\Z",
    re.ASCII,
)
_LONGEST_REFERENCE = 500
_LONGEST_WORD = 1 << 20
"""Characters that one word may expand to: an ENV that refers to itself twice doubles each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One instruction in the state that it meets.

    Parameters
    ----------
    instruction
        As written.
    stage
        Index of the stage that holds it.
    words
        Its arguments with quotes removed and variables expanded where Docker itself expands them (not in
        RUN, CMD, ENTRYPOINT, SHELL and HEALTHCHECK). Unknown variables stay as written: the base image may
        define them. ENV, LABEL and ARG have ``name=value``, ARG without value ``name``.
    variables
        ENV and ARG in force before it.
    workdir, user, shell
        In force before it; `user` is None where the base image decides.
    """

    instruction: Instruction
    stage: int
    words: tuple[str, ...]
    variables: Mapping[str, str]
    workdir: str
    user: str | None
    shell: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the instruction's name."""
        return self.instruction.name

    @property
    def line(self) -> int:
        """Return the first line of the instruction."""
        return self.instruction.start_line


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a stage leaves behind.

    Parameters
    ----------
    variables
        ENV and ARG.
    environment
        ENV alone: what the container sees.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "/"
    user: str | None = None
    shell: tuple[str, ...] = DEFAULT_SHELL


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One FROM and what follows it.

    Parameters
    ----------
    index, alias
        Position, and the name after AS in lower case.
    image
        What FROM names after expansion: an image reference, ``scratch``, or another stage's name.
    parent
        Index of the stage that it names; None for an image.
    platform
        ``--platform`` after expansion; None where nothing is said.
    line
        Of FROM.
    steps
        Instructions after FROM.
    end
        State after the last one.
    """

    index: int
    alias: str | None
    image: str
    parent: int | None
    platform: str | None
    line: int
    steps: tuple[Step, ...]
    end: State


def build_stages(
    instructions: Sequence[Instruction], *, where: str, directives: Directives | None = None
) -> tuple[tuple[Stage, ...], list[Fault]]:
    """Return the stages of `instructions` and the faults that expanding them shows."""
    builder = _Builder(where=where, escape=(directives or Directives()).escape)
    for instruction in instructions:
        builder.take(instruction)
    builder.close()
    return tuple(builder.stages), builder.faults


class _Builder:
    def __init__(self, *, where: str, escape: str) -> None:
        self.where = where
        self.escape = escape
        self.globals: dict[str, str] = {}
        self.stages: list[Stage] = []
        self.faults: list[Fault] = []
        self.head: tuple[Instruction, str, int | None, str | None, str | None] | None = None
        self.steps: list[Step] = []
        self.state = State()

    def take(self, instruction: Instruction) -> None:
        if instruction.name == "FROM":
            self.close()
            self.open(instruction)
        elif self.head is not None:
            self.step(instruction)
        elif instruction.name == "ARG":
            visible = _PLATFORM_ARGS | self.globals
            for pair in self.expand_pairs(instruction, visible, keep_unset=False):
                name, equals, value = pair.partition("=")
                if equals:
                    self.globals[name] = value

    def open(self, instruction: Instruction) -> None:
        args = instruction.args
        written = args[0] if args else ""
        visible = _PLATFORM_ARGS | self.globals
        image = self.expand(instruction, written, visible, keep_unset=False)
        alias = args[2].lower() if len(args) == 3 else None
        platform = instruction.flag("platform")
        if platform is not None:
            platform = self.expand(instruction, platform, visible, keep_unset=False)
        parent = next((each.index for each in reversed(self.stages) if each.alias == image.lower()), None)
        if written and parent is None:
            self.check_reference(instruction, written, image)
        self.head = (instruction, image, parent, alias, platform)
        self.state = State() if parent is None else self.stages[parent].end
        self.steps = []

    def close(self) -> None:
        if self.head is None:
            return
        instruction, image, parent, alias, platform = self.head
        stage = Stage(
            index=len(self.stages),
            alias=alias,
            image=image,
            parent=parent,
            platform=platform,
            line=instruction.start_line,
            steps=tuple(self.steps),
            end=self.state,
        )
        self.stages.append(stage)
        self.head = None

    def check_reference(self, instruction: Instruction, written: str, image: str) -> None:
        if not image:
            what = f"base name ({written}) should not be blank"
            self.fault(instruction, what, "give the ARG before FROM a default value")
        elif len(image) > _LONGEST_REFERENCE or _REFERENCE.match(image) is None:
            shown = image if image == written else f"{written} = {image}"
            self.fault(
                instruction, f"invalid image reference: {shown[:120]}", "write repository:tag in lower case"
            )

    def step(self, instruction: Instruction) -> None:
        state = self.state
        words = self.words(instruction, state)
        self.steps.append(
            Step(
                instruction=instruction,
                stage=len(self.stages),
                words=words,
                variables=state.variables,
                workdir=state.workdir,
                user=state.user,
                shell=state.shell,
            )
        )
        self.state = self.after(instruction, words, state)

    def words(self, instruction: Instruction, state: State) -> tuple[str, ...]:
        name = instruction.name
        if name in {"COPY", "ADD"}:
            self.check_source_stage(instruction)
        if name in {"ENV", "LABEL"}:
            return tuple(
                "=".join(self.expand(instruction, each, state.variables) for each in pair)
                for pair in instruction.pairs
            )
        if name == "ARG":
            return tuple(self.expand_pairs(instruction, state.variables))
        if name in _EXPANDED:
            return tuple(self.expand(instruction, word, state.variables) for word in instruction.args)
        return instruction.args

    def after(self, instruction: Instruction, words: tuple[str, ...], state: State) -> State:
        variables, environment = state.variables, state.environment
        workdir, user, shell = state.workdir, state.user, state.shell
        match instruction.name:
            case "ENV":
                new = dict(word.split("=", 1) for word in words)
                variables, environment = {**variables, **new}, {**environment, **new}
            case "ARG":
                variables = {**variables, **self.arguments(words)}
            case "WORKDIR" if words:
                workdir = posixpath.normpath(posixpath.join(workdir, words[0]))
            case "USER" if words:
                user = words[0]
            case "SHELL" if instruction.json and words:
                shell = words
            case _:
                return state
        return State(variables=variables, environment=environment, workdir=workdir, user=user, shell=shell)

    def arguments(self, words: tuple[str, ...]) -> dict[str, str]:
        """Return the values of an ARG inside a stage; one without value takes that of a global ARG."""
        values = {}
        for word in words:
            name, equals, value = word.partition("=")
            if equals:
                values[name] = value
            elif name in self.globals or name in _PLATFORM_ARGS:
                values[name] = self.globals.get(name, _PLATFORM_ARGS.get(name, ""))
        return values

    def check_source_stage(self, instruction: Instruction) -> None:
        source = instruction.flag("from")
        if source and source.isdecimal() and int(source) >= len(self.stages):
            hint = "name an earlier stage by its index (from 0) or its name"
            self.fault(instruction, f"invalid stage index {source}", hint)

    def expand_pairs(
        self, instruction: Instruction, variables: Mapping[str, str], *, keep_unset: bool = True
    ) -> list[str]:
        pairs = []
        for arg in instruction.args:
            name, equals, value = arg.partition("=")
            if equals:
                value = self.expand(instruction, value, variables, keep_unset=keep_unset)
            pairs.append(f"{name}{equals}{value}")
        return pairs

    def expand(
        self, instruction: Instruction, word: str, variables: Mapping[str, str], *, keep_unset: bool = True
    ) -> str:
        if (
            "$" in word
            and len(word) + word.count("$") * max(map(len, variables.values()), default=0) > _LONGEST_WORD
        ):
            what = f"{instruction.name} expands to more than {_LONGEST_WORD} characters"
            self.fault(instruction, what, "shorten the variables it refers to")
            return word
        try:
            return expand_word(word, variables, escape=self.escape, keep_unset=keep_unset)
        except ValueError as error:
            self.fault(instruction, str(error), "check quotes and ${...}")
            return word

    def fault(self, instruction: Instruction, what: str, hint: str) -> None:
        self.faults.append(Fault(where=f"{self.where}:{instruction.start_line}", what=what, hint=hint))
