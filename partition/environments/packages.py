"""Package lists as a Dockerfile leaves them: later commands replace or remove what earlier ones installed."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from partition.environments.commands.conda import environment_file
from partition.environments.commands.findings import Kind
from partition.environments.commands.pip import requirement_lines
from partition.environments.requirement import requirement_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Finding
    from partition.environments.textfiles import Text, TextFiles
    from partition.errors import Fault

_LISTS = ("apt", "pip", "conda", "requirement_files", "other")
_NAME_END = re.compile(r"[=/]")


class PackageLists:
    """What is installed so far, each with the place that says so.

    Parameters
    ----------
    texts
        Where the requirement files named by commands are looked up.
    """

    def __init__(self, texts: TextFiles) -> None:
        self._texts = texts
        self._lists: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in _LISTS}
        self._pythons: list[tuple[str, str, str]] = []
        self._paths: dict[str, str] = {}
        self.notes: list[Fault] = []

    def values(self, name: str) -> tuple[str, ...]:
        """Return one list, sorted."""
        return tuple(sorted(value for value, _ in self._lists[name].values()))

    def sources(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield each list's name and its (value, place) pairs."""
        for name in _LISTS:
            yield name, sorted(self._lists[name].values())

    def name_files_within(self, repository: str) -> None:
        """Name the files of the repository at that absolute path by their paths in it."""
        files = self._lists["requirement_files"]
        root = f"{repository.rstrip('/')}/"
        for name, (value, place) in list(files.items()):
            path = self._paths.get(name, "")
            if path.startswith(root):
                head, colon, _ = value.rpartition("constraints:")
                inner = f"{head}{colon}{path.removeprefix(root)}"
                del files[name]
                files[inner] = (inner, place)

    def take_pythons(self) -> list[tuple[str, str, str]]:
        """Return the interpreters that environment files named since the last call."""
        found, self._pythons = self._pythons, []
        return found

    def add_other(self, value: str, place: str) -> None:
        """Note `value` without folding it."""
        self._lists["other"][value] = (value, place)

    def take(self, finding: Finding, place: str) -> None:
        """Apply what a command installs or removes."""
        value = finding.value
        match finding.kind:
            case Kind.APT:
                self._put("apt", _NAME_END.split(value)[0], value, place)
            case Kind.PIP:
                self._put("pip", requirement_name(value) or value, value, place)
            case Kind.CONDA:
                self._put("conda", _NAME_END.split(value)[0], value, place)
            case Kind.APT_REMOVED:
                self._remove("apt", _NAME_END.split(value)[0], place)
            case Kind.PIP_REMOVED:
                self._remove("pip", requirement_name(value) or value, place)
            case Kind.PROJECT:
                self.add_other(f"project:{value}", place)
            case Kind.REQUIREMENT_FILE | Kind.CONSTRAINT_FILE | Kind.CONDA_FILE:
                self._file(finding.kind, value, finding.directory, place, ())
            case _:
                self.add_other(value, place)

    def _put(self, name: str, key: str, value: str, place: str) -> None:
        # a bare name later on is satisfied by the pin that is installed already
        if value != key or key not in self._lists[name]:
            self._lists[name][key] = (value, place)
        self._lists["other"].pop(f"{name}-removed:{key}", None)

    def _remove(self, name: str, key: str, place: str) -> None:
        self._lists[name].pop(key, None)
        self.add_other(f"{name}-removed:{key}", place)

    def _file(
        self, kind: Kind, value: str, directory: str | None, place: str, within: tuple[str, ...]
    ) -> None:
        path = value if value.startswith("/") else posixpath.join(directory, value) if directory else None
        path = posixpath.normpath(path) if path else None
        text = self._texts.read(path) if path else None
        if text is None:
            name = f"constraints:{value}" if kind is Kind.CONSTRAINT_FILE else value
            self._lists["requirement_files"][name] = (name, place)
            self._paths[name] = path or ""
        elif path is not None and path not in within:
            self._entries(kind, text, (*within, path))

    def _entries(self, kind: Kind, text: Text, within: tuple[str, ...]) -> None:
        folder = posixpath.dirname(within[-1])
        if kind is Kind.CONDA_FILE and within[-1].endswith((".yml", ".yaml")):
            entries = list(environment_file(text.text))
        else:
            entries = [(each.kind, each.value, each.line) for each in requirement_lines(text.text)]
        for found, value, line in entries:
            place = text.place(line)
            if found in {Kind.REQUIREMENT_FILE, Kind.CONSTRAINT_FILE}:
                self._file(kind if kind is Kind.CONSTRAINT_FILE else found, value, folder, place, within)
            elif found is Kind.PYTHON:
                self._pythons.append((value, "environment.yml", place))
            elif kind is Kind.CONSTRAINT_FILE:
                self.add_other(f"constraint:{value}", place)
            elif found is Kind.PROJECT:
                self.add_other(f"project:{value}", place)
            elif found is Kind.OTHER:
                self.add_other(value, place)
            else:
                name = "conda" if found is Kind.CONDA else "pip"
                self._put(name, requirement_name(value) or _NAME_END.split(value)[0], value, place)
