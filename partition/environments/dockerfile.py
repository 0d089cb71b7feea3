"""A Dockerfile: parsed by BuildKit's rules, and written back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.instruction import Directives, DockerfileError, Instruction
from partition.environments.refusals import refusals
from partition.environments.stages import build_stages
from partition.environments.syntax import read_instructions
from partition.errors import Fault

if TYPE_CHECKING:
    from partition.environments.stages import Stage, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Dockerfile:
    """A Dockerfile that BuildKit would accept.

    Parameters
    ----------
    where
        The file's name in messages.
    directives
        Escape character and frontend.
    instructions
        All of them, in order.
    stages
        One for each FROM, in order; the last is the one that is built.
    """

    where: str
    directives: Directives
    instructions: tuple[Instruction, ...]
    stages: tuple[Stage, ...]

    @property
    def final(self) -> Stage:
        """Return the stage that is built."""
        return self.stages[-1]

    @property
    def chain(self) -> tuple[Stage, ...]:
        """Return the stages that the final one is built on, first to last, itself included."""
        chain = [self.final]
        while chain[-1].parent is not None:
            chain.append(self.stages[chain[-1].parent])
        return tuple(reversed(chain))

    @property
    def image(self) -> str:
        """Return the image that the final stage rests on."""
        return self.chain[0].image

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return what happens to that image, in order: the steps of the whole chain."""
        return tuple(step for stage in self.chain for step in stage.steps)


def parse_dockerfile(text: str, *, where: str) -> Dockerfile:
    """Parse `text`.

    Raises
    ------
    DockerfileError
        BuildKit would refuse it, or it was cut off in the middle of a RUN. Carries every fault, each with
        its line.
    """
    directives, instructions, faults = read_instructions(text, where=where)
    stages: tuple[Stage, ...] = ()
    if instructions:
        stages, expansion = build_stages(instructions, where=where, directives=directives)
        faults += refusals(instructions, where=where, directives=directives) + expansion
    elif not faults:
        what = "empty: no instructions" if text.strip() else "empty"
        faults.append(Fault(where=where, what=what, hint="name at least a base image: FROM ..."))
    if faults:
        faults = sorted(dict.fromkeys(faults), key=_line)
        raise DockerfileError(
            f"{where}: not a Dockerfile that can be built: {faults[0].what}",
            hint="repair the lines below; docker build --check shows the same",
            faults=faults,
        )
    return Dockerfile(where=where, directives=directives, instructions=tuple(instructions), stages=stages)


def render(dockerfile: Dockerfile) -> str:
    """Return the text of `dockerfile`: one line an instruction, heredocs below, no comments.

    Parsing the result gives the same instructions, on other lines; rendering that gives the same text.
    """
    lines = []
    if dockerfile.directives.syntax:
        lines.append(f"# syntax={dockerfile.directives.syntax}\n")
    if dockerfile.directives.escape != "\\":
        lines.append(f"# escape={dockerfile.directives.escape}\n")
    for instruction in dockerfile.instructions:
        lines.append(f"{instruction.original}\n")
        lines += [f"{each.body}{each.name}\n" for each in instruction.heredocs]
    return "".join(lines)


def _line(fault: Fault) -> int:
    line = fault.where.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0
