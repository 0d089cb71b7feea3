"""Programs written by hand, and the image that their set-up is tried in."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

from partition.rewrite.program import Program, Put, Run, State
from partition.rewrite.setup import Setup, setup_of
from partition.tasks.model import Entry, Kind

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = "localhost/envfold-test-tools"
"""The base image with git and BusyBox; it stays for the next session."""

ROOT = State()


def tools_image(containers: Any, folder: Path) -> str:
    """Return `TOOLS`, built where it is missing."""
    if subprocess.run(["podman", "image", "exists", TOOLS], check=False).returncode:
        (folder / "Dockerfile").write_text(
            f"FROM {containers.base}\n"
            "RUN apt-get update && apt-get install -y --no-install-recommends busybox git "
            "&& rm -rf /var/lib/apt/lists/*\n"
            "RUN useradd --create-home --uid 1234 --groups games app\n"
        )
        containers.build(folder, TOOLS)
        containers.tags.remove(TOOLS)
    return TOOLS


def sh(line: int, text: str, **state: Any) -> Run:
    """Return a RUN in shell form."""
    return Run(line=line, source=f"RUN {text}", state=State(**state), argv=("/bin/sh", "-c", text))


def file(line: int, path: str, data: bytes, mode: int = 0o644, **other: Any) -> Put:
    """Return what COPY makes of one file."""
    entry = Entry(path=path.rpartition("/")[2], source=data, size=len(data))
    return Put(line=line, source="COPY", state=ROOT, path=path, entry=entry, mode=mode, **other)


def folder(line: int, path: str, mode: int | None = None, **other: Any) -> Put:
    """Return what WORKDIR or COPY of a folder makes."""
    entry = Entry(path=path, kind=Kind.DIRECTORY)
    return Put(line=line, source="WORKDIR", state=ROOT, path=path, entry=entry, mode=mode, **other)


def link(line: int, path: str, target: str, **other: Any) -> Put:
    """Return what COPY makes of a link."""
    entry = Entry(path=path.rpartition("/")[2], kind=Kind.LINK, target=target)
    return Put(line=line, source="COPY", state=ROOT, path=path, entry=entry, **other)


def program(*steps: Any, **other: Any) -> Program:
    """Return the program of these steps."""
    return Program(where="t/environment/Dockerfile", base="debian:bookworm", steps=steps, **other)


def setup(
    *steps: Any, folders: tuple[str, ...] = (), later: tuple[tuple[str, str], ...] = (), **other: Any
) -> Setup:
    """Return the set-up of these steps, which must not be refused."""
    made = setup_of(program(*steps, **other), folders, later=later)
    assert isinstance(made, Setup), str(made)
    return made


def run_setup(container: Any, made: Setup, *, shell: tuple[str, ...] = ("sh",), **other: Any) -> Any:
    """Run the set-up the way a healthcheck does, and leave no second copy of it in the container."""
    stored = container.execute(
        ["sh", "-c", "umask 077; mkdir -p /var/lib/envfold/run && cat >/var/lib/envfold/run/setup"],
        data=made.payload,
    )
    assert stored.returncode == 0, stored.stderr
    return container.execute([*shell, "/var/lib/envfold/run/setup"], **other)


def read(container, path: str) -> str:
    """Return a file of a started container."""
    done = container.execute(["cat", path])
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()
