"""Real containers: images built with podman, and the whole file system of what was built.

Needs root, podman and mmdebstrap (Debian packages). Where they are missing the tests are skipped, or fail
where ``CI`` is set.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NOISE = re.compile(
    r"/(?:proc|sys|dev|run)(?:/.*)?"
    r"|/etc/(?:hostname|hosts|resolv\.conf|mtab|ld\.so\.cache)"
    r"|/var/(?:log|cache/ldconfig|cache/apt|cache/debconf|lib/apt/lists)(?:/.*)?"
    r"|/var/lib/dpkg/.*-old|/var/lib/apt/extended_states"
    r"|.*/__pycache__(?:/.*)?"
    # the index keeps times, the log keeps when
    r"|.*/\.git/(?:index|logs(?:/.*)?)"
)
"""Paths that differ from one build to the next, whatever the build does."""

_hashes: dict[tuple[int, int, int, int], str] = {}

Node = tuple[str, int, int, int, str]


def _podman(*arguments: str | Path, data: bytes | None = None, check: bool = True) -> str:
    done = subprocess.run(["podman", *arguments], input=data, capture_output=True, check=False)
    out = done.stdout.decode(errors="replace")
    if check and done.returncode:
        raise AssertionError(
            f"podman {arguments[0]}: {out[-2000:]}{done.stderr.decode(errors='replace')[-4000:]}"
        )
    return out


class Container:
    """A started container that does nothing by itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def execute(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
        workdir: str | None = None,
        data: bytes | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command in it, as a sandbox does: `env` is added to the container's."""
        options = [f"--env={name}={value}" for name, value in (env or {}).items()]
        options += [f"--user={user}"] if user else []
        options += [f"--workdir={workdir}"] if workdir else []
        return subprocess.run(
            ["podman", "exec", "--interactive", *options, self.name, *argv],
            input=data or b"",
            capture_output=True,
            check=False,
        )


class Containers:
    """What the tests do with podman; every image and container of a session is removed at its end."""

    base = images.DEBIAN

    def __init__(self) -> None:
        self.tags: list[str] = []

    def build(
        self, context: Path, tag: str | None = None, *, file: Path | None = None, form: str = "docker"
    ) -> str:
        """Return the tag of the image built from ``context/Dockerfile``.

        Parameters
        ----------
        form
            ``docker`` knows SHELL; ``oci`` is what podman takes by itself.
        """
        tag = tag or f"envfold-test-{uuid.uuid4().hex[:12]}"
        self.tags.append(tag)
        options = [f"--format={form}", f"--tag={tag}", f"--file={file or context / 'Dockerfile'}"]
        _podman(
            "build",
            "--isolation=chroot",
            "--network=host",
            "--pull=never",
            "--layers=false",
            *options,
            context,
        )
        return tag

    def run(
        self, tag: str, argv: Sequence[str], *, env: Mapping[str, str] | None = None, user: str | None = None
    ) -> str:
        """Return what `argv` prints in a container of its own."""
        options = [f"--env={name}={value}" for name, value in (env or {}).items()]
        options += [f"--user={user}"] if user else []
        return _podman("run", "--rm", "--network=host", "--entrypoint=", *options, tag, *argv)

    @contextmanager
    def started(
        self, tag: str, *, env: Mapping[str, str] | None = None, workdir: str | None = None
    ) -> Iterator[Container]:
        """Start a container that sleeps, and remove it in the end."""
        options = [f"--env={name}={value}" for name, value in (env or {}).items()]
        options += [f"--workdir={workdir}"] if workdir else []
        name = f"envfold-test-{uuid.uuid4().hex[:12]}"
        _podman(
            "run", "--detach", "--network=host", "--init", "--entrypoint=", f"--name={name}", *options, tag,
            "sleep", "infinity",
        )  # fmt: skip
        try:
            yield Container(name)
        finally:
            _podman("rm", "--force", "--time=0", name)

    def tree_of(self, name: str | Container) -> dict[str, Node]:
        """Return {path: (kind, mode, uid, gid, SHA-256 or target)} of an image or container."""
        is_container = isinstance(name, Container)
        target = name.name if isinstance(name, Container) else name
        command = ("mount",) if is_container else ("image", "mount")
        root = Path(_podman(*command, target).split()[-1])
        try:
            return dict(sorted(_walk(root)))
        finally:
            _podman(*(("umount",) if is_container else ("image", "unmount")), target, check=not is_container)

    def clean(self) -> None:
        if self.tags:
            _podman("rmi", "--force", *sorted(set(self.tags)), check=False)


def _walk(root: Path) -> Iterator[tuple[str, Node]]:
    stack = [root]
    while stack:
        folder = stack.pop()
        for each in os.scandir(folder):
            path = f"/{Path(each.path).relative_to(root)}"
            if _NOISE.fullmatch(path):
                continue
            found = each.stat(follow_symlinks=False)
            kind, content = _content(Path(each.path), found)
            if kind == "directory":
                stack.append(Path(each.path))
            yield path, (kind, stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid, content)


def _content(path: Path, found: os.stat_result) -> tuple[str, str]:
    if stat.S_ISLNK(found.st_mode):
        return "link", str(path.readlink())
    if stat.S_ISDIR(found.st_mode):
        return "directory", ""
    if not stat.S_ISREG(found.st_mode):
        return "device", ""
    key = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if key not in _hashes:
        _hashes[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    return "file", _hashes[key]


def differences(
    left: Mapping[str, Node], right: Mapping[str, Node]
) -> dict[str, tuple[Node | None, Node | None]]:
    """Return {path: (left, right)} where two file systems differ."""
    return {
        path: (left.get(path), right.get(path))
        for path in sorted(left.keys() | right.keys())
        if left.get(path) != right.get(path)
    }


@pytest.fixture(scope="session")
def containers(podman: None) -> Iterator[Containers]:
    """Build and run containers; the base image is made once and stays for the next session."""
    images.make_debian()
    made = Containers()
    yield made
    made.clean()


@pytest.fixture(scope="session", name="differences")
def differences_fixture():
    """Return `differences`: tests cannot import from a conftest."""
    return differences
