"""Find and fetch the files of a dataset repository on the Hugging Face Hub.

Files arrive in the cache of `huggingface_hub`, one whole file at a time and only when they are
reached; tars inside parquet files are never extracted. ``HF_ENDPOINT``, ``HF_TOKEN`` and
``HF_HOME`` are honoured by that library; no token is ever shown.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from huggingface_hub import HfApi, constants, errors
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # public, but imported lazily there
    are_progress_bars_disabled,
    disable_progress_bars,
    enable_progress_bars,
)

from partition.errors import Fault, InputError
from partition.tasks.assembly import assemble, marks_task
from partition.tasks.model import Entry, Kind, Tree
from partition.tasks.paths import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.tasks.model import Task

PREFIX = "hf://datasets/"
_SOURCE = re.compile(PREFIX + r"([\w.-]+/[\w.-]+)(?:@(\S+))?", re.ASCII)
_FOLDER_MODE = 0o755
_TransportError: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]  # of requests or httpx


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A dataset repository at one commit.

    Parameters
    ----------
    source
        As the user named it.
    name
        ``ORG/NAME``.
    commit
        What the revision was resolved to.
    endpoint
        Address of the Hub; None for the library's own choice.
    sizes
        Bytes of each file by its path, sorted.
    """

    source: str
    name: str
    commit: str
    endpoint: str | None
    sizes: dict[str, int]

    def ending_in(self, *suffixes: str) -> list[str]:
        """Return the paths with one of these suffixes."""
        return [path for path in self.sizes if path.lower().endswith(suffixes)]


def find_repository(source: str, *, endpoint: str | None = None) -> Repository:
    """Resolve ``hf://datasets/ORG/NAME[@REV]`` to a commit and list its files.

    Raises
    ------
    InputError
        The address makes no sense, or the Hub cannot be reached, does not know the repository or the
        revision, or does not show it to us.
    """
    match = _SOURCE.fullmatch(source)
    if match is None:
        raise InputError(f"{source}: not an address on the Hub", hint=f"write {PREFIX}ORG/NAME[@REVISION]")
    api = HfApi(endpoint=endpoint)
    with _explained(source, endpoint):
        commit = api.dataset_info(match[1], revision=match[2]).sha
        if commit is None:
            raise InputError(f"{source}: the Hub names no commit", hint="the repository may be empty")
        listing = api.list_repo_tree(match[1], recursive=True, revision=commit, repo_type="dataset")
        sizes = {item.path: item.size for item in listing if isinstance(item, RepoFile)}
    wrong = [Fault(where=source, what=f"path {path!r} {what}") for path in sizes if (what := fault_of(path))]
    if wrong:
        raise InputError(f"{source}: the Hub lists paths that are none", faults=wrong)
    return Repository(
        source=source,
        name=match[1],
        commit=commit,
        endpoint=endpoint,
        sizes={path: sizes[path] for path in sorted(sizes)},
    )


def fetch(repository: Repository, path: str) -> Path:
    """Return the local copy of one file, downloaded unless the cache has it.

    Raises
    ------
    InputError
        It cannot be downloaded.
    """
    with _explained(repository.source, repository.endpoint), bars_on_terminals_only():
        return Path(
            HfApi(endpoint=repository.endpoint).hf_hub_download(
                repository.name, path, repo_type="dataset", revision=repository.commit
            )
        )


def find_repository_tasks(repository: Repository) -> dict[str, list[str]]:
    """Return the files of each task directory in the repository, by the directory's path."""
    files: dict[str, set[str]] = defaultdict(set)
    folders: dict[str, set[str]] = defaultdict(set)
    for path in repository.sizes:
        parent, _, name = path.rpartition("/")
        files[parent].add(name)
        while parent:
            parent, _, name = parent.rpartition("/")
            folders[parent].add(name)
    tasks: dict[str, list[str]] = {
        folder: [] for folder in sorted(files) if marks_task(files[folder], folders[folder])
    }
    for path in repository.sizes:
        parts = path.split("/")
        for depth in range(len(parts)):
            if (members := tasks.get("/".join(parts[:depth]))) is not None:
                members.append(path)
                break
    return {folder: members for folder, members in tasks.items() if members}


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A task directory of a repository, in the local copy of it."""

    repository: Repository
    folder: Path
    task: str
    members: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return 0: its files stay on disk."""
        return 0

    @property
    def name(self) -> str | None:
        """Return None: it is no row of a table."""
        return None

    def read(self) -> Iterator[Task | Fault]:
        """Yield the task, or its faults; every file is ``0o644``, as the Hub lists no permissions."""
        task = self.task
        identifier = task or self.repository.name.rpartition("/")[2]
        where = f"{self.repository.source}/{task}" if task else self.repository.source
        start = len(task) + 1 if task else 0
        sources = {path[start:]: Path(self.folder, path) for path in self.members}
        yield from assemble(identifier, where, _tree(sources, identifier.rpartition("/")[2]))


def download_repository(repository: Repository, tasks: dict[str, list[str]]) -> Iterator[Downloaded]:
    """Yield the tasks that `find_repository_tasks` found, in the order of their paths, downloaded.

    Raises
    ------
    InputError
        The files cannot be downloaded.
    """
    with _explained(repository.source, repository.endpoint), bars_on_terminals_only():
        folder = Path(
            HfApi(endpoint=repository.endpoint).snapshot_download(
                repository.name, repo_type="dataset", revision=repository.commit
            )
        )
    for task, members in tasks.items():
        yield Downloaded(repository, folder, task, tuple(members))


def _tree(sources: dict[str, Path], name: str) -> Tree:
    entries = {
        path: Entry(path=path, source=source, size=source.stat().st_size) for path, source in sources.items()
    }
    for path in sources:
        folder = path.rpartition("/")[0]
        while folder and folder not in entries:
            entries[folder] = Entry(path=folder, kind=Kind.DIRECTORY, mode=_FOLDER_MODE)
            folder = folder.rpartition("/")[0]
    return Tree(tuple(entries[path] for path in sorted(entries)), name=name)


@contextmanager
def bars_on_terminals_only() -> Iterator[None]:
    """Keep the progress bars of `huggingface_hub` out of what is no terminal."""
    silence = not sys.stderr.isatty() and not are_progress_bars_disabled()
    if silence:
        disable_progress_bars()
    try:
        yield
    finally:
        if silence:
            enable_progress_bars()


@contextmanager
def _explained(source: str, endpoint: str | None) -> Iterator[None]:
    """Turn what `huggingface_hub` raises into one message with a remedy, and no token in it."""
    try:
        yield
    except errors.GatedRepoError as error:
        raise InputError(
            f"{source}: the dataset is gated",
            hint="ask for access on its page, then set HF_TOKEN to a token of that account",
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise InputError(
            f"{source}: no such dataset, or it is private",
            hint="check ORG/NAME; for a private dataset set HF_TOKEN to a token that may read it",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise InputError(
            f"{source}: the dataset has no such revision", hint="name a branch, a tag or a commit after the @"
        ) from error
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", None)
        hint = "the token in HF_TOKEN was refused" if status == 401 else "try again later"
        raise InputError(f"{source}: the Hub answers with HTTP status {status}", hint=hint) from error
    except (_TransportError, OSError) as error:
        if isinstance(error, OSError) and error.errno and not isinstance(error, ConnectionError):
            hint = "free some space, or set HF_HOME to a place that can be written"
            raise InputError(f"{source}: not downloaded: {error.strerror}", hint=hint) from error
        address = endpoint or constants.ENDPOINT
        raise InputError(
            f"{source}: the Hub at {address} cannot be reached ({type(error).__name__})",
            hint="check the network, HF_ENDPOINT and HF_HUB_OFFLINE, or give a local copy",
        ) from error
