"""What OUT means, and the one rule for all of its kinds: nothing may be there yet."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from partition.errors import InputError, UsageError
from partition.rewrite.output.publishing import is_same
from partition.rewrite.output.repository import require_absent
from partition.tasks.hub import PREFIX

_REPOSITORY = re.compile(PREFIX + r"([\w.-]+/[\w.-]+)", re.ASCII)
_SUFFIX = ".parquet"
DOCUMENTS = ("manifest.json", "plan.json")
"""What an output comes with."""


class Form(StrEnum):
    """The form of an output."""

    DIRECTORY = "directory"
    PARQUET = "parquet"
    HUB = "Hub repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the rewritten dataset goes.

    Parameters
    ----------
    out
        As the user named it.
    form
        What it will be.
    path
        The directory or file; for the Hub the name that the local copy is made under.
    repository
        ``ORG/NAME`` on the Hub, else None.
    private
        Whether the new repository is private; None where it is no repository.
    endpoint
        Address of the Hub; None for the library's own choice.
    """

    out: str
    form: Form
    path: Path
    repository: str | None = None
    private: bool | None = None
    endpoint: str | None = None

    @property
    def partial(self) -> Path:
        """Return the folder in which the output grows."""
        return self.path.with_name(f"{self.path.name}.partial")

    def beside(self, name: str) -> Path:
        """Return where a document about the output goes: into a directory, beside a file."""
        if self.form is Form.DIRECTORY:
            return self.path / name
        return self.path.with_name(f"{self.path.name.removesuffix(_SUFFIX)}.{name}")


def target_of(out: str, *, private: bool | None = None, endpoint: str | None = None) -> Target:
    """Return what `out` means.

    Raises
    ------
    UsageError
        A repository without saying whether it is private, or a path with saying so.
    InputError
        The address makes no sense.
    """
    if not out.startswith("hf://"):
        if private is not None:
            raise UsageError(
                f"{out} is no repository on the Hub, so it is neither private nor public",
                hint=f"leave out --private and --public, or write {PREFIX}ORG/NAME",
            )
        path = Path(os.path.abspath(out))  # noqa: PTH100 - links above it stay as the user wrote them
        form = Form.PARQUET if path.suffix.lower() == _SUFFIX else Form.DIRECTORY
        return Target(out=out, form=form, path=path)
    match = _REPOSITORY.fullmatch(out)
    if match is None:
        raise InputError(f"{out}: not an address on the Hub", hint=f"write {PREFIX}ORG/NAME")
    if private is None:
        raise UsageError(f"{out}: private or public?", hint="say --private or --public")
    return Target(
        out=out,
        form=Form.HUB,
        path=Path.cwd() / match[1].replace("/", "--"),
        repository=match[1],
        private=private,
        endpoint=endpoint,
    )


def require_nothing_there(target: Target, source: str) -> None:
    """Raise unless the output is new, has a folder to stand in, and is not inside the source.

    Documents beside a file that an interrupted run has put there already are not in the way.

    Raises
    ------
    InputError
        Saying what is in the way.
    """
    if target.form is Form.HUB:
        assert target.repository is not None  # noqa: S101 - the form says so
        require_absent(target.out, target.repository, endpoint=target.endpoint)
        return
    paths = [target.path]
    if target.form is Form.PARQUET:
        documents = {name: target.beside(name) for name in DOCUMENTS}
        paths += [path for name, path in documents.items() if not is_same(target.partial / name, path)]
    for path in paths:
        if os.path.lexists(path):
            raise InputError(
                f"{path} exists, and a rewrite never overwrites",
                hint="name another place, or move it away",
            )
    if not target.path.parent.is_dir():
        raise InputError(f"{target.path.parent} is not a folder", hint="make it, or name another place")
    root = Path(source)
    if root.is_dir() and target.path.resolve().is_relative_to(root.resolve()):
        raise InputError(
            f"{target.out} lies inside the dataset {source}, which would then hold both",
            hint="name a place outside of it",
        )
