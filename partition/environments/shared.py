"""A shared environment before it is rendered: base, interpreter, system packages, baked packages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMember:
    """One family's package list at one release series: what a package set is resolved for.

    Parameters
    ----------
    family, version
        Repository family and release series.
    repo
        ``owner/name`` as written; None where the packages belong to no repository.
    commit
        A commit of the repository whose requirement files are read; None where none is recorded.
    pip, conda
        Requirements as listed, sorted.
    requirement_files
        Files of the repository that name further packages, sorted.
    """

    family: str
    version: str
    repo: str | None = None
    commit: str | None = None
    pip: tuple[str, ...] = ()
    conda: tuple[str, ...] = ()
    requirement_files: tuple[str, ...] = ()

    def __lt__(self, other: SetMember) -> bool:
        """Order by family, version and content, absent values first."""
        return self._order() < other._order()

    def _order(self) -> tuple[object, ...]:
        lists = (self.pip, self.conda, self.requirement_files)
        return (self.family, self.version, self.repo or "", *lists, self.commit or "")

    def same_list(self, other: SetMember) -> bool:
        """Whether both are the same package list, whatever commit its files are read at."""
        return self._order()[:-1] == other._order()[:-1]

    @property
    def declared(self) -> bool:
        """Whether the listed packages are all there is: no file and no project metadata adds any."""
        return self.repo is None and not self.requirement_files


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageSet:
    """Packages installed together into one interpreter.

    Parameters
    ----------
    name
        Unique within a plan, usable as a path component.
    members
        Sorted; more than one where the pins of several agree.
    """

    name: str
    members: tuple[SetMember, ...]

    def holds(self, member: SetMember) -> bool:
        """Whether the set serves a package list as it is: as one of its lists, or with all in sight."""
        if any(member.same_list(other) for other in self.members):
            return True
        return member.declared and {*member.pip, *member.conda} <= {*self.pip, *self.conda}

    @property
    def pip(self) -> tuple[str, ...]:
        """Return the union of the members' pip requirements, sorted."""
        return tuple(sorted({item for member in self.members for item in member.pip}))

    @property
    def conda(self) -> tuple[str, ...]:
        """Return the union of the members' conda packages, sorted."""
        return tuple(sorted({item for member in self.members for item in member.conda}))


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedEnvironment:
    """An environment that tasks may share.

    Parameters
    ----------
    name
        Unique within a plan: ``py3.9-modin-project-modin-0.20``.
    origin
        Where the candidate comes from: ``interpreter``, ``own``, ``merged``, ``cluster``,
        ``existing``.
    base
        Image reference of the FROM line.
    distribution, release
        Of the base; None where it does not tell.
    python
        ``3.9``; None where the baked packages' own files decide.
    apt
        System packages, sorted, ``name`` or ``name=pin``.
    baked
        At most one package set; more are the venv model's.
    dockerfile
        The text of an environment that exists already; None where envfold renders it.
    snapshot
        The name under which an existing environment is known; None for a new one.
    """

    name: str
    origin: str
    base: str
    distribution: str | None = None
    release: str | None = None
    python: str | None = None
    apt: tuple[str, ...] = ()
    baked: PackageSet | None = None
    dockerfile: str | None = None
    snapshot: str | None = None

    @property
    def exists(self) -> bool:
        """Whether the organisation already has it, so that reusing it is free."""
        return self.snapshot is not None
