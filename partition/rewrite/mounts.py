"""RUN's flags: what of ``--mount``, ``--network`` and ``--security`` a started container can do as well."""

from __future__ import annotations

import csv
import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partition.environments.instruction import Instruction


def read_mounts(
    instruction: Instruction, expand: Callable[[str], str], workdir: str
) -> tuple[tuple[str, ...], list[str]]:
    """Return the targets of RUN's cache mounts and, as sentences, what only a build can do."""
    caches: list[str] = []
    problems: list[str] = []
    for flag in instruction.flags:
        name, _, value = flag.removeprefix("--").partition("=")
        if name == "mount":
            options = dict(_options(value))
            kind = options.get("type", "bind")
            target = next((options[key] for key in ("target", "dst", "destination") if key in options), None)
            if kind != "cache" or "from" in options or target is None:
                problems.append(f"RUN --mount=type={kind} takes what only a build has")
            else:
                caches.append(posixpath.normpath(posixpath.join(workdir, expand(target))))
        elif (name, value) not in {("network", "default"), ("network", "host"), ("security", "sandbox")}:
            problems.append(f"RUN {flag}")
    return tuple(caches), problems


def _options(value: str) -> Iterator[tuple[str, str]]:
    for field in next(csv.reader([value]), []):
        key, _, text = field.partition("=")
        yield key.strip().lower(), text
