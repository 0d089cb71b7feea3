"""apt-get, apt, aptitude and dpkg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.commands.findings import Kind, arguments, subcommand

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call, Finding
    from partition.environments.script import Word

PROGRAMS = frozenset(
    {"apt-get", "apt", "aptitude", "dpkg", "gdebi", "apt-mark", "apt-key", "add-apt-repository", "apt-cache"}
)
LISTS = "/var/lib/apt"
"""What ``rm -rf`` removes after an installation; removing it belongs to the installation."""

_VALUED = frozenset(
    {"-o", "-t", "-c", "-a", "--option", "--target-release", "--config-file", "--default-release"}
)
_REMOVING = frozenset({"remove", "purge", "autoremove", "autopurge"})


def read(call: Call) -> Iterator[Finding]:
    """Yield the packages that an apt command installs or removes."""
    if call.program in {"apt-get", "apt", "aptitude"}:
        name, rest = subcommand(call.words, _VALUED)
        for option, word in arguments(rest, _VALUED):
            if not option:
                yield from _package(call, name, word)
        return
    for option, word in arguments(call.words[1:], ()):
        if option:
            continue
        if call.program in {"dpkg", "gdebi"} and word.text.endswith(".deb"):
            yield call.found(Kind.OTHER, word, f"deb:{word.text}")
        elif call.program == "add-apt-repository":
            yield call.found(Kind.OTHER, word, f"apt-source:{word.text}")


def _package(call: Call, name: str, word: Word) -> Iterator[Finding]:
    text = word.text
    if name in _REMOVING:
        yield call.found(Kind.APT_REMOVED, word, text.rstrip("*"))
    elif name == "build-dep":
        yield call.found(Kind.OTHER, word, f"apt-build-dep:{text}")
    elif name not in {"install", "satisfy", "reinstall"}:
        return
    elif text.endswith(".deb"):
        yield call.found(Kind.OTHER, word, f"deb:{text}")
    elif text.endswith("-") and len(text) > 1:
        yield call.found(Kind.APT_REMOVED, word, text[:-1])
    else:
        yield call.found(Kind.APT, word)
