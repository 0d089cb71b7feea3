"""Following links inside a task, as the kernel would and without touching a disk."""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter

from partition.errors import InputError
from partition.tasks.model import Entry, Kind, Tree

_MOST_LINKS = 40
"""Links that Linux follows in one look-up before it answers ELOOP (path_resolution(7))."""


class UnusablePathError(InputError):
    """One path of a task cannot be used.

    Parameters
    ----------
    path
        Relative to the directory in question.
    what, hint
        As in `Fault`.
    """

    def __init__(self, path: str, what: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {what}", hint=hint)
        self.path = path
        self.what = what

    def at(self, path: str) -> UnusablePathError:
        """Return the same error about `path`, the same place seen from elsewhere."""
        return type(self)(path, self.what, hint=self.hint)


class LinkLeavesTaskError(UnusablePathError):
    """A link points outside the task, where nothing is known and nothing is read."""


def resolve(tree: Tree, path: str) -> Entry | None:
    """Return the file or directory that `path` leads to, its path without links; None where nothing does.

    Parameters
    ----------
    tree
        The task directory.
    path
        Path below it; any part may be a link.

    Raises
    ------
    LinkLeavesTaskError
        A link on the way is absolute or climbs out of the task.

    Notes
    -----
    path_resolution(7): links are followed one part at a time, ``..`` is the real parent, a file cannot
    have a part below it, and more than 40 links lead nowhere.
    """
    remaining = path.split("/")[::-1]
    here: list[str] = []
    links = 0
    while remaining:
        part = remaining.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not here:
                raise _leaves(path, "climbs out of it")
            here.pop()
            continue
        place = "/".join([*here, part])
        entry = tree.get(place)
        if entry is None or entry.kind is Kind.DIRECTORY:
            if entry is None and not _is_folder(tree, place):
                return None
            here.append(part)
        elif entry.kind is Kind.FILE:
            return None if remaining else entry
        else:
            links += 1
            if links > _MOST_LINKS:
                return None
            if entry.target.startswith("/"):
                raise _leaves(path, f"is absolute: {entry.target}")
            remaining.extend(entry.target.split("/")[::-1])
    place = "/".join(here)
    return tree.get(place) or Entry(path=place, kind=Kind.DIRECTORY)


def require_contained(tree: Tree, folder: str) -> None:
    """Refuse a folder from which links lead out of the task or in circles, as Harbor does from 0.20 on.

    Raises
    ------
    UnusablePathError
        Names the first such link (``harbor.utils.path_safety.validate_input_tree``).
    """
    if all(entry.kind is not Kind.LINK for entry in tree.entries):
        return
    checked: set[str] = set()

    def visit(path: str, ancestors: frozenset[str]) -> None:
        entry = resolve(tree, path)
        if entry is None or entry.kind is not Kind.DIRECTORY:
            return
        if entry.path in ancestors:
            raise UnusablePathError(
                path,
                "the link leads back to a folder that holds it, and Harbor refuses the task",
                hint="remove the link",
            )
        if entry.path in checked:
            return
        for name in _children(tree, entry.path):
            visit(f"{path}/{name}", ancestors | {entry.path})
        checked.add(entry.path)

    visit(folder, frozenset())


def _leaves(path: str, how: str) -> LinkLeavesTaskError:
    return LinkLeavesTaskError(
        path,
        f"the link leaves the task: it {how}",
        hint="replace it by a copy of what it points at, or by a link inside the task",
    )


def _is_folder(tree: Tree, path: str) -> bool:
    """Return whether anything lies below `path`: an archive need not list the folders of its files."""
    below = f"{path}/"
    position = bisect_left(tree.entries, below, key=attrgetter("path"))
    return position < len(tree.entries) and tree.entries[position].path.startswith(below)


def _children(tree: Tree, folder: str) -> list[str]:
    prefix = f"{folder}/" if folder else ""
    names = {
        entry.path[len(prefix) :].partition("/")[0]
        for entry in tree.entries
        if entry.path.startswith(prefix) and entry.path != folder
    }
    return sorted(names)
