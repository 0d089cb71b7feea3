"""COPY and ADD: what they leave in the image, path by path.

Follows ``solver/llbsolver/file`` of github.com/moby/buildkit and ``copy`` of github.com/tonistiigi/fsutil: a
folder copies its contents; what is there already is kept. Where builders differ, this is what Buildah and
BuildKit before 2025 do: folders that are made on the way are 0755 whatever ``--chmod`` says, and members of
an archive keep its owners whatever ``--chown`` says.
"""

from __future__ import annotations

import io
import posixpath
import re
import tarfile
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from partition.environments.copies import match_sources
from partition.environments.modes import changed_mode
from partition.environments.syntax import ignore_matcher
from partition.errors import Fault
from partition.rewrite.program import Put, State
from partition.tasks.model import Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partition.environments.instruction import Instruction
    from partition.tasks.model import Tree

_REMOTE = re.compile(r"(https?://|git@|ssh://|git://)", re.IGNORECASE)
_WILDCARD = re.compile(r"(?<!\\)[*?\[]")
_IGNORE_FILES = ("Dockerfile.dockerignore", ".dockerignore")
_ROOT = frozenset({"", "0", "root", "0:0", "root:root", "0:root", "root:0"})
_MOST_LINKS = 40
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


class UnreadableArchiveError(ValueError):
    """An archive that a build unpacks and that cannot be read here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """A COPY or ADD of the build context with everything expanded.

    Parameters
    ----------
    sources
        Paths and patterns in the context, heredocs left out.
    target
        Absolute; ends in a slash where Docker takes it for a folder.
    owner
        See `Put`.
    chmod
        As ``--chmod`` gives it.
    heredocs
        (name, content), expanded.
    excluded
        Patterns of ``--exclude``.
    """

    line: int
    source: str
    state: State
    instruction: Instruction
    sources: tuple[str, ...]
    target: str
    owner: str | None
    chmod: str | None
    heredocs: tuple[tuple[str, str], ...] = ()
    excluded: tuple[str, ...] = ()


class Context:
    """A build context without what ``.dockerignore`` leaves out; every folder is listed."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        by_path = {entry.path: entry for entry in entries}
        for entry in entries:
            folder = entry.path.rpartition("/")[0]
            while folder and folder not in by_path:
                by_path[folder] = Entry(path=folder, kind=Kind.DIRECTORY, mode=0o755)
                folder = folder.rpartition("/")[0]
        self.by_path = by_path
        self.paths = sorted(by_path)
        self.entries = [by_path[path] for path in self.paths]

    def below(self, folder: str) -> Iterator[tuple[str, Entry]]:
        """Yield (path inside, entry) of everything below a folder; the context is the empty string."""
        if not folder:
            yield from zip(self.paths, self.entries, strict=True)
            return
        prefix = f"{folder}/"
        for index in range(bisect_left(self.paths, prefix), len(self.paths)):
            path = self.paths[index]
            if not path.startswith(prefix):
                return
            yield path[len(prefix) :], self.entries[index]

    def resolve(self, path: str) -> str | None:
        """Return the path behind all links, none of which leaves the context; None if nothing is there."""
        parts, done, followed = path.split("/") if path else [], "", 0
        while parts:
            part = parts.pop(0)
            if part in {"", "."}:
                continue
            if part == "..":
                done = done.rpartition("/")[0]
                continue
            done = f"{done}/{part}" if done else part
            entry = self.by_path.get(done)
            if entry is None:
                return None
            if entry.kind is Kind.LINK:
                followed += 1
                if followed > _MOST_LINKS:
                    return None
                parts = [*entry.target.split("/"), *parts]
                done = "" if entry.target.startswith("/") else done.rpartition("/")[0]
        return done


def context_of(environment: Tree) -> Context:
    """Return what COPY and ADD see of an environment directory.

    Raises
    ------
    ValueError
        ``.dockerignore`` holds a pattern that Docker refuses.
    InputError
        It cannot be read.
    """
    ignore = next((found for name in _IGNORE_FILES if (found := environment.get(name)) is not None), None)
    if ignore is None:
        return Context(environment.entries)
    text = ignore.read().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    matcher = ignore_matcher([line.rstrip("\r") for line in text.split("\n")])
    # a folder that is left out comes back where an exception keeps something in it
    return Context([each for each in environment.entries if not matcher.matches(each.path)])


def is_remote(source: str) -> bool:
    """Return whether ADD fetches `source` from elsewhere."""
    return _REMOTE.match(source) is not None


def owner_of(text: str) -> str | None:
    """Return an owner as `Put` has it: None for root."""
    return None if text in _ROOT else text


def place(placing: Placing, context: Context) -> tuple[list[Put], list[Fault]]:
    """Return what a COPY or ADD leaves in the image, in order, and what is wrong with it."""
    placer = _Placer(placing, context)
    parents = placing.instruction.flag("parents") not in {None, "false"}
    try:
        for source in placing.sources:
            placer.with_parents(source) if parents else placer.source(source)
        for name, content in placing.heredocs:
            placer.heredoc(name, content)
    except UnreadableArchiveError as error:
        placer.fault(str(error), "compress it with gzip, or unpack it in the context")
    except ValueError as error:
        placer.fault(str(error), "Docker refuses it: correct the line")
    return placer.puts, placer.faults


class _Placer:
    def __init__(self, placing: Placing, context: Context) -> None:
        self.placing = placing
        self.context = context
        self.target = placing.target.rstrip("/") or "/"
        self.inside = placing.target.endswith("/")
        self.excluded = ignore_matcher(placing.excluded) if placing.excluded else None
        self.unpacks = placing.instruction.name == "ADD"
        if (wanted := placing.instruction.flag("unpack")) is not None:
            self.unpacks = wanted != "false"
        self.puts: list[Put] = []
        self.faults: list[Fault] = []

    def source(self, source: str) -> None:
        found = match_sources(self.behind_links(source), self.context.entries)
        if not found:
            # a pattern without a match copies nothing (``AllowEmptyWildcard``); a name must exist
            resolved = self.context.resolve(posixpath.normpath(f"/{source}").strip("/"))
            if resolved is not None:
                found = [resolved]
            elif not _WILDCARD.search(source):
                what = f"{self.placing.instruction.name} {source}: not in the build context"
                self.fault(what, "the build fails as well: add the file")
        for path in found:
            resolved = self.context.resolve(path)
            if resolved is None:
                self.fault(f"{path}: a link that leads nowhere in the build context", "add what it points at")
            elif not resolved or self.context.by_path[resolved].kind is Kind.DIRECTORY:
                self.contents(resolved)
            else:
                self.file(replace(self.context.by_path[resolved], path=path))

    def behind_links(self, source: str) -> str:
        """Return a pattern with the links in front of its first wildcard followed."""
        parts = source.strip("/").split("/")
        plain = next((index for index, part in enumerate(parts) if _WILDCARD.search(part)), 0)
        folder = self.context.resolve("/".join(parts[:plain])) if plain else None
        return source if folder is None else "/".join([folder, *parts[plain:]])

    def contents(self, folder: str) -> None:
        self.put(self.target, Entry(path=folder, kind=Kind.DIRECTORY, mode=0o755), mode=None)
        for inner, entry in self.context.below(folder):
            if self.excluded is None or not self.excluded.matches(inner):
                self.put(posixpath.join(self.target, inner), entry, mode=self.mode(entry))

    def file(self, entry: Entry) -> None:
        name = entry.path.rpartition("/")[2]
        if self.excluded is not None and self.excluded.matches(name):
            return
        if self.unpacks and _is_archive(entry):
            self.put(self.target, entry, mode=None, unpack=True)
            return
        self.put(
            posixpath.join(self.target, name) if self.inside else self.target, entry, mode=self.mode(entry)
        )

    def with_parents(self, source: str) -> None:
        root, pivot, pattern = source.partition("/./")
        if not pivot:
            root, pattern = "", source
        root = posixpath.normpath(f"/{root}").strip("/")
        pattern = posixpath.normpath(f"/{pattern}").strip("/")
        matcher = ignore_matcher([pattern])
        wanted = [
            (inner, entry)
            for inner, entry in self.context.below(root)
            if matcher.matches(inner) and (self.excluded is None or not self.excluded.matches(inner))
        ]
        if not wanted and not _WILDCARD.search(source):
            self.fault(f"{source}: not in the build context", "the build fails as well: add the file")
        paths = {inner for inner, _ in wanted}
        above = {parent for inner in paths for parent in _parents(inner)} - paths
        wanted += [(inner, self.context.by_path[f"{root}/{inner}".lstrip("/")]) for inner in above]
        self.put(self.target, Entry(path=root, kind=Kind.DIRECTORY, mode=0o755), mode=None)
        for inner, entry in sorted(wanted, key=lambda each: each[0]):
            mode = None if inner in above and entry.mode == 0o755 else self.mode(entry)
            self.put(posixpath.join(self.target, inner), entry, mode=mode)

    def heredoc(self, name: str, content: str) -> None:
        data = content.encode("utf-8", "surrogateescape")
        entry = Entry(path=name, source=data, size=len(data), mode=0o644)
        self.put(
            posixpath.join(self.target, name) if self.inside else self.target, entry, mode=self.mode(entry)
        )

    def mode(self, entry: Entry) -> int | None:
        if entry.kind is Kind.LINK:
            return None
        own = entry.mode & 0o7777
        if self.placing.chmod is None:
            return own
        return changed_mode(own, self.placing.chmod, is_folder=entry.kind is Kind.DIRECTORY)

    def put(self, path: str, entry: Entry, *, mode: int | None, unpack: bool = False) -> None:
        self.puts.append(
            Put(
                line=self.placing.line,
                source=self.placing.source,
                state=self.placing.state,
                path=path,
                entry=entry,
                mode=mode,
                owner=self.placing.owner,
                unpack=unpack,
            )
        )

    def fault(self, what: str, hint: str) -> None:
        self.faults.append(Fault(where=f"Dockerfile:{self.placing.line}", what=what, hint=hint))


def _parents(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _is_archive(entry: Entry) -> bool:
    """Return whether ADD unpacks a file: it is a tar, whatever its name, maybe compressed.

    Raises
    ------
    UnreadableArchiveError
        It is compressed with Zstandard: builders unpack that, and nothing that is sure to be here does.
    """
    if next(entry.chunks(), b"").startswith(_ZSTANDARD):
        why = "which neither Python before 3.14 nor most images unpack"
        raise UnreadableArchiveError(f"ADD {entry.path}: compressed with Zstandard, {why}")
    stream = io.BytesIO(entry.source) if isinstance(entry.source, bytes) else entry.source.open("rb")
    try:
        with stream, tarfile.open(fileobj=stream) as archive:
            return archive.next() is not None
    except (tarfile.TarError, EOFError, OSError):
        return False
