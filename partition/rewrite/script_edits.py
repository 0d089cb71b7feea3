"""What the `scripts` channel puts into a task's files, and how it is taken out again."""

from __future__ import annotations

import re

from partition.rewrite.carried import VARIABLES

SETUP_NAME = "envfold-setup.sh"
"""The set-up beside the script that calls it."""

CALL = f'sh "$(dirname -- "$0")/{SETUP_NAME}" || exit $?\n'.encode()
"""The line that runs the set-up first, in whatever shell the script is written for."""

READ = f". {VARIABLES}\n".encode()
"""The line after it where set-up leaves variables for what follows."""

_OPENING = b"\n\n<!-- envfold: set-up -->\n"
_CLOSING = b"\n<!-- envfold: end of set-up -->\n"
_SHEBANG = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")
_SHELLS = frozenset({b"sh", b"bash", b"dash", b"ash", b"ksh", b"zsh"})


def why_not_callable(script: bytes) -> str | None:
    """Return why the call cannot be put into a script, as a sentence's end, or None."""
    if b"\r" in script:
        return "has carriage returns, which end the name of every file that it calls"
    if CALL in script:
        return "calls a set-up already"
    match = _SHEBANG.match(script)
    if match is None:
        return "starts with #! and nothing behind it" if script.startswith(b"#!") else None
    name = match[1].rpartition(b"/")[2]
    if name == b"env":
        name = (match[2] or b"").rpartition(b"/")[2]
    if name not in _SHELLS:
        return f"is run by {name.decode(errors='replace')}, and set-up can be called from a POSIX shell only"
    return None


def with_call(script: bytes, *, read: bool = False) -> bytes:
    """Return the script with the call below its ``#!`` line, or at its top; `read` adds the line after it."""
    call = CALL + READ if read else CALL
    if not script.startswith(b"#!"):
        return call + script
    first, newline, rest = script.partition(b"\n")
    return first + b"\n" + call + rest if newline else first + b"\n" + call[:-1]


def without_call(script: bytes) -> bytes:
    """Return what `with_call` was given."""
    for call in (CALL + READ, CALL):
        if script.startswith(call):
            return script[len(call) :]
        first, _, rest = script.partition(b"\n")
        if rest == call[:-1]:
            return first
        if rest.startswith(call):
            return first + b"\n" + rest[len(call) :]
    return script


def with_section(instruction: bytes, commands: str, *, read: bool = False) -> bytes:
    """Return the instruction with the set-up at its end, in a fenced block."""
    longest = max((len(run) for run in re.findall("`+", commands)), default=0)
    fence = "`" * max(3, longest + 1)
    text = (
        "Before anything else, set this container up: run the following once, as root, in a shell. It does "
        "what is left of building the environment, and nothing where it was run before.\n\n"
        f"{fence}sh\n{commands.rstrip(chr(10))}\n{fence}\n"
    )
    if read:
        text += f"\nIn a shell that was open before, run `. {VARIABLES}` after it.\n"
    return instruction + _OPENING + text.encode() + _CLOSING


def without_section(instruction: bytes) -> bytes:
    """Return what `with_section` was given."""
    start = instruction.rfind(_OPENING)
    return instruction[:start] if start >= 0 and instruction.endswith(_CLOSING) else instruction
