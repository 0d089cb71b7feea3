"""Steps of a program as instructions of a Dockerfile that does the same in any builder.

Heredocs and SHELL are written out as RUN's exec form, which older builders and OCI images know as well.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import shlex
from typing import TYPE_CHECKING

from partition.environments.stages import DEFAULT_SHELL
from partition.rewrite.cutting import first_run
from partition.rewrite.packing import archive_of
from partition.rewrite.program import Fixed, Put, Run
from partition.rewrite.quoting import exec_words, json_words, literal
from partition.tasks.model import Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from partition.rewrite.program import State, Step

MOST_INSTRUCTIONS = 100
"""An image holds 127 layers at most (``moby/moby``, ``layer.maxLayerDepth`` is 125)."""

AS_WRITTEN = (
    "# What follows is the tasks' own, as written.\n"
    "# hadolint global ignore=DL3000,DL3001,DL3002,DL3003,DL3004,DL3005,DL3008,DL3009,DL3013,DL3014,DL3015,"
    "DL3016,DL3017,DL3018,DL3019,DL3020,DL3027,DL3028,DL3030,DL3032,DL3033,DL3034,DL3035,DL3036,DL3037,DL3038,"
    "DL3040,DL3041,DL3042,DL3044,DL3046,DL3047,DL3056,DL3059,DL3060,DL3062,DL3064,DL3066,DL4001,DL4005,DL4006"
)
"""A linter's advice is for those who wrote the lines, which are kept as they are."""

_MOST_COPIES = 8
"""Instructions for one COPY of a folder; more folders go into an archive."""

FILES = "files"
_SCRIPTS = "/opt/envfold/scripts"
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
_ODD_NAME = re.compile(r"[*?\[\]\\\n]")
ALWAYS_THERE = frozenset(
    {"/", "/bin", "/etc", "/home", "/lib", "/media", "/mnt", "/opt", "/root", "/sbin", "/srv"}
    | {"/tmp", "/var/tmp"}  # noqa: S108 - paths inside the image
    | {"/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/local/bin", "/usr/local/lib", "/usr/sbin"}
    | {"/usr/share", "/var", "/var/lib", "/var/log"}
)
"""Folders that every image has."""
_WORD = r"(?:'[^']*'|[\w/.:@%+,=-]+)"
_FOLDER = re.compile(rf"(?:mkdir -p|\{{ \[ -e) ({_WORD})")
_FOLDERS = re.compile(
    r"(?:{0})(?: && (?:{0}))*".format(
        rf"mkdir -p {_WORD}"
        rf"|\{{ \[ -e {_WORD} \] \|\| \{{ mkdir {_WORD} && chown {_WORD} {_WORD}; \}}; \}}"
        rf"|chmod \d+ {_WORD}|chown {_WORD} {_WORD}"
    )
)
"""A script that makes folders and does nothing else, as `Baker.put` writes it."""

_SIMPLE = re.compile(r"[A-Za-z0-9_./:@%+,=\- ]+(?:&&[A-Za-z0-9_./:@%+,=\- ]+)*")
_UNWRITABLE = re.compile(r"[\r\n\0]")


class Baker:
    """Turns steps into instructions, and the files they need.

    Parameters
    ----------
    environment, workdir, user
        In force before the first step.
    """

    def __init__(self, environment: Mapping[str, str], workdir: str | None, user: str | None) -> None:
        self.environment = dict(environment)
        self.arguments: dict[str, str] = {}
        self.workdir = workdir
        self.user = user
        self.blocks: list[str] = []
        self.files: dict[str, Entry] = {}
        self.there: set[str] = set()

    def bake(self, steps: Sequence[Step]) -> int:
        """Bake steps from the first on; return how many could be."""
        index = 0
        while index < len(steps) and len(self.blocks) < MOST_INSTRUCTIONS:
            step = steps[index]
            if not self.can_bake(step):
                break
            if isinstance(step, Run):
                whole, count = first_run(steps[index:])
                self.run(whole)
                index += count
                continue
            if not isinstance(step, Put):
                self.fixed(step)
                index += 1
                continue
            group = [step]
            for other in steps[index + 1 :]:
                if not isinstance(other, Put) or other.line != step.line or other.source != step.source:
                    break
                group.append(other)
            too_many = len(_by_target(group)) > MOST_INSTRUCTIONS - len(self.blocks) and not _fits_archive(
                group
            )
            if too_many or not all(map(self.can_bake, group)):
                break
            self.put(group)
            index += len(group)
        return index

    def can_bake(self, step: Step) -> bool:
        """Return whether every builder would do the step as its Dockerfile did."""
        if isinstance(step, Put):
            name = posixpath.basename(step.entry.path)
            return not _UNWRITABLE.search(step.path) and not _ODD_NAME.search(name)
        if isinstance(step, Fixed):
            return True
        values = dict(step.state.environment)
        # of an ARG and an ENV of one name the later wins in BuildKit, the ENV in Buildah
        shadows = any(name in self.environment for name in step.state.arguments)
        return not shadows and not any(map(_UNWRITABLE.search, [*values.values(), step.state.workdir]))

    def fixed(self, step: Step) -> None:
        """Bake what only a build can do."""
        self.blocks.append(step.source)

    def run(self, step: Run) -> None:
        """Bake a RUN in its state."""
        mounts = "".join(f"--mount=type=cache,target={shlex.quote(path)} " for path in step.caches)
        if step.script is not None:
            self.script(step, step.script, mounts)
            return
        self.enter(step.state)
        if _FOLDERS.fullmatch(step.argv[-1]):
            found = _FOLDER.findall(step.argv[-1])
            self.there.update(each for word in found for each in _upwards(shlex.split(word)[0]))
        else:
            # a command may remove folders
            self.there = set()
        self.blocks.append(f"RUN {mounts}{_command(step.argv)}")

    def script(self, step: Run, content: str, mounts: str) -> None:
        """Bake a heredoc that is a program of its own."""
        name = posixpath.basename(step.argv[-1])
        data = content.encode("utf-8", "surrogateescape")
        source = self.file(Entry(path=name, source=data, size=len(data)))
        path = f"{_SCRIPTS}/{name}"
        self.blocks.append(f"COPY --chmod=0755 {_copy_words((source, f'{_SCRIPTS}/'))}")
        self.enter(step.state)
        self.blocks.append(f"RUN {mounts}{exec_words((path,))}")
        user = self.user
        self.enter_user(None)
        self.blocks.append(f"RUN rm -rf {posixpath.dirname(_SCRIPTS)}")
        self.there = set()
        self.enter_user(user)

    def enter(self, state: State) -> None:
        """Bring about what a RUN is run under."""
        names = set(state.arguments)
        new = {
            name: value
            for name, value in state.environment
            if name not in names and self.environment.get(name) != value
        }
        self.variables("ENV", new)
        self.environment |= new
        arguments = {
            name: value
            for name, value in state.environment
            if name in names and self.arguments.get(name) != value
        }
        for name, value in arguments.items():
            self.variables("ARG", {name: value})
        self.arguments |= arguments
        self.enter_user(state.user)
        self.enter_workdir(state.workdir)

    def variables(self, instruction: str, values: Mapping[str, str]) -> None:
        """Set variables."""
        if values:
            pairs = [f"{name}={_value(value)}" for name, value in values.items()]
            self.blocks.append(f"{instruction} " + " \\\n    ".join(pairs))

    def enter_user(self, user: str | None) -> None:
        """Go on as `user`."""
        if user != self.user:
            self.blocks.append(f"USER {_value(user or 'root')}")
            self.user = user

    def enter_workdir(self, workdir: str) -> None:
        """Go on in `workdir`."""
        if workdir != self.workdir:
            self.blocks.append(f"WORKDIR {_value(workdir)}")
            self.workdir = workdir

    def put(self, group: Sequence[Put]) -> None:
        """Bake what one COPY, ADD or WORKDIR leaves."""
        first = group[0]
        if first.source[:7].upper() == "WORKDIR":
            self.enter_user(first.state.user)
            self.there.update(_upwards(first.path))
            self.workdir = None
            self.enter_workdir(first.path)
            return
        last = {put.path: put for put in group if not put.unpack}
        files = [put for put in last.values() if put.entry.kind is Kind.FILE]
        folders = [put for put in last.values() if put.entry.kind is Kind.DIRECTORY]
        packed = len(_by_target(group)) > _MOST_COPIES and _fits_archive(group)
        made = [put for put in folders if put.mode is None] if packed else folders
        lines = [line for put in made if packed or not _implied(put, group) for line in _make_folder(put)]
        # folders that COPY makes have the mode of --chmod since BuildKit 0.21, and 0755 otherwise
        for put in () if packed else files:
            folder = posixpath.dirname(put.path)
            if put.mode != 0o755 and folder not in ALWAYS_THERE | self.there:
                lines += _make_parents(folder, put.owner)
        self.root_script(lines)
        for put in group:
            if put.unpack:
                self.add(put.entry, put.path, _flags(put))
        if packed:
            archive = archive_of([put for put in last.values() if put.mode is not None or put not in folders])
            self.add(Entry(path="files.tar", source=archive, size=len(archive)), "/", "")
        else:
            self.copies(files)
            self.links([put for put in last.values() if put.entry.kind is Kind.LINK])
        found = {*(put.path for put in folders), *(posixpath.dirname(put.path) for put in files)}
        self.there.update(each for folder in found for each in _upwards(folder))

    def add(self, archive: Entry, target: str, flags: str) -> None:
        """Bake an archive that is unpacked."""
        self.blocks.append(f"ADD {flags}{_copy_words((self.file(archive), _folder(target)))}")

    def copies(self, puts: Iterable[Put]) -> None:
        """Bake files, those of one folder, mode and owner together."""
        for (target, flags), members in _by_target(puts).items():
            sources = [self.file(put.entry) for put in members]
            self.blocks.append(f"COPY {flags}{_copy_words((*sources, target))}")

    def links(self, puts: Iterable[Put]) -> None:
        """Bake symbolic links."""
        lines = []
        for put in puts:
            path, target = shlex.quote(put.path), shlex.quote(put.entry.target)
            lines += _make_parents(posixpath.dirname(put.path), put.owner)
            lines.append(f"ln -sfn -- {target} {path}")
            lines += [f"chown -h {shlex.quote(_chown(put.owner))} {path}"] if put.owner else []
        self.root_script(lines)

    def root_script(self, lines: Sequence[str]) -> None:
        """Bake commands that nobody but root may run."""
        if lines:
            script = " && ".join(dict.fromkeys(lines))
            self.enter_user(None)
            self.blocks.append(f"RUN {_command((*DEFAULT_SHELL, script))}")

    def file(self, entry: Entry) -> str:
        """Return the path in the environment directory of a file, which is named by its content."""
        data = entry.read()
        name = posixpath.basename(entry.path)
        path = f"{FILES}/{hashlib.sha256(data).hexdigest()[:16]}/{name}"
        self.files[path] = Entry(path=path, source=data, size=len(data))
        return path


def _by_target(puts: Iterable[Put]) -> dict[tuple[str, str], list[Put]]:
    """Return the files that one COPY can bring: one folder, mode and owner, under their own names."""
    grouped: dict[tuple[str, str], list[Put]] = {}
    for put in puts:
        if put.entry.kind is Kind.FILE:
            folder, name = posixpath.split(put.path)
            target = _folder(folder) if name == posixpath.basename(put.entry.path) else put.path
            grouped.setdefault((target, _flags(put)), []).append(put)
    return grouped


def _folder(path: str) -> str:
    return f"{path.rstrip('/')}/"


def _fits_archive(puts: Iterable[Put]) -> bool:
    """Return whether an archive can say what is put: all of it root's, and each file at its own path."""
    return all(
        put.owner is None
        and not put.unpack
        and (put.entry.kind is not Kind.FILE or put.path.endswith(f"/{posixpath.basename(put.entry.path)}"))
        for put in puts
    )


def _value(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else literal(value)


def _command(argv: Sequence[str]) -> str:
    """Return RUN's exec form, or its shell form where nothing in it could be read in another way."""
    text = argv[-1]
    is_plain = tuple(argv[:-1]) == DEFAULT_SHELL and _SIMPLE.fullmatch(text) is not None
    return text if is_plain and text == text.strip() and text[0] != "-" else exec_words(argv)


def _upwards(folder: str) -> Iterator[str]:
    while folder not in {"", "/"}:
        yield folder
        folder = posixpath.dirname(folder)


def _flags(put: Put) -> str:
    mode = f"--chmod={put.mode:04o} " if put.mode is not None else ""
    owner = f"--chown={_value(put.owner)} " if put.owner else ""
    return mode + owner


def _copy_words(words: Sequence[str]) -> str:
    if all(map(_PLAIN.fullmatch, words)):
        return " ".join(words)
    return json_words(words)


def _implied(folder: Put, group: Sequence[Put]) -> bool:
    """Return whether copying a file of the same instruction makes the folder just as well."""
    return folder.mode is None and any(
        put.entry.kind is Kind.FILE and posixpath.dirname(put.path) == folder.path for put in group
    )


def _make_folder(put: Put) -> list[str]:
    lines = _make_parents(put.path, put.owner)
    if put.mode is not None:
        path = shlex.quote(put.path)
        lines += [f"chmod {put.mode:04o} {path}", f"chown {shlex.quote(_chown(put.owner or '0:0'))} {path}"]
    return lines


def _make_parents(path: str, owner: str | None) -> list[str]:
    if not owner:
        return [f"mkdir -p {shlex.quote(path)}"]
    parts = path.strip("/").split("/")
    folders = [shlex.quote("/" + "/".join(parts[: index + 1])) for index in range(len(parts))]
    user = shlex.quote(_chown(owner))
    return [f"{{ [ -e {folder} ] || {{ mkdir {folder} && chown {user} {folder}; }}; }}" for folder in folders]


def _chown(owner: str) -> str:
    """Return an owner as the command ``chown`` takes it: a name alone with the group it logs in with."""
    if ":" in owner:
        return owner
    return f"{owner}:{owner}" if owner.isdecimal() else f"{owner}:"
