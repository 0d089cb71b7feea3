"""Turn the tar of a task directory into a tree, refusing whatever could reach outside of it."""

from __future__ import annotations

from partition.errors import Fault, InputError
from partition.tasks.assembly import CONFIG, INSTRUCTION
from partition.tasks.model import Entry, Kind, Tree
from partition.tasks.paths import fault_of, quoted, tidy, unusable
from partition.tasks.tar import ArchiveError, Member, members

MAX_BYTES = 256 << 20
MAX_MEMBERS = 100_000
_MAX_FAULTS = 20
_MAX_HOPS = 40
_MAX_WRAPS = 8
_LINK_MODE = 0o777
_APPLE_DOUBLE = "._"
_KINDS = {"0": Kind.FILE, "1": Kind.FILE, "2": Kind.LINK, "5": Kind.DIRECTORY}
_TYPES = {"3": "a character device", "4": "a block device", "6": "a named pipe"}
_FOLDER = Member(name="", type="5", mode=0o755, target="", data=b"")


def read_archive(
    data: bytes,
    *,
    where: str,
    name: str = "",
    task: str | None = None,
    max_bytes: int = MAX_BYTES,
    max_members: int = MAX_MEMBERS,
) -> Tree:
    """Return the task directory that a tar holds, at its top or in a single top-level folder.

    Hard links become copies of the member that they name. Directories that the archive implies are
    added. Nothing is written.

    Parameters
    ----------
    data
        A tar: plain, gzip, bzip2 or xz.
    where
        The archive's place in messages.
    name
        Name of the tree; by default that of the single top-level folder.
    task
        Id of the task, for the faults.
    max_bytes, max_members
        Refuse an archive that holds more, before holding it.

    Raises
    ------
    InputError
        With a fault for each member that is absolute, climbs out with ``..``, links outside, is a
        device or a pipe, comes twice, or lies below something that is not a directory; or with one
        fault for an archive that is truncated, damaged or too large.
    """
    contents = _Contents(max_bytes, max_members)
    try:
        for member in members(data, limit=max_bytes):
            contents.add(member)
        contents.add_folders()
        root = contents.root()
        tree = contents.tree(root, name or root.rstrip("/").rpartition("/")[2])
    except ArchiveError as error:
        contents.faults.append(f"the archive {error}")
    if contents.faults:
        hint = "pack the task again; nothing of it was read"
        faults = [Fault(where=where, what=what, hint=hint, task=task) for what in contents.faults]
        raise InputError(f"{where} cannot be read", faults=faults)
    return tree


class _Contents:
    """What the members of one archive come to, path by path."""

    def __init__(self, max_bytes: int, max_members: int) -> None:
        self.faults: list[str] = []
        self._members: dict[str, Member] = {}
        self._max_members = max_members
        self._copied = 0
        self._max_bytes = max_bytes

    def add(self, member: Member) -> None:
        """Add one member, or the fault that keeps it out."""
        wrong = fault_of(member.name)
        path = tidy(member.name)
        if wrong or member.type not in _KINDS:
            what = wrong or f"is {_TYPES.get(member.type, f'of the unknown type {member.type!r}')}"
            self._fault(f"member {quoted(member.name)} {what}")
            return
        if not path:
            if member.type != "5":
                self._fault(f"member {quoted(member.name)} has no name")
            return
        if member.type == "1":
            original = self._members.get(tidy(member.target))
            if fault_of(member.target) or original is None or original.type == "5":
                what = f"is a hard link to {quoted(member.target)}, which is no file before it"
                self._fault(f"member {quoted(member.name)} {what}")
                return
            self._copied += len(original.data)
            if self._copied > self._max_bytes:
                raise ArchiveError(f"holds more than {self._max_bytes:,} bytes once hard links are copied")
            member = original
        elif member.type == "2" and (wrong := unusable(member.target)):
            self._fault(f"member {quoted(member.name)} links to a path that {wrong}")
            return
        before = self._members.setdefault(path, member)
        if before is not member and not before.type == member.type == "5":
            self._fault(f"member {quoted(path)} comes twice")
        self._count()

    def add_folders(self) -> None:
        """Add the directories that paths imply."""
        for path in list(self._members):
            below = path
            while folder := below.rpartition("/")[0]:
                known = self._members.get(folder)
                if known is None:
                    self._members[folder] = _FOLDER
                    self._count()
                elif known.type == "5":
                    break
                else:
                    where = f"below {quoted(folder)}, which is not a directory"
                    self._fault(f"member {quoted(path)} lies {where}")
                    break
                below = folder

    def root(self) -> str:
        """Return the prefix of the task directory: empty, or that of the single top-level folder."""
        prefix = ""
        for _ in range(_MAX_WRAPS):
            children = {
                path[len(prefix) :]: member.type
                for path, member in self._members.items()
                if path.startswith(prefix) and "/" not in path[len(prefix) :]
            }
            if any(children.get(name, "5") != "5" for name in (CONFIG, INSTRUCTION)):
                return prefix
            folders = [name for name in children if not name.startswith(_APPLE_DOUBLE)]
            if len(folders) != 1 or children[folders[0]] != "5":
                break
            prefix += f"{folders[0]}/"
        raise ArchiveError(
            f"holds no task: neither {CONFIG} nor {INSTRUCTION} is at its top or in a single folder"
        )

    def tree(self, root: str, name: str) -> Tree:
        """Return what lies below `root`; note the links that lead out of it."""
        below = {path[len(root) :]: member for path, member in self._members.items() if path.startswith(root)}
        entries = []
        for path in sorted(below):
            member = below[path]
            kind = _KINDS[member.type]
            if kind is Kind.LINK and _escapes(below, path):
                self._fault(
                    f"member {quoted(root + path)} links to {quoted(member.target)}, outside of the task"
                )
            mode = _LINK_MODE if kind is Kind.LINK else member.mode & 0o7777
            target = member.target if kind is Kind.LINK else ""
            size = len(member.data)
            entries.append(
                Entry(path=path, kind=kind, source=member.data, size=size, mode=mode, target=target)
            )
        return Tree(tuple(entries), name=name)

    def _count(self) -> None:
        if len(self._members) > self._max_members:
            raise ArchiveError(f"has more than {self._max_members:,} members")

    def _fault(self, what: str) -> None:
        self.faults.append(what)
        if len(self.faults) == _MAX_FAULTS:
            raise ArchiveError(f"was not read further after {_MAX_FAULTS} faults")


def _escapes(members: dict[str, Member], path: str) -> bool:
    """Return whether the link at `path` leads out, through other links too."""
    if members[path].target.startswith("/"):
        return True
    at = path.split("/")[:-1]
    ahead = members[path].target.split("/")[::-1]
    hops = _MAX_HOPS
    while ahead and hops:
        part = ahead.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not at:
                return True
            at.pop()
            continue
        at.append(part)
        member = members.get("/".join(at))
        if member is not None and member.type == "2":
            if member.target.startswith("/"):
                return True
            at.pop()
            ahead.extend(member.target.split("/")[::-1])
            hops -= 1
    return False
