"""curl and wget: what is run unseen, and what is saved without a look at the server's answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.environments.commands.findings import Finding, Kind, arguments
from partition.environments.commands.python import version_of_installer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call
    from partition.environments.script import Word

PROGRAMS = frozenset({"curl", "wget"})

INTERPRETERS = frozenset({"sh", "bash", "dash", "ash", "zsh", "python", "perl", "node", "ruby"})

_VALUED = frozenset(
    {
        "-o",
        "--output",
        "-H",
        "--header",
        "-A",
        "--user-agent",
        "-X",
        "--request",
        "-d",
        "--data",
        "-u",
        "--user",
        "--retry",
        "--retry-delay",
        "--max-time",
        "-m",
        "--connect-timeout",
        "-e",
        "--referer",
        "-O",
        "--tries",
        "-t",
        "--timeout",
        "-T",
        "-P",
        "--directory-prefix",
        "--output-document",
        "--proto",
        "--cacert",
        "-w",
        "-x",
        "--proxy",
    }
)


def read(call: Call) -> Iterator[Finding]:
    """Yield ``curl | sh``, downloads to a file without ``-f``, and the interpreter in an installer's name."""
    # -O takes a value in wget alone
    valued = _VALUED - {"-O"} if call.program == "curl" else _VALUED
    pairs = list(arguments(call.words[1:], valued))
    urls = [word for option, word in pairs if not option or option == "--url"]
    for url in urls:
        python = version_of_installer(url.text)
        if python is not None:
            yield call.found(Kind.PYTHON, url, python, detail="conda installer")
    if call.following in INTERPRETERS:
        yield from (_at(call, Kind.PIPED_SCRIPT, url) for url in urls[:1])
    elif call.program == "curl" and _saves(call, pairs) and not _fails(pairs):
        yield from (_at(call, Kind.UNCHECKED_DOWNLOAD, url) for url in urls)


def _at(call: Call, kind: Kind, url: Word) -> Finding:
    return Finding(
        kind=kind,
        value=url.text,
        line=url.line,
        directory=call.command.directory,
        conditional=call.command.conditional,
    )


def _saves(call: Call, pairs: list[tuple[str, Word]]) -> bool:
    if call.following == "tee" or any(
        each.operator in {">", ">>", "1>"} for each in call.command.redirections
    ):
        return True
    return any(
        _has(option, "oO") or option in {"--output", "--remote-name", "--remote-name-all"}
        for option, _ in pairs
    )


def _fails(pairs: list[tuple[str, Word]]) -> bool:
    return any(
        _has(option, "f") or option in {"--fail", "--fail-with-body", "--fail-early"} for option, _ in pairs
    )


def _has(option: str, letters: str) -> bool:
    """Return whether a cluster of short options holds one of `letters`."""
    return option.startswith("-") and not option.startswith("--") and any(each in option for each in letters)
