"""A task's Dockerfile as a program: what its build does, step by step, with everything a step depends on.

The program is what `split` makes of a Dockerfile, what `union` takes shared beginnings from, and what
`setup` turns into a script that a started container runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partition.tasks.model import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What an instruction is run under.

    Parameters
    ----------
    environment
        ENV and ARG in force, (name, value), sorted by name; values need no further expansion.
    workdir
        Absolute.
    user
        As USER says, expanded (``app``, ``1000:1000``); None for root.
    arguments
        Names in `environment` whose value is an ARG's, sorted: the container does not see it.
    """

    environment: tuple[tuple[str, str], ...] = ()
    workdir: str = "/"
    user: str | None = None
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that a build does.

    Parameters
    ----------
    line
        Line of the Dockerfile that it comes from.
    source
        The instruction as it stands in a Dockerfile, heredocs included, without a final newline; steps with
        equal sources, states and files do the same. Paths of COPY and ADD sources are as written there.
    """

    line: int
    source: str
    state: State


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Step):
    """RUN.

    Parameters
    ----------
    argv
        What is executed: the shell with the whole script as its last argument, or the exec form's words.
    script
        A file to write and execute in place of `argv`, where a heredoc starts with ``#!``; else None.
    caches
        Targets of ``--mount=type=cache``, absolute: what is written there does not stay in the image.
    """

    argv: tuple[str, ...]
    script: str | None = None
    caches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Put(Step):
    """A file, link or folder that COPY, ADD or WORKDIR leaves in the image.

    Parameters
    ----------
    path
        Absolute path in the image; folders above it are made as needed. Where it is a folder already, a file
        goes inside it by its source's name.
    entry
        Kind, bytes and link target; `entry.path` is the source, whose last part is its name.
    mode
        Permission bits; None for a folder that may exist already and then stays as it is, and is 0755
        where it is made; None for links and archives, which have none.
    owner
        As ``--chown`` gives it, expanded (``app``, ``app:users``, ``1000``): a name alone brings its own
        group, a number alone the group of that number. Also of the folders above that are made. None for
        root.
    unpack
        Whether `entry` is an archive (ADD) whose members are unpacked into the folder `path`.
    """

    path: str
    entry: Entry
    mode: int | None = None
    owner: str | None = None
    unpack: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed(Step):
    """What only a build can do: COPY --from another image, ADD of a URL; bakeable, never at run time.

    Parameters
    ----------
    why
        Why not at run time, as a sentence's end: ``copies from the image ...``.
    """

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The build of one task's final image.

    Parameters
    ----------
    where
        The Dockerfile, as messages name it.
    base
        Image reference that it starts from.
    steps
        In order.
    environment
        ENV in force in the container, sorted by name; values need no further expansion.
    workdir, user
        In force in the container.
    """

    where: str
    base: str
    steps: tuple[Step, ...]
    environment: tuple[tuple[str, str], ...] = ()
    workdir: str = "/"
    user: str | None = None
