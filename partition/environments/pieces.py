"""A Dockerfile cut into pieces, each belonging to one driver; together they are the whole file.

A piece is an instruction, or one unit (pipeline, loop, subshell) of a RUN whose units belong to different
drivers. Each has its bytes and a normal form in which spelling, comments and white space do not show.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from partition.environments.attribution import Driver, driver_of_instruction, drivers_of_units
from partition.environments.positions import line_counter
from partition.environments.runs import script_of
from partition.environments.syntax import heredoc_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partition.environments.dockerfile import Dockerfile
    from partition.environments.instruction import Heredoc, Instruction
    from partition.environments.script import Unit
    from partition.environments.stages import Step
    from partition.tasks.model import Spec

_LINES = re.compile(r"[^\n]*\n|[^\n]+$")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a Dockerfile.

    Parameters
    ----------
    driver
        The driver that it belongs to.
    canonical
        Its normal form, variables expanded; empty for comments.
    raw
        Its bytes as text.
    line
        Where it starts.
    group
        Number of the instruction that holds it.
    joiner
        What stands between it and the piece before in the same instruction.
    head, tail
        What the instruction has before its first and behind its last piece.
    """

    driver: Driver
    canonical: str
    raw: str
    line: int
    group: int
    joiner: str = ""
    head: str = ""
    tail: str = ""


def pieces_of(text: str, dockerfile: Dockerfile) -> list[Piece]:
    """Return the pieces of `dockerfile`, whose text is `text`, in file order.

    ARG and ENV belong to the driver of the only commands that use the variable, where there is one: the
    ``ARG COMMIT`` of a checkout is part of the checkout.
    """
    lines = _LINES.findall(text)
    source = _Source(text, lines, [0, *accumulate(map(len, lines))])
    steps = {step.line: step for stage in dockerfile.stages for step in stage.steps}
    images = {stage.line: stage.image for stage in dockerfile.stages}
    found: list[Piece] = []
    users: dict[str, set[Driver]] = {}
    groups: list[list[Piece]] = []
    for instruction in reversed(dockerfile.instructions):
        # from the end, so that an ENV knows its users before the ARG that it refers to asks for its own
        step = steps.get(instruction.start_line)
        cutter = _Cutter(instruction, step, source)
        groups.append(cutter.cut(images.get(instruction.start_line), users))
    groups.reverse()
    end = 0
    for instruction, pieces in zip(dockerfile.instructions, groups, strict=True):
        found += _comments(lines, end, instruction.start_line - 1)
        found += pieces
        end = instruction.end_line
    found += _comments(lines, end, len(lines), closing=True)
    directives = dockerfile.directives
    settings = f"escape={directives.escape} syntax={directives.syntax or ''}"
    return [Piece(Driver.SETTINGS, settings, "", 1, 0), *found]


def pieces_of_spec(spec: Spec, canonical: Spec) -> list[Piece]:
    """Return the pieces of a row of a spec table, which has no files and no commands.

    Parameters
    ----------
    spec
        The row as written.
    canonical
        The same with requirements in their canonical spelling.
    """
    return [
        Piece(driver, normal, raw, 1, group)
        for group, ((driver, normal), (_, raw)) in enumerate(
            zip(_columns(canonical), _columns(spec), strict=True), 1
        )
    ]


def _columns(spec: Spec) -> tuple[tuple[Driver, str], ...]:
    repo = (spec.repo, spec.version, spec.base_commit or "")
    return (
        (Driver.BASE, spec.python or ""),
        (Driver.CLONE, " ".join(filter(None, repo))),
        (Driver.APT, " ".join(spec.apt)),
        (Driver.PIP, " ".join((*spec.pip, *spec.conda, *spec.requirement_files))),
    )


def _comments(lines: Sequence[str], start: int, end: int, *, closing: bool = False) -> Iterator[Piece]:
    """Yield the comments between two instructions; blank lines before an instruction go with that."""
    raw = ""
    for index in range(start, end):
        raw += lines[index]
        if lines[index].strip():
            yield Piece(Driver.LAYOUT, "", raw, index + 1, -index - 1)
            raw = ""
    if raw and closing:
        yield Piece(Driver.LAYOUT, "", raw, end, -end)


@dataclass(frozen=True, slots=True)
class _Source:
    text: str
    lines: Sequence[str]
    starts: Sequence[int]


class _Cutter:
    """Cuts one instruction."""

    def __init__(self, instruction: Instruction, step: Step | None, source: _Source) -> None:
        self.instruction = instruction
        self.step = step
        self.text, self.lines, self.starts = source.text, source.lines, source.starts
        self.group = instruction.start_line
        lines = self.lines
        first = instruction.start_line - 1
        while first > 0 and not lines[first - 1].strip():
            first -= 1
        self.raw = "".join(lines[first : instruction.end_line])
        self.lead = "".join(lines[first : instruction.start_line - 1])
        self.body = _whole_script(instruction)
        if self.body is not None:
            self.line_of = line_counter(self.body.content, self.body.line)
            self.body_starts = [0, *accumulate(map(len, _LINES.findall(self.body.content)))]

    def cut(self, image: str | None, users: dict[str, set[Driver]]) -> list[Piece]:
        instruction = self.instruction
        if instruction.name == "RUN" and self.step is not None:
            return self.cut_run(self.step, users)
        driver = driver_of_instruction(instruction.name)
        if instruction.name in {"ARG", "ENV"}:
            wanted = {user for name in self.names() for user in users.get(name, ())}
            driver = wanted.pop() if len(wanted) == 1 else Driver.SETTINGS
        for name in _VARIABLE.findall(instruction.original):
            users.setdefault(name, set()).add(driver)
        return [Piece(driver, self.canonical(image), self.raw, instruction.start_line, self.group)]

    def names(self) -> list[str]:
        if self.instruction.name == "ENV":
            return [name for name, _ in self.instruction.pairs]
        return [arg.partition("=")[0] for arg in self.instruction.args]

    def canonical(self, image: str | None) -> str:
        instruction = self.instruction
        words = self.step.words if self.step is not None else instruction.args
        if image is not None:
            words = (image, *words[1:])
        if instruction.name == "ONBUILD":
            words = (" ".join(instruction.original.split()),)
        bodies = [f"{each.name} {each.expand} {each.content}" for each in instruction.heredocs]
        return "\0".join((instruction.name, *instruction.flags, *words, *bodies))

    def cut_run(self, step: Step, users: dict[str, set[Driver]]) -> list[Piece]:
        script = script_of(step)
        drivers = drivers_of_units(script.units)
        for driver, unit in zip(drivers, script.units, strict=True):
            for command in unit.commands:
                for name in command.variables:
                    users.setdefault(name, set()).add(driver)
        whole = step.instruction.json or any(not unit.end for unit in script.units)
        if whole or not script.units:
            driver = drivers[0] if drivers else Driver.RUN
            canonical = "\n".join(_normal(self.instruction, unit) for unit in script.units)
            return [Piece(driver, canonical, self.raw, self.instruction.start_line, self.group)]
        return self.split(script.units, drivers)

    def split(self, units: Sequence[Unit], drivers: Sequence[Driver]) -> list[Piece]:
        """Return a piece for each unit, sliced out of the file so that nothing between them is lost."""
        text = self.text
        begin, end = self.starts[self.instruction.start_line - 1], self.header_end()
        bounds = [(self.position(unit.start), self.position(unit.end - 1) + 1) for unit in units]
        pieces = []
        for index, (driver, unit) in enumerate(zip(drivers, units, strict=True)):
            start, stop = bounds[index]
            bodies = unit.raw[unit.end - unit.start :]
            pieces.append(
                Piece(
                    driver,
                    _normal(self.instruction, unit),
                    f"{text[start:stop]}\0{bodies}",
                    unit.line,
                    self.group,
                    joiner=text[bounds[index - 1][1] : start] if index else "",
                    head=self.lead + text[begin : bounds[0][0]],
                    tail=text[bounds[-1][1] : end],
                )
            )
        return pieces

    def position(self, offset: int) -> int:
        """Return the place in the file of an offset in the script of a RUN."""
        instruction = self.instruction
        if self.body is not None:
            line = self.line_of(offset)
            physical = self.lines[line - 1]
            tabs = len(physical) - len(physical.lstrip("\t")) if self.body.chomp else 0
            return self.starts[line - 1] + tabs + offset - self.body_starts[line - self.body.line]
        offset += len(instruction.original.rstrip()) - len(instruction.args[0])
        index = max(bisect_right(instruction.pieces, (offset, 1 << 60)) - 1, 0)
        before, line = instruction.pieces[index]
        physical = self.lines[line - 1]
        indent = 0 if index else len(physical) - len(physical.lstrip())
        return self.starts[line - 1] + indent + offset - before

    def header_end(self) -> int:
        """Return where the instruction ends in the file, heredocs that units hold left out."""
        if self.body is not None:
            return self.starts[self.instruction.end_line]
        return self.starts[self.instruction.pieces[-1][1]]


def _whole_script(instruction: Instruction) -> Heredoc | None:
    """Return the heredoc that is the whole script of a RUN, if there is one."""
    if instruction.name != "RUN" or not instruction.heredocs:
        return None
    return instruction.heredocs[0] if heredoc_name(instruction.args[0]) is not None else None


def _normal(instruction: Instruction, unit: Unit) -> str:
    # a unit means the same at the head of a RUN and behind && of another driver's unit
    operator = "" if unit.operator == "&&" else unit.operator
    return "\0".join(filter(None, ("RUN", *instruction.flags, operator, *unit.tokens)))
