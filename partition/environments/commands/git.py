"""git: what is cloned, and which commit is checked out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partition.environments.commands.findings import Kind, arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Call, Finding
    from partition.environments.script import Word

PROGRAMS = frozenset({"git", "gh", "hub"})

VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
"""Options before the subcommand that take the next word (git(1))."""
FETCH_VALUED = frozenset(
    {
        "-b", "--branch", "--depth", "--deepen", "-o", "--origin", "--reference", "--reference-if-able", "-c",
        "--config", "-j", "--jobs", "--filter", "--shallow-since", "--shallow-exclude", "--separate-git-dir",
        "-u", "--upload-pack", "--template", "--revision", "--bundle-uri", "--server-option", "--refmap",
        "--negotiation-tip",
    }
)  # fmt: skip
"""Options of clone, fetch and pull that take the next word (git-clone(1), git-fetch(1))."""
_CREATING = frozenset({"-b", "-B", "-c", "-C", "--orphan"})
TOOLS = frozenset(
    {
        "pyenv/pyenv", "pyenv/pyenv-virtualenv", "nvm-sh/nvm", "creationix/nvm", "asdf-vm/asdf",
        "rbenv/rbenv", "rbenv/ruby-build", "ohmyzsh/ohmyzsh", "microsoft/vcpkg", "emscripten-core/emsdk",
        "flutter/flutter",
        "junegunn/fzf", "bats-core/bats-core", "vim/vim", "neovim/neovim",
    }
)  # fmt: skip
"""Repositories that an environment has for its own use: no task is about the clone of one beside its own."""

_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}\Z")
_PATH = re.compile(r"(?:[a-z+]+://(?:[^@/]*@)?[^/]+/|[\w.-]+@[^:/]+:)(.+?)(?:\.git)?/?\Z", re.IGNORECASE)


def read(call: Call) -> Iterator[Finding]:
    """Yield clones and checkouts."""
    if call.program != "git":
        texts = [word.text for word in call.words]
        if texts[1:3] == ["repo", "clone"] and len(texts) > 3:
            yield call.found(Kind.CLONE, call.words[3], f"https://github.com/{texts[3]}")
        return
    folder, name, rest = _split(call.words)
    match name:
        case "clone":
            yield from _clone(call, rest)
        case "checkout" | "switch":
            yield from _checkout(call, rest, folder)
        case "reset":
            if any(word.text == "--hard" for word in rest):
                targets = [word for option, word in arguments(rest, ()) if not option]
                yield from (call.found(Kind.CHECKOUT, each, detail=folder) for each in targets[:1])
        case "fetch" | "pull":
            targets = [word for option, word in arguments(rest, FETCH_VALUED) if not option]
            if targets and "://" in targets[0].text:
                yield call.found(Kind.CLONE, targets[0])
            yield from (
                call.found(Kind.CHECKOUT, each, detail=folder) for each in targets[1:] if is_commit(each.text)
            )
        case "remote" if rest and rest[0].text in {"add", "set-url"}:
            targets = [word for option, word in arguments(rest[1:], ("-t", "-m")) if not option]
            yield from (call.found(Kind.CLONE, each, detail=folder or ".") for each in targets[1:2])


def is_commit(text: str) -> bool:
    """Return whether `text` looks like a commit id (7 to 40 hexadecimal digits)."""
    return _COMMIT.match(text) is not None


def repo_of(url: str) -> str | None:
    """Return ``owner/name`` of a clone URL, or None for a path or something else."""
    match = _PATH.match(re.split(r"[#?]", url, maxsplit=1)[0])
    parts = match[1].strip("/").split("/") if match else []
    return "/".join(parts[-2:]) if len(parts) > 1 else None


def folder_of(url: str) -> str:
    """Return the folder that git makes for a clone of `url`."""
    return url.rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]


def _split(words: tuple[Word, ...]) -> tuple[str, str, tuple[Word, ...]]:
    """Return the folder of ``-C``, the subcommand and what follows it."""
    folder = ""
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        if words[index].text == "-C" and index + 1 < len(words):
            folder = words[index + 1].text
        index += 2 if words[index].text in VALUED else 1
    if index >= len(words):
        return folder, "", ()
    return folder, words[index].text, words[index + 1 :]


def _clone(call: Call, rest: tuple[Word, ...]) -> Iterator[Finding]:
    targets: list[Word] = []
    branch: Word | None = None
    for option, word in arguments(rest, FETCH_VALUED):
        if option in {"-b", "--branch", "--revision"}:
            branch = word
        elif not option:
            targets.append(word)
    if not targets:
        return
    destination = targets[1].text if len(targets) > 1 else ""
    yield call.found(Kind.CLONE, targets[0], detail=destination)
    if branch is not None:
        yield call.found(Kind.CHECKOUT, branch, detail=destination or folder_of(targets[0].text))


def _checkout(call: Call, rest: tuple[Word, ...], folder: str) -> Iterator[Finding]:
    """Yield the commit of ``git checkout COMMIT``; nothing where paths are restored or a branch is made."""
    if any(word.text == "--" for word in rest):
        return
    options = list(arguments(rest, _CREATING))
    targets = [word for option, word in options if not option]
    if len(targets) == 1:
        yield call.found(Kind.CHECKOUT, targets[0], detail=folder)
