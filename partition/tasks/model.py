"""What a task is, whatever it was read from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from partition.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHUNK = 1 << 20


class Kind(StrEnum):
    """What a path in a task directory is."""

    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One path of a task directory.

    Parameters
    ----------
    path
        POSIX path relative to the tree that holds the entry.
    kind
        A link is never followed by a reader; `target` says where it points.
    source
        The bytes of a file, or the path on disk to read them from when asked.
    size
        Bytes of a file; 0 for links and directories.
    mode
        Permission bits (``0o644``).
    target
        Where a link points, as written.
    """

    path: str
    kind: Kind = Kind.FILE
    source: bytes | Path = b""
    size: int = 0
    mode: int = 0o644
    target: str = ""

    def chunks(self) -> Iterator[bytes]:
        """Yield the file's bytes, at most 1 MiB at a time where they are on disk.

        Raises
        ------
        InputError
            The file was removed or made unreadable since its directory was listed.
        """
        if isinstance(self.source, bytes):
            yield self.source
            return
        try:
            with self.source.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk
        except OSError as error:
            fault = Fault(where=str(self.source), what=f"cannot be read: {error.strerror or error}")
            raise InputError(str(fault), faults=[fault]) from error

    def read(self) -> bytes:
        """Return all bytes of the file."""
        return self.source if isinstance(self.source, bytes) else b"".join(self.chunks())


@dataclass(frozen=True)
class Tree:
    """A directory as a sorted tuple of entries; reading one writes nothing.

    Parameters
    ----------
    entries
        Sorted by path. Directories are listed so that empty ones are not lost.
    name
        Base name of the directory.
    """

    entries: tuple[Entry, ...] = ()
    name: str = ""

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        """Entries by their path."""
        return {entry.path: entry for entry in self.entries}

    def get(self, path: str) -> Entry | None:
        """Return the entry at `path`, or None."""
        return self.by_path.get(path)

    def files(self) -> Iterator[Entry]:
        """Yield regular files only, in path order."""
        return (entry for entry in self.entries if entry.kind is Kind.FILE)

    def below(self, folder: str) -> Tree:
        """Return the tree of `folder`, its paths relative to it; empty where it does not exist."""
        prefix = folder + "/"
        return Tree(
            tuple(
                Entry(
                    path=entry.path[len(prefix) :],
                    kind=entry.kind,
                    source=entry.source,
                    size=entry.size,
                    mode=entry.mode,
                    target=entry.target,
                )
                for entry in self.entries
                if entry.path.startswith(prefix)
            ),
            name=folder.rpartition("/")[2],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentConfig:
    """The ``[environment]`` table of task.toml, deprecated keys already translated."""

    docker_image: str | None = None
    os: str = "linux"
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    gpus: int | None = None
    network_mode: str = "public"
    """``public``, ``allowlist`` or ``no-network``."""
    env: tuple[tuple[str, str], ...] = ()
    workdir: str | None = None
    healthcheck: str | None = None

    @property
    def resources(self) -> tuple[float | None, int | None, int | None, int | None]:
        """Return (cpus, memory in MB, storage in MB, gpus): what the snapshot key leaves out."""
        return (self.cpus, self.memory_mb, self.storage_mb, self.gpus)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierConfig:
    """The ``[verifier]`` table of task.toml or of one step."""

    environment_mode: str | None = None
    """``shared``, ``separate`` or None where nothing is said."""
    environment: EnvironmentConfig | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepConfig:
    """One ``[[steps]]`` table."""

    name: str
    verifier: VerifierConfig = field(default_factory=VerifierConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfig:
    """What envfold reads in task.toml."""

    environment: EnvironmentConfig = field(default_factory=EnvironmentConfig)
    verifier: VerifierConfig = field(default_factory=VerifierConfig)
    steps: tuple[StepConfig, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    """Scalar values of ``[metadata]`` as text, sorted by key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One row of a spec table: what a task needs, where there is no Dockerfile yet.

    Parameters
    ----------
    repo
        ``owner/name``.
    version
        The release series the task belongs to, as its authors write it.
    base_commit
        Commit that the task starts from.
    python
        ``3.9``; None where the row does not say.
    apt, pip, conda
        Package requirements, sorted, as written (``libpq-dev``, ``numpy<2``).
    requirement_files
        Files inside the repository that name further packages (``environment.yml``).
    created_at
        ISO date of the task.
    outcomes
        Recorded (setting, outcome) pairs of the gold solution in the task's own environment;
        an outcome is ``pass``, ``fail``, ``unlisted`` (not named among the failures), ``unverified``
        (not named among the passes), ``network`` (passes only with network), ``flaky`` or ``missing``
        (no image).
    """

    repo: str
    version: str = ""
    base_commit: str | None = None
    python: str | None = None
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    conda: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    created_at: str | None = None
    outcomes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task of a dataset.

    Parameters
    ----------
    id
        Unique within the dataset: the directory's path below the dataset, or the table's id.
    where
        The place to name in messages: a path, or ``file.parquet[12]``.
    files
        The task directory; empty for a row of a spec table.
    config
        What task.toml says.
    spec
        The row of a spec table; None for a task that is a directory.
    """

    id: str
    where: str
    files: Tree = field(default_factory=Tree)
    config: TaskConfig = field(default_factory=TaskConfig)
    spec: Spec | None = None

    @cached_property
    def environment(self) -> Tree:
        """The tree of ``environment/``."""
        tree = self.files.below("environment")
        return tree if tree.name else Tree(name="environment")

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every path, kind, permission and byte of the task, or over its spec row."""
        digest = hashlib.sha256()
        digest.update(repr((self.id, self.spec)).encode())
        for entry in self.files.entries:
            head = f"{entry.kind}\0{entry.path}\0{entry.mode:o}\0{entry.size}\0{entry.target}\0"
            digest.update(head.encode("utf-8", "surrogateescape"))
            if entry.kind is Kind.FILE:
                for chunk in entry.chunks():
                    digest.update(chunk)
        return digest.hexdigest()
