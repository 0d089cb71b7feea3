"""What apt would install for a set of names, found out by its own simulation and remembered by content."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.apt.generated import installed_bytes
from partition.errors import InputError
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.apt.index import Index
    from partition.apt.names import Request

_INST = re.compile(r"^Inst (\S+?)(?::\w+)? (?:\[\S+\] )?\((\S+) ", re.MULTILINE)
_REMV = re.compile(r"^Remv (\S+?)(?::\w+)? ", re.MULTILINE)
_UNMET = re.compile(r"^ (\S+?)(?::\w+)? ?: (?=\w+: )(.*(?:\n {4,}\S.*)*)", re.MULTILINE)
_UNSOLVED = re.compile(r"held|dependenc|conflict", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"^(Pre-Depends|Depends|Recommends|Conflicts|Breaks): (\S+?)(?::\w+)?(?: \(.*?\))?(?: (but .*))?$"
)


@dataclass(frozen=True, slots=True, order=True)
class Installed:
    """A package that gets installed.

    Parameters
    ----------
    bytes
        Of its files as its maintainers state them, and of what it leaves beside them.
    """

    name: str
    version: str
    bytes: int


@dataclass(frozen=True, slots=True, order=True)
class Unmet:
    """One complaint of apt: `package` cannot be installed because of `other`.

    Parameters
    ----------
    relation
        ``Depends``, ``Conflicts``, ``Breaks``, ``Pre-Depends``.
    reason
        apt's words: ``but it is not installable``; empty where it has none.
    """

    package: str
    relation: str
    other: str
    reason: str = ""

    def __str__(self) -> str:
        """Return it as apt says it."""
        return f"{self.package}: {self.relation}: {self.other} {self.reason}".rstrip()


@dataclass(frozen=True, slots=True)
class Simulation:
    """apt's answer.

    Parameters
    ----------
    works
        Whether the set installs.
    packages
        What comes on top of the base, sorted by name.
    removed
        What of the base would have to go, sorted.
    unmet
        Complaints, where it does not work.
    words
        What apt said last, where it does not work and nothing above tells why.
    """

    works: bool
    packages: tuple[Installed, ...] = ()
    removed: tuple[str, ...] = ()
    unmet: tuple[Unmet, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True)
class Base:
    """What an image holds before anything is installed.

    Parameters
    ----------
    packages
        Sorted by name; none for an empty root.
    key
        Hex digest of the packages; empty for an empty root.
    """

    packages: tuple[Installed, ...] = ()
    key: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Names of the packages."""
        return frozenset(package.name for package in self.packages)

    @property
    def bytes(self) -> int:
        """Sum of the packages' sizes."""
        return sum(package.bytes for package in self.packages)


EMPTY = Base()


def simulate(
    requests: Iterable[Request], index: Index, *, base: Base = EMPTY, recommends: bool = False
) -> Simulation:
    """Return what apt would do; the same question is asked once.

    The requests must be settled (`partition.apt.settling`): names that the release has, so that apt never
    falls back from unknown names to patterns.

    Raises
    ------
    InputError
        apt is not installed, or the cached index is damaged.
    """
    names = sorted({str(request) for request in requests})
    question = json.dumps([index.digest, base.key, names, recommends])
    key = hashlib.sha256(question.encode()).hexdigest()
    kept = index.root.folder / "answers" / key[:2] / key
    if kept.is_file():
        # what another version of envfold kept may not be read: then it is asked again
        with contextlib.suppress(KeyError, TypeError, ValueError):
            return _read(kept.read_bytes(), index)
    answer = _ask(names, index, base, recommends=recommends)
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, _written(answer))
    return answer


def base_of(requests: Iterable[Request], index: Index) -> Base:
    """Return the base that holds these packages and what they need, without what they recommend.

    Raises
    ------
    InputError
        They do not install together.
    """
    found = simulate(requests, index)
    if not found.works:
        raise InputError(
            f"{index.release}: the base's packages do not install together",
            hint=found.words or "; ".join(map(str, found.unmet)),
        )
    text = json.dumps([[each.name, each.version] for each in found.packages])
    return Base(found.packages, hashlib.sha256(text.encode()).hexdigest())


def _ask(names: list[str], index: Index, base: Base, *, recommends: bool) -> Simulation:
    if not names:
        return Simulation(works=True)
    options = _state(index, base) if base.packages else ()
    wanted = "--install-recommends" if recommends else "--no-install-recommends"
    command = ("apt-get", "-s", "-q", "install", wanted, "--", *names)
    done = index.root.run(*command, options=options)
    if done.returncode:
        unmet = tuple(sorted(set(_complaints(done.stdout))))
        errors = [line[3:] for line in done.stderr.splitlines() if line.startswith("E: ")]
        words = "; ".join(errors)
        if not unmet and not _UNSOLVED.search(words):
            raise InputError(f"apt: {words or 'failed without a word'}", hint="fetch the index again")
        return Simulation(works=False, unmet=unmet, words=words)
    found = dict(_INST.findall(done.stdout))
    packages = tuple(sorted(_installed(name, version, index) for name, version in found.items()))
    return Simulation(works=True, packages=packages, removed=tuple(sorted(set(_REMV.findall(done.stdout)))))


def _installed(name: str, version: str, index: Index) -> Installed:
    package = index.find(name, version)
    if package is None:
        raise InputError(
            f"{index.root.folder}: the cached index lacks {name} {version}, which apt installs",
            hint="fetch the index again",
        )
    return Installed(name, version, installed_bytes(package))


def _state(index: Index, base: Base) -> tuple[str, ...]:
    folder = index.root.folder / "bases" / base.key[:16]
    status = folder / "status"
    if not status.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        found = (index.find(each.name, each.version) for each in base.packages)
        write_atomically(status, "\n".join(each.stanza() for each in found if each).encode())
    return (f"Dir::State::status={status}", f"Dir::Cache::pkgcache={folder}/pkgcache.bin")


def _complaints(text: str) -> list[Unmet]:
    """Return the complaints below ``The following packages have unmet dependencies:``."""
    found = []
    for package, lines in _UNMET.findall(text):
        for line in lines.split("\n"):
            match = _COMPLAINT.match(line.strip())
            if match:
                found.append(Unmet(package, match[1], match[2], match[3] or ""))
    return found


def _written(answer: Simulation) -> bytes:
    document = {
        "works": answer.works,
        "packages": [[each.name, each.version] for each in answer.packages],
        "removed": answer.removed,
        "unmet": [[each.package, each.relation, each.other, each.reason] for each in answer.unmet],
        "words": answer.words,
    }
    return json.dumps(document, ensure_ascii=False).encode()


def _read(data: bytes, index: Index) -> Simulation:
    document = json.loads(data)
    return Simulation(
        works=document["works"],
        packages=tuple(_installed(name, version, index) for name, version in document["packages"]),
        removed=tuple(document["removed"]),
        unmet=tuple(Unmet(*each) for each in document["unmet"]),
        words=document["words"],
    )
