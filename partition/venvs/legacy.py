"""Locks for interpreters that uv does not resolve for, by the interpreter's own pip, from wheels alone."""

from __future__ import annotations

import hashlib
import os
import subprocess
from typing import TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from partition.venvs.locked import Lock, Locked, Unlockable
from partition.venvs.resolver import temporary
from partition.venvs.resolving import UNDATED

if TYPE_CHECKING:
    from pathlib import Path

    from partition.venvs.interpreters import Interpreter
    from partition.venvs.locked import Kind
    from partition.venvs.platforms import Platform
    from partition.venvs.spec import VenvSpec

DATELESS = "the interpreter's own pip knows no dates: later releases that still support it count"

_NETWORK = (
    "NewConnectionError",
    "Could not fetch URL",
    "name resolution",
    "Max retries exceeded",
    "ReadTimeout",
)


def lock_with_pip(
    spec: VenvSpec, interpreter: Interpreter, *, platform: Platform, cache: Path, offline: bool
) -> Lock | Unlockable:
    """Return what ``pip download`` of the interpreter takes; wheels alone, so that nothing is built."""
    if offline:
        return Unlockable(spec=spec, reason="not in the cache, and offline", kind="network")
    if platform.libc.startswith("musl"):
        reason = f"Python {spec.python} is given by path for glibc, and the base image has {platform.libc}"
        return Unlockable(spec=spec, reason=reason, kind="interpreter")
    with temporary(cache) as folder:
        asked = folder / "asked.txt"
        asked.write_text("".join(f"{each}\n" for each in spec.requirements))
        wheels = folder / "wheels"
        done = subprocess.run(
            [str(interpreter.path), "-m", "pip", "download", "--quiet", "--only-binary", ":all:",
             "--cache-dir", str((cache / "pip").resolve()), "--dest", str(wheels), "-r", str(asked),
             *(["--no-deps"] if spec.exact else [])],
            env=os.environ | {"TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}, cwd=folder,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode:
            lines = [each.strip() for each in done.stderr.splitlines() if each.strip().startswith("ERROR")]
            words = "\n".join(lines or done.stderr.splitlines()[-3:]).replace(str(folder), ".")
            return Unlockable(spec=spec, reason=words, kind=_kind(done.stderr))
        packages = sorted(each for each in map(_locked, wheels.iterdir()) if each)
    notes = [] if spec.exact else [DATELESS if spec.as_of else UNDATED]
    return Lock(spec=spec, packages=tuple(packages), python=interpreter.full, notes=tuple(notes))


def _locked(wheel: Path) -> Locked | None:
    try:
        name, version, _, _ = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename:
        return None
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Locked(name=str(name), version=str(version), hashes=(f"sha256:{digest}",))


def _kind(words: str) -> Kind:
    if any(each in words for each in _NETWORK):
        return "network"
    if "(from versions: none)" in words:
        return "source"
    return "vanished" if "(from versions:" in words else "unsatisfiable"
