"""Package managers that envfold notes without folding: npm, cargo, go, gem, apk, dnf and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.commands.findings import Kind, arguments, subcommand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call, Finding
    from partition.environments.script import Word

_NODE = frozenset({"npm", "pnpm", "yarn", "bun"})
_SYSTEM = {
    "apk": frozenset({"add"}),
    "yum": frozenset({"install", "localinstall", "groupinstall"}),
    "dnf": frozenset({"install", "localinstall", "groupinstall"}),
    "microdnf": frozenset({"install"}),
    "tdnf": frozenset({"install"}),
    "zypper": frozenset({"install", "in"}),
    "brew": frozenset({"install"}),
}
_LANGUAGES = {
    "cargo": frozenset({"install"}),
    "go": frozenset({"install", "get"}),
    "gem": frozenset({"install"}),
    "rustup": frozenset({"default"}),
    "nvm": frozenset({"install"}),
    "luarocks": frozenset({"install"}),
    "cpan": frozenset(),
    "cpanm": frozenset(),
    "composer": frozenset({"require"}),
    "opam": frozenset({"install"}),
}
_VALUED = frozenset(
    {
        "--version",
        "-v",
        "--git",
        "--branch",
        "--tag",
        "--rev",
        "--root",
        "--path",
        "--features",
        "-t",
        "--virtual",
        "--repository",
        "-X",
        "--prefix",
        "--registry",
        "--source",
        "-s",
    }
)
PROGRAMS = _NODE | frozenset(_SYSTEM) | frozenset(_LANGUAGES) | {"pacman"}


def read(call: Call) -> Iterator[Finding]:
    """Yield what the command installs for the whole system, as ``manager:package``."""
    name, rest = subcommand(call.words)
    program = call.program
    if program in _NODE:
        yield from _node(call, name, rest)
    elif program == "pacman":
        if any(word.text.startswith("-S") for word in call.words):
            yield from _packages(call, call.words[1:])
    elif program in _SYSTEM and name in _SYSTEM[program]:
        yield from _packages(call, rest)
    elif program in {"cpan", "cpanm"}:
        yield from _packages(call, call.words[1:])
    elif program in _LANGUAGES and name in _LANGUAGES[program]:
        yield from _versioned(call, rest)


def _node(call: Call, name: str, rest: tuple[Word, ...]) -> Iterator[Finding]:
    everywhere = any(word.text in {"-g", "--global", "--location=global"} for word in call.words)
    if call.program == "yarn" and name == "global" and rest and rest[0].text == "add":
        everywhere, name, rest = True, "add", rest[1:]
    if everywhere and name in {"install", "i", "add"}:
        yield from _packages(call, rest)


def _versioned(call: Call, rest: tuple[Word, ...]) -> Iterator[Finding]:
    options = list(arguments(rest, _VALUED))
    version = next((word.text for option, word in options if option in {"--version", "-v"}), "")
    for option, word in options:
        if not option:
            pinned = f"{word.text}@{version}" if version and "@" not in word.text else word.text
            yield call.found(Kind.OTHER, word, f"{call.program}:{pinned}")
        elif option == "--git":
            yield call.found(Kind.OTHER, word, f"{call.program}:{word.text}")


def _packages(call: Call, rest: tuple[Word, ...]) -> Iterator[Finding]:
    for option, word in arguments(rest, _VALUED):
        if not option:
            yield call.found(Kind.OTHER, word, f"{call.program}:{word.text}")
