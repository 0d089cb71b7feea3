"""ENTRYPOINTs that leave a container as it is: a bare shell, an init, something that waits."""

from __future__ import annotations

import posixpath
import shlex
from typing import TYPE_CHECKING

from partition.environments.prefixes import SHELLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.instruction import Instruction

_INITS = frozenset({"tini", "dumb-init", "docker-init", "catatonit"})
_WAITING = frozenset({("sleep", "infinity"), ("tail", "-f", "/dev/null"), ("cat",)})


def is_idle(entrypoint: Instruction) -> bool:
    """Return whether the ENTRYPOINT changes nothing in a container, whatever command follows it."""
    words: Sequence[str] = entrypoint.args
    if not entrypoint.json:
        try:
            words = shlex.split(words[0] if words else "")
        except ValueError:
            return False
    words = [word for word in words if word]
    while words and posixpath.basename(words[0]) in _INITS | {"env", "exec"}:
        words = [word for word in words[1:] if word not in {"--", "-g", "-s"}]
    if not words or tuple(words) in _WAITING:
        return True
    if posixpath.basename(words[0]) not in SHELLS:
        return False
    rest = list(words[1:])
    if len(rest) == 2 and rest[0].lstrip("-") == "c":
        return tuple(rest[1].split()) in _WAITING
    return all(word in {"-c", "-l", "-i", "-lc", "--login", "-il", "-e"} for word in rest)
