"""Which steps of a program fetch something over the network when they run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from partition.environments.commands import git
from partition.environments.commands.findings import arguments, subcommand
from partition.environments.commands.pip import VALUED
from partition.environments.prefixes import program as program_name
from partition.errors import Fault
from partition.rewrite.commands import calls_in
from partition.rewrite.program import Fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partition.environments.commands.findings import Call
    from partition.environments.script import Word
    from partition.rewrite.program import Program, Run

_INSTALL = frozenset({"install", "add", "update", "upgrade"})
_FETCHING: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("apt-get", "apt", "aptitude"),
        _INSTALL
        | {"dist-upgrade", "full-upgrade", "build-dep", "source", "download", "satisfy", "reinstall"},
    ),
    "apk": frozenset({"add", "update", "upgrade", "fetch"}),
    **dict.fromkeys(
        ("dnf", "yum", "microdnf", "tdnf", "zypper", "brew"),
        _INSTALL
        | {"in", "up", "refresh", "makecache", "groupinstall", "builddep", "check-update", "localinstall"},
    ),
    **dict.fromkeys(("conda", "mamba", "micromamba"), frozenset({"create", "install", "update", "env"})),
    "npm": _INSTALL | {"i", "ci", "exec", "x", "install-ci-test", "view"},
    "pnpm": _INSTALL | {"i", "dlx", "fetch"},
    "yarn": _INSTALL | {"", "dlx", "global"},
    "bun": _INSTALL | {"i", "x"},
    "corepack": frozenset({"prepare", "install", "use", "up"}),
    "poetry": _INSTALL | {"lock", "sync", "self"},
    "pdm": _INSTALL | {"lock", "sync"},
    "pipenv": _INSTALL | {"lock", "sync"},
    "pipx": _INSTALL | {"run", "inject"},
    "hatch": frozenset({"env", "run", "build"}),
    "cargo": _INSTALL | {"build", "check", "fetch", "run", "test", "search", "vendor", "clippy"},
    "rustup": _INSTALL | {"toolchain", "default", "component", "target"},
    "go": frozenset({"get", "install", "mod", "run"}),
    "gem": _INSTALL,
    "bundle": _INSTALL | {"", "package"},
    "composer": _INSTALL | {"require", "create-project"},
    "dotnet": frozenset({"restore", "build", "publish", "test", "run", "tool", "add", "workload"}),
    "nuget": _INSTALL | {"restore"},
    "opam": _INSTALL | {"init", "switch"},
    "cabal": _INSTALL | {"build", "fetch"},
    "stack": frozenset({"setup", "build", "install", "update", "upgrade"}),
    "luarocks": frozenset({"install"}),
    "nvm": frozenset({"install"}),
    "pyenv": frozenset({"install", "update"}),
    "svn": frozenset({"checkout", "co", "update", "up", "export"}),
    "hg": frozenset({"clone", "pull", "incoming"}),
    "docker": frozenset({"pull", "run", "build"}),
    "huggingface-cli": frozenset({"download"}),
    "hf": frozenset({"download"}),
    "gsutil": frozenset({"cp", "rsync"}),
    "aws": frozenset({"s3"}),
}
"""Subcommands that fetch, by program."""

_ALWAYS = frozenset(
    {"wget", "curl", "aria2c", "ftp", "lftp", "sftp", "scp", "ssh", "npx", "bunx", "uvx", "cpan", "cpanm",
     "gdown", "kaggle", "easy_install", "add-apt-repository", "mvn", "mvnw", "gradle", "gradlew", "sbt",
     "lein", "ping", "nslookup", "dig"}
)  # fmt: skip
_OFFLINE = frozenset(
    {"--offline", "--no-index", "--local", "--no-network", "--no-download", "-o", "--frozen-offline"}
)
_SHORT_OFFLINE = frozenset({"mvn", "mvnw"})
_GIT = frozenset({"clone", "fetch", "pull", "push", "ls-remote"})
_GIT_NESTED = {
    "submodule": {"update", "add"},
    "remote": {"update", "show"},
    "lfs": {"pull", "fetch", "clone", "checkout"},
}
_PIP = frozenset({"install", "download", "wheel", "sync", "compile", "index", "search", "lock"})
_UV = frozenset({"sync", "add", "lock", "run", "tool", "python", "build", "self"})
_LOCAL_URL = re.compile(r"(?:[a-z+]+://)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|\Z)", re.IGNORECASE)
_FILE = re.compile(r"file:|\.{0,2}/")
_WHEEL = re.compile(r"\.whl(\[[^\]]*\])?\Z")
_PATH = re.compile(r"\.{0,2}/|\.{1,2}(\[[^\]]*\])?\Z|.*\.(zip|tar\.gz|tgz|tar\.bz2)\Z")


def needs_network(program: Program) -> tuple[Fault, ...]:
    """Return a fault for each command of a program that is known to fetch something.

    A command counts by its name and subcommand; one that says that it works offline, or that only installs
    what is at hand without dependencies and build isolation, does not.
    """
    faults = [
        _fault(program, step.line, step.source.split()[0])
        for step in program.steps
        if isinstance(step, Fixed) and "://" in step.source
    ]
    for step, call in calls_in(program):
        name = _fetches(call, step)
        if name is not None:
            faults.append(_fault(program, step.line, name))
    return tuple(sorted(dict.fromkeys(faults), key=lambda fault: int(fault.where.rpartition(":")[2])))


def _fault(program: Program, line: int, name: str) -> Fault:
    return Fault(
        where=f"{program.where}:{line}",
        what=f"`{name}` needs the network when it runs",
        hint="the task keeps its own environment, which is built where there is a network",
    )


def _fetches(call: Call, step: Run) -> str | None:
    """Return the command's name if it fetches, else None."""
    words = call.words
    name = call.program
    texts = [word.text for word in words]
    if name == "python" and "-m" in texts[:-1]:
        index = texts.index("-m") + 1
        words = words[index:]
        name = program_name(words)
        texts = texts[index:]
    if name == "uv":
        second, rest = subcommand(words)
        if second == "pip":
            words, name = (words[0], *rest), "pip"
            texts = ["pip", *(word.text for word in rest)]
        else:
            return f"uv {second}" if second in _UV and "--offline" not in texts else None
    if name == "pip":
        return _pip(words, step, call)
    if name == "git":
        return _git(words)
    if name == "pacman":
        return name if any(re.match(r"-[A-Za-z]*S", text) for text in texts[1:]) else None
    if name == "Rscript":
        return name if any("install" in text for text in texts) else None
    if name not in _ALWAYS and name not in _FETCHING:
        return None
    if any(text in _OFFLINE and (text != "-o" or name in _SHORT_OFFLINE) for text in texts):
        return None
    if name in {"curl", "wget"}:
        return None if _is_local(texts[1:]) else name
    if name in _ALWAYS:
        return name
    second, rest = subcommand(words)
    if second not in _FETCHING[name]:
        return None
    if name == "go" and second == "mod" and (not rest or rest[0].text not in {"download", "tidy", "vendor"}):
        return None
    return f"{name} {second}".rstrip()


def _is_local(texts: Sequence[str]) -> bool:
    urls = [text for text in texts if "://" in text or _LOCAL_URL.match(text)]
    if not urls:
        # --version, --help
        return all(text.startswith("-") for text in texts)
    return all(_LOCAL_URL.match(text) or text.startswith("file:") for text in urls)


def _git(words: Sequence[Word]) -> str | None:
    name, rest = subcommand(words, git.VALUED)
    if name in _GIT_NESTED:
        second = subcommand((words[0], *rest))[0]
        return f"git {name} {second}" if second in _GIT_NESTED[name] else None
    if name not in _GIT:
        return None
    targets = [word for option, word in arguments(rest, git.FETCH_VALUED) if not option]
    if targets and targets[0].static and (_FILE.match(targets[0].text) or targets[0].text == "."):
        return None
    return f"git {name}"


def _pip(words: Sequence[Word], step: Run, call: Call) -> str | None:
    name, rest = subcommand(words, VALUED)
    if name not in _PIP:
        return None
    variables = dict(step.state.environment) | {key: word.text for key, word in call.command.assignments}
    if variables.get("PIP_NO_INDEX", "").lower() in {"1", "true", "yes", "on"} or "UV_OFFLINE" in variables:
        return None
    given = list(arguments(rest, VALUED))
    options = {option for option, _ in given}
    if options & {"--no-index", "--offline"}:
        return None
    what = [
        word.text
        for option, word in given
        if option in {"", "-e", "--editable", "-r", "--requirement"} and word.static
    ]
    files_only = options.isdisjoint({"-r", "--requirement"}) and bool(what)
    if files_only and "--no-deps" in options:
        if all(_WHEEL.search(text) and "://" not in text for text in what):
            return None
        if "--no-build-isolation" in options and all(
            (_WHEEL.search(text) or _PATH.match(text)) and "://" not in text for text in what
        ):
            return None
    return f"pip {name}"
