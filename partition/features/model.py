"""What a task needs from its environment, in the terms that decide whether its oracle passes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFeatures:
    """The feature vector of one task.

    Parameters
    ----------
    task
        The task's id.
    base
        Image reference that the environment starts from (``python:3.9-slim-bookworm``); None where
        nothing says.
    distribution, release
        ``debian`` and ``bookworm``; None where the base does not tell.
    python
        ``3.9``; None where nothing says.
    apt
        System packages, sorted, ``name`` or ``name=pin``.
    pip, conda
        Installed packages, sorted, as canonical PEP 508 requirements or as written.
    requirement_files
        Files that name further packages (``environment.yml``), sorted.
    other
        ``npm:typescript@5``, ``cargo:ripgrep``, ``go:...``, sorted.
    repo, version, commit
        Repository as ``owner/name``, its release series, the commit that the task starts from.
    family
        The repository family: `repo` in lower case, or the base image where there is no repository.
    copied
        (path in the environment directory, bytes) of each file that the image receives.
    network_mode
        ``public``, ``allowlist`` or ``no-network``, at run time.
    resources
        (cpus, memory in MB, storage in MB, gpus).
    created_at
        ISO date of the task, or None.
    outcomes
        (setting, outcome) pairs of the gold solution in the task's own environment, as `Spec.outcomes`.
    refusal
        Why the task cannot be folded (compose, Windows, prebuilt image without a Dockerfile); empty
        where it can.
    sources
        (feature, value, place) triples: the line that each feature came from.
    """

    task: str
    base: str | None = None
    distribution: str | None = None
    release: str | None = None
    python: str | None = None
    apt: tuple[str, ...] = ()
    pip: tuple[str, ...] = ()
    conda: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    repo: str | None = None
    version: str = ""
    commit: str | None = None
    family: str = ""
    copied: tuple[tuple[str, int], ...] = ()
    network_mode: str = "public"
    resources: tuple[float | None, int | None, int | None, int | None] = (None, None, None, None)
    created_at: str | None = None
    outcomes: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
    sources: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskClass:
    """All tasks with equal features.

    Parameters
    ----------
    tasks
        Ids, sorted.
    features
        What they share; `task`, `commit`, `copied`, `sources` are blank, and `created_at` is the
        latest date among them.
    """

    tasks: tuple[str, ...]
    features: TaskFeatures

    @property
    def weight(self) -> int:
        """Return the number of tasks."""
        return len(self.tasks)
