"""COPY and ADD: which files of the build context an image receives, and where."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from partition.environments.modes import changed_mode
from partition.environments.syntax import expand_text, heredoc_name, ignore_matcher
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from partition.environments.stages import Step
    from partition.tasks.model import Entry

_REMOTE = re.compile(r"(https?://|git@|ssh://|git://)", re.IGNORECASE)
_ARCHIVE = re.compile(r"\.(tar|tar\.gz|tgz|tar\.bz2|tbz2?|tar\.xz|txz|tar\.zst)\Z")
_WILDCARD = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """One file that an image receives.

    Parameters
    ----------
    source
        Path in the build context; of a heredoc its name.
    destination
        Absolute path in the image.
    size
        Bytes.
    mode
        Permission bits in the context; what ``--chmod`` says goes before it.
    line
        Line of the instruction.
    content, content_line
        The text of a heredoc and the line it starts on; None for a file of the context.
    unpacked
        Whether ADD unpacks it at the destination.
    """

    source: str
    destination: str
    size: int
    mode: int
    line: int
    content: str | None = None
    content_line: int = 0
    unpacked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyResult:
    """What one COPY or ADD brings.

    Parameters
    ----------
    files
        In context order.
    missing
        Sources that match nothing in the context: the build would fail.
    remote
        URLs and repositories that ADD fetches.
    origin
        Stage or image of ``--from``; None for the build context.
    """

    files: tuple[Copied, ...] = ()
    missing: tuple[str, ...] = ()
    remote: tuple[str, ...] = ()
    origin: str | None = None


def copy_sources(step: Step) -> tuple[tuple[str, ...], str]:
    """Return the sources (heredoc markers left out) and the destination, absolute, of COPY or ADD.

    A destination that ends in ``/`` or names the current folder keeps its slash.
    """
    words, written = step.words, step.instruction.args
    if len(words) < 2:
        return (), step.workdir
    sources = tuple(
        word
        for word, raw in zip(words[:-1], written[:-1], strict=True)
        if step.instruction.json or heredoc_name(raw) is None
    )
    target = words[-1]
    path = posixpath.normpath(posixpath.join(step.workdir, target))
    folder = target.endswith(("/", "/.")) or target in {"", "."}
    return sources, f"{path.rstrip('/')}/" if folder else path


def read_copy(
    step: Step, entries: Sequence[Entry], *, folders: Collection[str] = (), escape: str = "\\"
) -> CopyResult:
    """Return what a COPY or ADD of the final image's chain brings.

    Parameters
    ----------
    entries
        The build context without what ``.dockerignore`` leaves out.
    folders
        Folders known to exist in the image, so that a file copied to one lands inside it.
    """
    origin = step.instruction.flag("from")
    if origin is not None:
        return CopyResult(origin=origin)
    sources, target = copy_sources(step)
    remote = tuple(each for each in sources if step.name == "ADD" and _REMOTE.match(each))
    local = [each for each in sources if each not in remote]
    excluded = _excluded(step)
    files: list[Copied] = []
    missing: list[str] = []
    folder = target.endswith("/") or target in folders or len(sources) > 1
    parents = step.instruction.flag("parents") is not None
    for source in local:
        if parents:
            found = _with_parents(source, entries, target, step, excluded)
            files += found
            missing += [] if found else [source]
            continue
        roots = match_sources(source, entries)
        if not roots:
            missing.append(source)
        inside = folder or len(roots) > 1
        for root in roots:
            files += _below(root, entries, target.rstrip("/") or "/", step, inside=inside, excluded=excluded)
    return CopyResult(files=(*files, *_heredocs(step, target, escape)), missing=tuple(missing), remote=remote)


def _heredocs(step: Step, target: str, escape: str) -> list[Copied]:
    found = []
    for heredoc in step.instruction.heredocs:
        content = heredoc.content
        if heredoc.expand:
            content = _expanded(content, step, escape)
        destination = posixpath.join(target, heredoc.name) if target.endswith("/") else target
        size = len(content.encode("utf-8", "surrogateescape"))
        found.append(
            Copied(
                source=heredoc.name,
                destination=destination,
                size=size,
                mode=_mode(step, 0o644),
                line=step.line,
                content=content,
                content_line=heredoc.line,
            )
        )
    return found


def _expanded(content: str, step: Step, escape: str) -> str:
    try:
        return expand_text(content, step.variables, escape=escape)
    except ValueError:
        return content


def _excluded(step: Step) -> list[str]:
    return [flag.partition("=")[2] for flag in step.instruction.flags if flag.startswith("--exclude=")]


def match_sources(source: str, entries: Sequence[Entry]) -> list[str]:
    """Return the context paths that a source names; the root of the context is the empty string."""
    path = posixpath.normpath("/" + source).strip("/")
    if not path:
        return [""]
    if not _WILDCARD.search(path):
        prefix = f"{path}/"
        return [path] if any(each.path == path or each.path.startswith(prefix) for each in entries) else []
    depth = path.count("/") + 1
    pattern = _pattern(path)
    found = {"/".join(each.path.split("/")[:depth]) for each in entries if each.path.count("/") >= depth - 1}
    return sorted(each for each in found if pattern.fullmatch(each))


@lru_cache(maxsize=1024)
def _pattern(path: str) -> re.Pattern[str]:
    """Return the regular expression of a Go ``filepath.Match`` pattern."""
    out = ""
    index = 0
    while index < len(path):
        character = path[index]
        index += 1
        if character == "*":
            out += "[^/]*"
        elif character == "?":
            out += "[^/]"
        elif character == "\\" and index < len(path):
            out += re.escape(path[index])
            index += 1
        elif character == "[" and "]" in path[index + 1 :]:
            end = path.index("]", index + 1)
            inner = path[index:end].replace("\\", "\\\\").replace("[", "\\[")
            out += f"[{inner}]"
            index = end + 1
        else:
            out += re.escape(character)
    try:
        return re.compile(out, re.DOTALL)
    except re.error:
        return re.compile(re.escape(path))


def _below(
    root: str, entries: Sequence[Entry], target: str, step: Step, *, inside: bool, excluded: Sequence[str]
) -> list[Copied]:
    """Copy the file `root`, or the contents of the folder `root`, to `target`."""
    matcher = ignore_matcher(excluded) if excluded else None
    prefix = f"{root}/" if root else ""
    found = []
    for entry in entries:
        if entry.kind is Kind.DIRECTORY:
            continue
        if entry.path == root:
            inner = root.rpartition("/")[2]
            destination = posixpath.join(target, inner) if inside else target
        elif entry.path.startswith(prefix):
            inner = entry.path[len(prefix) :]
            destination = posixpath.join(target, inner)
        else:
            continue
        if matcher is not None and matcher.matches(inner):
            continue
        found.append(
            Copied(
                source=entry.path,
                destination=destination,
                size=entry.size,
                mode=_mode(step, entry.mode),
                line=step.line,
                unpacked=step.name == "ADD"
                and entry.path == root
                and _ARCHIVE.search(entry.path) is not None,
            )
        )
    return found


def _with_parents(
    source: str, entries: Sequence[Entry], target: str, step: Step, excluded: Sequence[str]
) -> list[Copied]:
    """Copy with the folders above, those behind ``/./`` only; the pattern may hold ``**``."""
    root, pivot, pattern = source.partition("/./")
    if not pivot:
        root, pattern = "", source
    prefix = posixpath.normpath(f"/{root}/").lstrip("/")
    prefix = f"{prefix}/" if prefix else ""
    wanted = ignore_matcher([posixpath.normpath(f"/{pattern}").strip("/") or "*"])
    unwanted = ignore_matcher(excluded)
    return [
        Copied(
            source=entry.path,
            destination=posixpath.join(target, entry.path[len(prefix) :]),
            size=entry.size,
            mode=_mode(step, entry.mode),
            line=step.line,
        )
        for entry in entries
        if entry.kind is not Kind.DIRECTORY
        and entry.path.startswith(prefix)
        and wanted.matches(entry.path[len(prefix) :])
        and not unwanted.matches(entry.path[len(prefix) :])
    ]


def _mode(step: Step, mode: int) -> int:
    try:
        return changed_mode(mode, step.instruction.flag("chmod") or "", is_folder=False)
    except ValueError:
        return mode
