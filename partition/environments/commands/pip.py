"""pip and what speaks its language: ``python -m pip``, ``uv pip``, pipx, and installers of whole projects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.commands.findings import Kind, arguments, subcommand
from partition.environments.requirement import canonical_requirement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call, Finding
    from partition.environments.script import Word

PROGRAMS = frozenset({"pip", "pipx", "easy_install", "poetry", "pdm", "pipenv"})

VALUED = frozenset(
    {
        "-r",
        "--requirement",
        "-c",
        "--constraint",
        "--constraints",
        "-e",
        "--editable",
        "-i",
        "--index-url",
        "--extra-index-url",
        "--index",
        "--default-index",
        "-f",
        "--find-links",
        "-t",
        "--target",
        "--prefix",
        "--root",
        "--src",
        "-C",
        "--config-settings",
        "--config-setting",
        "--no-binary",
        "--only-binary",
        "--python-version",
        "--platform",
        "--python-platform",
        "--implementation",
        "--abi",
        "--trusted-host",
        "--cache-dir",
        "--progress-bar",
        "--timeout",
        "--retries",
        "--proxy",
        "--cert",
        "--client-cert",
        "--upgrade-strategy",
        "--global-option",
        "--install-option",
        "--report",
        "--log",
        "--exists-action",
        "--root-user-action",
        "-p",
        "--python",
        "--exclude-newer",
        "--resolution",
        "--prerelease",
        "--link-mode",
        "--override",
        "--overrides",
        "--build-constraints",
        "-b",
        "--extra",
        "--group",
        "--only-group",
        "--with",
        "-P",
        "--upgrade-package",
        "--index-strategy",
        "--keyring-provider",
        "--use-feature",
        "--use-deprecated",
        "--refresh-package",
        "--no-build-isolation-package",
        "--pip-args",
        "-w",
        "-G",
        "--extras",
    }
)
"""Options that take a value, of pip and of ``uv pip``."""

_FILES = {
    "-r": Kind.REQUIREMENT_FILE,
    "--requirement": Kind.REQUIREMENT_FILE,
    "-c": Kind.CONSTRAINT_FILE,
    "--constraint": Kind.CONSTRAINT_FILE,
    "--constraints": Kind.CONSTRAINT_FILE,
}
_ARCHIVE = re.compile(r"\.(whl|zip|tar\.gz|tgz|tar\.bz2|egg)(\[[^\]]*\])?\Z")
_URL = re.compile(r"[a-z][a-z0-9+.]*(://|\+)", re.IGNORECASE)
_PROJECT_COMMANDS = {
    "poetry": frozenset({"install"}),
    "pdm": frozenset({"install", "sync"}),
    "pipenv": frozenset({"install", "sync"}),
}
_OPTION = re.compile(r"\s--(hash|config-settings?|global-option|install-option)[= ]")


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of a requirements file: what kind, what it says, and its line."""

    kind: Kind
    value: str
    line: int


def read(call: Call) -> Iterator[Finding]:
    """Yield the requirements that the command installs or removes."""
    if call.program == "pip":
        name, rest = subcommand(call.words, VALUED)
        yield from read_install(call, name, rest)
    elif call.program == "pipx":
        name, rest = subcommand(call.words)
        packages = [word for option, word in arguments(rest, VALUED) if not option]
        if name in {"install", "inject"}:
            yield from (call.found(Kind.OTHER, each, f"pipx:{each.text}") for each in packages)
    elif call.program == "easy_install":
        for option, word in arguments(call.words[1:], VALUED):
            if not option:
                yield call.found(Kind.PIP, word, canonical_requirement(word.text))
    else:
        name, rest = subcommand(call.words)
        if name in _PROJECT_COMMANDS[call.program]:
            yield call.found(Kind.PROJECT, call.words[0], f"{call.program} {name}")
        if name == "add" or (name == "install" and call.program == "pipenv"):
            for option, word in arguments(rest, VALUED):
                if not option:
                    yield call.found(Kind.PIP, word, canonical_requirement(word.text))


def read_install(call: Call, name: str, rest: tuple[Word, ...]) -> Iterator[Finding]:
    """Yield what ``pip NAME REST`` installs or removes."""
    if name not in {"install", "uninstall", "sync"}:
        return
    for option, word in arguments(rest, VALUED):
        if option in _FILES:
            yield call.found(_FILES[option], word)
        elif option in {"-e", "--editable"}:
            kind = Kind.PIP if _URL.match(word.text) else Kind.PROJECT
            yield call.found(kind, word, f"-e {word.text}" if kind is Kind.PROJECT else word.text)
        elif option:
            continue
        elif name == "uninstall":
            yield call.found(Kind.PIP_REMOVED, word, canonical_requirement(word.text))
        elif name == "sync":
            yield call.found(Kind.REQUIREMENT_FILE, word)
        else:
            kind, value = classify(word.text)
            yield call.found(kind, word, value)


def classify(text: str) -> tuple[Kind, str]:
    """Return what a positional argument of ``pip install`` is, and its canonical form."""
    if _URL.match(text) or " @ " in text:
        return Kind.PIP, canonical_requirement(text)
    path = text.partition("[")[0]
    if _ARCHIVE.search(text):
        return Kind.OTHER, f"pip-file:{text}"
    if path.startswith((".", "/", "~")) or "/" in path:
        return Kind.PROJECT, text
    return Kind.PIP, canonical_requirement(text)


def requirement_lines(text: str) -> Iterator[Line]:
    """Yield the entries of a requirements file (pip's "Requirements File Format").

    Comments, options that install nothing and hashes are left out; continued lines count as their first.
    """
    number = 0
    lines = iter(text.splitlines())
    for line in lines:
        number += 1
        first = number
        whole = line
        while whole.endswith("\\"):
            whole = whole[:-1] + next(lines, "")
            number += 1
        entry = re.sub(r"(^|\s+)#.*$", "", whole).strip()
        if not entry:
            continue
        option, _, value = (
            entry.replace("=", " ", 1).partition(" ") if entry.startswith("--") else entry.partition(" ")
        )
        value = value.strip()
        if option in _FILES and value:
            yield Line(_FILES[option], value, first)
        elif option in {"-e", "--editable"} and value:
            yield Line(
                Kind.PIP if _URL.match(value) else Kind.PROJECT,
                value if _URL.match(value) else f"-e {value}",
                first,
            )
        elif entry[:2] in {"-r", "-c"} and len(entry) > 2 and not entry.startswith("--"):
            yield Line(_FILES[entry[:2]], entry[2:].strip(), first)
        elif not entry.startswith("-"):
            yield Line(*classify(_OPTION.split(entry)[0].strip()), first)
