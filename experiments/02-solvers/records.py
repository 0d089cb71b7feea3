"""Files of runs: a JSON object a line, appended to as soon as a run ends."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
SOLVERS = HERE.parents[1] / "solvers"


def read(path: Path) -> list[dict[str, Any]]:
    """Return the runs so far; a line that a crash cut off does not count."""
    runs = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            runs.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return runs


def append(path: Path, run: dict[str, Any]) -> None:
    """Add a run in one write, so that several processes may add to the same file."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(file).st_size
        cut_off = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        os.write(file, (("\n" if cut_off else "") + json.dumps(run) + "\n").encode())
        os.fsync(file)
    finally:
        os.close(file)


def code(package: str) -> str:
    """Return a short hash of the sources that decide what ``solvers.<package>`` answers."""
    digest = hashlib.sha256()
    for path in [*sorted(SOLVERS.glob("*.py")), *sorted((SOLVERS / package).rglob("*.py"))]:
        digest.update(path.relative_to(SOLVERS).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def machine() -> str:
    """Say what the run is made on."""
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
