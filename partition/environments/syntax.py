"""BuildKit's grammar: the only module that knows the parser package behind it.

The parser stops at the first fault and does not know heredocs after ONBUILD; this adapter goes on behind
every fault, and remembers the physical line of each character of a continued instruction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from e2b_dockerfile_utils import (
    DockerfileInstruction,
    DockerfileSyntaxError,
    PatternMatcher,
    ShellLex,
    is_space,
    parse_dockerfile_ast,
    parse_heredoc,
)

from partition.environments.instruction import Directives, Heredoc, Instruction
from partition.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MOST_FAULTS = 1000
"""Faults told of one file: reading on behind each takes time that grows with the rest of the file."""
_LINES = re.compile(r"[^\n]*\n|[^\n]+$")
_DIRECTIVE = re.compile(r"^#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*$")
_DIRECTIVES = frozenset({"syntax", "escape", "check"})
_PREFIX = re.compile(r"^Dockerfile parse error(?: on line \d+)?: ")
_ONBUILD = re.compile(r"^\s*ONBUILD\s+", re.IGNORECASE)
_WITH_HEREDOC = frozenset({"ADD", "COPY", "RUN"})
_CONTINUATION = {
    token: re.compile(rf"([^{t}]){t}[ \t]*$|^{t}[ \t]*$") for token, t in (("\\", r"\\"), ("`", "`"))
}


@dataclass(frozen=True, slots=True)
class _Joined:
    """A logical line: its text, the lines it was joined from, and where the next one starts."""

    text: str
    pieces: tuple[tuple[int, int], ...]
    end: int
    open: bool
    """Whether the last line asked for a continuation that the file does not have."""


def read_instructions(text: str, *, where: str) -> tuple[Directives, list[Instruction], list[Fault]]:
    """Split `text` into instructions, going on behind every fault.

    Returns
    -------
    tuple
        The parser directives, the instructions that could be read, and the faults, each at ``where:line``.
    """
    lines = _LINES.findall(text.removeprefix("\ufeff"))
    directives, faults = _read_directives(lines, where)
    instructions: list[Instruction] = []
    start = 0
    while start < len(lines):
        batch, message, line = _attempt(lines[start:], directives.escape)
        for found in batch:
            instruction = _convert(found, lines, start, directives.escape)
            if _defers_heredoc(instruction):
                instruction, fault = _read_trigger(instruction, lines, directives.escape, where)
                faults += [fault] if fault else []
                instructions.append(instruction)
                start = instruction.end_line
                break
            instructions.append(instruction)
        else:
            if not message:
                break
            bad = start + line - 1
            faults.append(_syntax_fault(message, where, bad, lines))
            if len(faults) >= _MOST_FAULTS:
                what = f"{_MOST_FAULTS} faults so far: the rest was not read"
                faults.append(Fault(where=f"{where}:{bad + 1}", what=what, hint="is this a Dockerfile?"))
                break
            # an open heredoc swallows the rest of the file
            start = len(lines) if "heredoc" in message else _join(lines, bad, directives.escape).end
    faults += _unfinished(instructions, lines, directives.escape, where)
    finished = []
    for instruction in instructions:
        trigger, message = _trigger(instruction, directives.escape)
        finished.append(replace(instruction, trigger=trigger) if trigger else instruction)
        if message:
            faults.append(_syntax_fault(message, where, instruction.start_line - 1, lines))
    return directives, finished, faults


def expand_word(
    word: str, variables: Mapping[str, str], *, escape: str = "\\", keep_unset: bool = True
) -> str:
    """Return `word` with quotes removed and variables expanded, as BuildKit's shell lexer does.

    Parameters
    ----------
    keep_unset
        Keep ``$NAME`` of an unknown variable as written, since the base image may define it; otherwise it
        becomes the empty string.

    Raises
    ------
    ValueError
        The word does not parse (an open quote, a bad substitution).
    """
    if not any(each in word for each in ("$", "'", '"', "<", escape)):
        return word
    return ShellLex(escape, env=variables, skip_unset_env=keep_unset).process_word(word)


def expand_text(text: str, variables: Mapping[str, str], *, escape: str = "\\") -> str:
    """Return a heredoc body with its variables expanded and its quotes kept.

    Raises
    ------
    ValueError
        A substitution does not parse.
    """
    lexer = ShellLex(escape, raw_quotes=True, skip_process_quotes=True, env=variables, skip_unset_env=True)
    return lexer.process_word(text)


def heredoc_name(word: str) -> str | None:
    """Return the terminator that `word` announces where it is a whole heredoc marker, else None."""
    if "<<" not in word:
        return None
    try:
        found = parse_heredoc(word)
    except ValueError:
        return None
    return found.name if found else None


def ignore_matcher(patterns: Sequence[str]) -> PatternMatcher:
    """Return the matcher of ``.dockerignore`` patterns.

    Raises
    ------
    ValueError
        A pattern does not parse.
    """
    return PatternMatcher(list(patterns))


def _read_directives(lines: Sequence[str], where: str) -> tuple[Directives, list[Fault]]:
    directives = Directives()
    faults: list[Fault] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        match = _DIRECTIVE.match(line.rstrip("\r\n").lstrip())
        if match is None or (key := match[1].lower()) not in _DIRECTIVES:
            break
        value = match[2]
        if key in seen:
            what = f"only one {key} parser directive can be used"
            faults.append(Fault(where=f"{where}:{number}", what=what, hint="remove the second one"))
        elif key == "escape" and value not in _CONTINUATION:
            what = f"invalid escape token {value!r}"
            faults.append(Fault(where=f"{where}:{number}", what=what, hint="use \\ or `"))
        elif key in {"escape", "syntax"}:
            directives = replace(directives, **{key: value})
        seen.add(key)
    return directives, faults


def _attempt(lines: Sequence[str], escape: str) -> tuple[list[DockerfileInstruction], str, int]:
    """Return the instructions before the first fault, the fault's message or nothing, and its line."""
    # the lone comment ends the search for directives, so that a comment further down is not taken for one
    head = f"# escape={escape}\n#\n"
    try:
        return _shifted(parse_dockerfile_ast(head + "".join(lines)).instructions), "", 0
    except DockerfileSyntaxError as error:
        line = (error.line or 3) - 2
        message = _PREFIX.sub("", str(error))
    before = head + "".join(lines[: line - 1])
    return _shifted(parse_dockerfile_ast(before).instructions), message, line


def _shifted(instructions: list[DockerfileInstruction]) -> list[DockerfileInstruction]:
    for instruction in instructions:
        instruction.start_line -= 2
        instruction.end_line -= 2
    return instructions


def _convert(found: DockerfileInstruction, lines: Sequence[str], start: int, escape: str) -> Instruction:
    first = start + found.start_line
    joined = _join(lines, first - 1, escape)
    pieces = joined.pieces if joined.text == found.original else ((0, first),)
    line = joined.end + 1
    heredocs = []
    for each in found.heredocs:
        heredocs.append(
            Heredoc(name=each.name, body=each.content, expand=each.expand, chomp=each.chomp, line=line)
        )
        line += each.content.count("\n") + 1
    return Instruction(
        name=found.name,
        original=found.original,
        flags=tuple(found.flags),
        args=tuple(_arguments(found, escape)),
        json=found.json,
        heredocs=tuple(heredocs),
        start_line=first,
        end_line=start + found.end_line,
        pieces=pieces,
    )


def _arguments(found: DockerfileInstruction, escape: str) -> list[str]:
    """Return the arguments; BuildKit splits those of COPY and ADD at white space, whatever quotes say."""
    quoted = '"' in found.original or "'" in found.original or escape in found.original
    if found.name not in {"ADD", "COPY"} or found.json or not quoted:
        return found.args
    rest = found.original.lstrip()[len(found.name) :]
    (same,) = parse_dockerfile_ast(f"# escape={escape}\n#\nEXPOSE{rest}").instructions
    return same.args


def _defers_heredoc(instruction: Instruction) -> bool:
    if instruction.name != "ONBUILD" or "<<" not in instruction.original:
        return False
    words = _ONBUILD.sub("", instruction.original).split(None, 1)
    return bool(words) and words[0].upper() in _WITH_HEREDOC


def _read_trigger(
    onbuild: Instruction, lines: Sequence[str], escape: str, where: str
) -> tuple[Instruction, Fault | None]:
    """Return ONBUILD with the heredoc bodies that follow it (BuildKit: ``canContainHeredoc``)."""
    first = onbuild.start_line - 1
    joined = _join(lines, first, escape)
    text = [_ONBUILD.sub("", joined.text) + "\n", *lines[joined.end :]]
    batch, message, line = _attempt(text, escape)
    if not batch:
        fault = _syntax_fault(message, where, first + line - 1, lines)
        return replace(onbuild, end_line=len(lines) if "heredoc" in message else onbuild.end_line), fault
    trigger = _convert(batch[0], text, 0, escape)
    shift = joined.end - 1
    moved = tuple(replace(each, line=each.line + shift) for each in trigger.heredocs)
    return replace(onbuild, heredocs=moved, end_line=trigger.end_line + shift), None


def _trigger(onbuild: Instruction, escape: str) -> tuple[Instruction | None, str]:
    """Return the instruction that ONBUILD defers, or what is wrong with it."""
    head = _ONBUILD.match(onbuild.original)
    if onbuild.name != "ONBUILD" or head is None or not (rest := onbuild.original[head.end() :]).strip():
        return None, ""
    text = "".join([f"{rest}\n", *(f"{each.body}{each.name}\n" for each in onbuild.heredocs)])
    batch, message, _ = _attempt([text], escape)
    if not batch:
        return None, message
    trigger = replace(
        _convert(batch[0], _LINES.findall(text), 0, escape),
        heredocs=onbuild.heredocs,
        start_line=onbuild.start_line,
        end_line=onbuild.end_line,
        pieces=((0, onbuild.start_line),),
    )
    return trigger, ""


def _join(lines: Sequence[str], index: int, escape: str) -> _Joined:
    """Join the logical line that starts at ``lines[index]``."""
    continuation = _CONTINUATION[escape]
    text = ""
    pieces: list[tuple[int, int]] = []
    first = True
    while index < len(lines):
        line = lines[index].rstrip("\r\n")
        index += 1
        bare = _strip_left(line)
        if not first and (not bare or bare.startswith("#")):
            continue
        if first:
            line = "" if bare.startswith("#") else bare
        first = False
        pieces.append((len(text), index))
        trimmed = continuation.sub(r"\1", line)
        text += trimmed
        if trimmed == line and not continuation.search(line):
            return _Joined(text, tuple(pieces), index, open=False)
    return _Joined(text, tuple(pieces), index, open=True)


def _strip_left(line: str) -> str:
    position = 0
    while position < len(line) and is_space(line[position]):
        position += 1
    return line[position:]


def _unfinished(
    instructions: Sequence[Instruction], lines: Sequence[str], escape: str, where: str
) -> Iterator[Fault]:
    """Yield a fault where a continuation runs into the end of the file, which BuildKit lets pass."""
    if not instructions:
        return
    last = instructions[-1]
    if not last.heredocs and _join(lines, last.start_line - 1, escape).open:
        yield Fault(
            where=f"{where}:{last.pieces[-1][1]}",
            what=f"{last.name} ends in {escape} at the end of the file",
            hint="the file looks cut off: render it again, or remove the last continuation",
        )


def _syntax_fault(message: str, where: str, index: int, lines: Sequence[str]) -> Fault:
    if message.startswith("unknown instruction"):
        shown = lines[index].strip()
        return Fault(
            where=f"{where}:{index + 1}",
            what=f"unknown instruction: {shown[:60]}",
            hint="every line must start with an instruction such as RUN, or continue the line before",
        )
    if message == "unterminated heredoc":
        return Fault(
            where=f"{where}:{index + 1}",
            what=message,
            hint="close it with its name alone on a line, without white space around it",
        )
    return Fault(where=f"{where}:{index + 1}", what=message, hint="write it as BuildKit's reference says")
