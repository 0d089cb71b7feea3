"""Which repositories an image receives, at which commit, and which of them the task is about."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.commands.git import TOOLS, folder_of, is_commit, repo_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.commands.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Clone:
    """A repository that the image receives.

    Parameters
    ----------
    url
        As written, variables expanded.
    repo
        ``owner/name``; None where the URL does not tell.
    destination
        Absolute path; None where the script does not tell.
    commit
        What is checked out in it last: a commit, tag or branch; None for the default branch.
    line
        Line of the Dockerfile.
    """

    url: str
    repo: str | None
    destination: str | None
    commit: str | None
    line: int


def clones_of(clones: Sequence[Finding], checkouts: Sequence[Finding]) -> tuple[Clone, ...]:
    """Return the clones in order, each with what is checked out in it last; a commit outweighs a name."""
    return tuple(_clone(each, checkouts, alone=len(clones) == 1) for each in clones)


def repository_of(clones: Sequence[Clone], workdir: str) -> Clone | None:
    """Return the clone that the task is about.

    The one at the final WORKDIR, else one with a checkout, else the first that is no well-known tool.
    """
    at_home = [
        each
        for each in clones
        if each.destination and f"{workdir}/".startswith(f"{each.destination.rstrip('/')}/")
    ]
    others = [each for each in clones if (each.repo or "").lower() not in TOOLS]
    with_commit = [each for each in others if each.commit]
    return next(iter([*at_home, *with_commit, *others]), None)


def _clone(finding: Finding, checkouts: Sequence[Finding], *, alone: bool) -> Clone:
    destination = _inside(finding.directory, finding.detail or folder_of(finding.value))
    commit = None
    for checkout in checkouts:
        folder = _inside(checkout.directory, checkout.detail)
        if checkout.line < finding.line or folder is None or destination is None:
            continue
        if (folder == destination or folder.startswith(f"{destination}/")) and not (
            commit and is_commit(commit) and not is_commit(checkout.value)
        ):
            commit = checkout.value
    if commit is None and alone and checkouts:
        commit = checkouts[-1].value
    return Clone(
        url=finding.value,
        repo=repo_of(finding.value),
        destination=destination,
        commit=commit,
        line=finding.line,
    )


def _inside(directory: str | None, path: str) -> str | None:
    if path.startswith("/"):
        return posixpath.normpath(path)
    return None if directory is None else posixpath.normpath(posixpath.join(directory, path))
