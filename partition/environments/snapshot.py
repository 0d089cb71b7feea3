"""The snapshot key: which environments a provider takes for the same, exactly as Harbor computes it."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from operator import itemgetter
from typing import TYPE_CHECKING

from partition.environments.links import LinkLeavesTaskError, UnusablePathError, resolve
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.tasks.model import Entry, Tree

IGNORED_NAMES = frozenset({".DS_Store", ".git", "__pycache__"})
"""Names that keep a file out of the content key, whether they are the file's or a folder's above it."""

_HASH_LENGTH = 12
"""Hexadecimal digits of the key in a snapshot's name (``harbor.environments.definition``)."""

_LARGE = 1 << 32
"""Bytes from which a file's size no longer fits the 4 bytes it has in the key."""


class Generation(StrEnum):
    """Which Harbor computes the key."""

    CONTENT = "content"
    """Harbor 0.20 and later."""
    LEGACY = "legacy"
    """Harbor 0.9 to 0.16, and forks of them."""


def content_key(tree: Tree, *, docker_image: str | None = None, directory_name: str | None = None) -> str:
    """Return the key that Harbor 0.20 and later give to an environment directory.

    Parameters
    ----------
    tree
        The directory.
    docker_image
        ``docker_image`` of task.toml, which stands for a directory without files.
    directory_name
        Base name of the directory, which stands for it where there is no image either; the tree's own name
        by default.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    InputError
        A file's name is not UTF-8, or it cannot be read, or changed while it was.

    Notes
    -----
    ``environment_content_hash`` in ``harbor/environments/definition.py``: regular files only, links left
    out, sorted by POSIX path. The sizes take 8 bytes instead of 4, and a leading byte 1 says so, as soon as
    one file has 4 GiB.
    """
    files = content_files(tree)
    if not files:
        seed = docker_image or (tree.name if directory_name is None else directory_name)
        return hashlib.sha256(seed.encode()).hexdigest()
    if any(entry.size >= _LARGE for _, entry in files):
        return _digest(files, prefix=b"\x01", size_bytes=8)
    return _digest(files, prefix=b"", size_bytes=4)


def legacy_key(tree: Tree, *, task: Tree | None = None, folder: str = "") -> str:
    """Return the key that Harbor 0.9 to 0.16 give to an environment directory.

    Parameters
    ----------
    tree
        The directory.
    task, folder
        The task directory and the place of `tree` in it, so that links may lead to the rest of the task;
        without them links are followed inside `tree` only.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    InputError
        A link leaves the task, so that the key would depend on the machine; a file has 4 GiB or more, which
        that Harbor cannot hash; or as for `content_key`.

    Notes
    -----
    ``environment_dir_hash`` in ``harbor/utils/container_cache.py`` (0.16.1): links to files are followed,
    links to folders are not descended, nothing is ignored, and the order is that of ``Path`` objects, which
    compare part by part.
    """
    files = legacy_files(tree, task=task, folder=folder)
    for path, entry in files:
        if entry.size >= _LARGE:
            raise UnusablePathError(
                path,
                f"{entry.size} bytes, and this Harbor's key has room for sizes below 4 GiB",
                hint="use the content key, or fetch the file at run time",
            )
    return _digest(files, prefix=b"", size_bytes=4)


def content_files(tree: Tree) -> list[tuple[str, Entry]]:
    """Return what the content key covers, in its order: paths and the files they stand for."""
    files = [(entry.path, entry) for entry in tree.files() if IGNORED_NAMES.isdisjoint(entry.path.split("/"))]
    files.sort(key=itemgetter(0))
    return files


def legacy_files(tree: Tree, *, task: Tree | None = None, folder: str = "") -> list[tuple[str, Entry]]:
    """Return what the legacy key covers, in its order; arguments and errors are those of `legacy_key`."""
    files = []
    for entry in tree.entries:
        target: Entry | None = entry
        if entry.kind is Kind.LINK:
            try:
                target = resolve(task or tree, f"{folder}/{entry.path}" if folder else entry.path)
            except LinkLeavesTaskError as error:
                raise error.at(entry.path) from error
        if target is not None and target.kind is Kind.FILE:
            files.append((entry.path, target))
    files.sort(key=lambda file: file[0].split("/"))
    return files


def snapshot_name(key: str, target: str | None = None) -> str:
    """Return the provider's name of the snapshot with this key.

    Parameters
    ----------
    key
        At least 12 hexadecimal digits; the first 12 are used.
    target
        The provider target (``DAYTONA_TARGET``) that the snapshot is built for.
    """
    short = key[:_HASH_LENGTH]
    return f"harbor__{short}__{target}__snapshot" if target else f"harbor__{short}__snapshot"


def _digest(files: Iterable[tuple[str, Entry]], *, prefix: bytes, size_bytes: int) -> str:
    digest = hashlib.sha256(prefix)
    for path, entry in files:
        try:
            name = path.encode()
        except UnicodeEncodeError as error:
            raise UnusablePathError(
                ascii(path), "the name is not UTF-8, and Harbor cannot hash it", hint="rename the file"
            ) from error
        digest.update(len(name).to_bytes(4, "big") + name + entry.size.to_bytes(size_bytes, "big"))
        read = 0
        for chunk in entry.chunks():
            digest.update(chunk)
            read += len(chunk)
        if read != entry.size:
            raise UnusablePathError(
                path,
                f"{read} bytes where {entry.size} were expected: the file changed while it was read",
                hint="count again when nothing writes to the dataset",
            )
    return digest.hexdigest()
