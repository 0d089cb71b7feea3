"""What a RUN instruction executes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.syntax import heredoc_name

if TYPE_CHECKING:
    from partition.environments.instruction import Instruction


def executed(instruction: Instruction, shell: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Return argv, and the file that a heredoc with ``#!`` is (``dispatchRun`` of BuildKit)."""
    if instruction.json:
        return instruction.args, None
    text = instruction.args[0] if instruction.args else ""
    if not instruction.heredocs:
        return (*shell, text), None
    if heredoc_name(text) is None:
        full = "\n".join([text, *(f"{each.body}{each.name}" for each in instruction.heredocs)])
        return (*shell, full), None
    first = instruction.heredocs[0]
    if first.body.startswith("#!"):
        return (*shell, f"/dev/pipes/{first.name}"), first.content
    return (*shell, first.content), None
