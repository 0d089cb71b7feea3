"""Packages that a task says are absent, and that a shared image would hand to it."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from partition.environments.commands import calls_of, findings_of
from partition.environments.commands.findings import Kind
from partition.environments.replacing import brings
from partition.environments.shell import parse_shell
from partition.errors import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partition.environments.commands.findings import Finding
    from partition.plan.document import Environment
    from partition.rewrite.program import Step
    from partition.tasks.model import Entry, Task

_LARGEST = 1 << 20
_QUOTES = r"[`'\"*]{0,3}"
_NAME = rf"{_QUOTES}(?P<{{}}>[A-Za-z0-9][A-Za-z0-9+._-]*[A-Za-z0-9+]){_QUOTES}"
_KINDS = r"(?: (?:package|library|module|command|tool|binary))?"
_GONE = r"(?:removed|uninstalled)"
_USE = r"(?:use|install|import)"
_ADVERB = r"(?:(?:currently|intentionally|deliberately) )?"
_STATE = r"(?:(?:currently|yet|been) ){0,2}(?:pre-?)?(?:installed|available|present)\b"
_PROSE = (
    rf"\b{_NAME}{_KINDS} (?:is|are|was|were|has|have) {_ADVERB}\**not\** {_STATE}",
    rf"\b{_NAME}{_KINDS} (?:is|are|was|were|has|have)n't {_STATE}",
    rf"\b{_NAME}{_KINDS} (?:is missing|(?:has|have) been {_GONE}) from (?:the|this) (?:system|image)",
    rf"\b(?:(?:must|should|may|do) not|don't|cannot|can't|never) {_USE}(?: or {_USE})? (?:the )?{_NAME}",
    rf"\bwithout (?:using|installing|importing) (?:the )?{_NAME}",
)
_CODE = (
    r"shutil\.which\(\s*['\"](?P<{}>[^'\"]+)['\"]\s*\)\s*(?:is|==)\s*None",
    r"assert\s+not\s+shutil\.which\(\s*['\"](?P<{}>[^'\"]+)['\"]",
    r"find_spec\(\s*['\"](?P<{}>[^'\"]+)['\"]\s*\)\s*(?:is|==)\s*None",
    r"!\s*(?:command\s+-v|which|type)\s+(?P<{}>[\w.+-]+)",
    r"(?:command\s+-v|which)\s+(?P<{}>[\w.+-]+)\b[^\n;|]*(?:&&|;\s*then)\s*(?:\{\s*)?(?:exit\s+[1-9]|false\b)",
)


def _any(patterns: tuple[str, ...], flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    return re.compile("|".join(p.replace("(?P<{}>", f"(?P<n{i}>") for i, p in enumerate(patterns)), flags)


_IN_PROSE = _any(_PROSE, re.IGNORECASE)
_IN_CODE = _any(_CODE)
_HINTS_PROSE: tuple[re.Pattern[str], ...] = (
    re.compile(
        r"n[o']t\b[^\n]*(?:install|available|present|use|import)|missing|removed|uninstalled|never|cannot|without"
    ),
)
_HINT_REMOVES = re.compile(r"remove|purge|uninstall|\S-(?![\w.+-])")
"""What stands where a Dockerfile removes packages: ``apt-get install NAME-`` does too."""
_HINTS_CODE = tuple(map(re.compile, (r"which", r"find_spec", r"command\s+-v", r"!\s*type")))
"""One by one: each begins with what a search can skip to."""
_COMMANDS = {
    "nc": "netcat",
    "rg": "ripgrep",
    "ag": "silversearcher-ag",
    "fd": "fd-find",
    "cv2": "opencv-python",
    "yaml": "pyyaml",
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "sklearn": "scikit-learn",
}
_COMPILERS = frozenset({"gcc", "g++", "make", "libc6-dev", "dpkg-dev"})
_BRINGS = {
    "build-essential": _COMPILERS,
    "build-base": _COMPILERS - {"dpkg-dev"} | {"patch"},
    "python3-pip": frozenset({"pip"}),
    "py3-pip": frozenset({"pip"}),
    "nodejs": frozenset({"node"}),
}
"""What a task may call by name of a package that brings it: direct dependencies and commands."""
_VARIANT = re.compile(r"\A(?:python3?-|r-cran-|ruby-|node-)|(?:-openbsd|-traditional)\Z")


def forbidden(
    task: Task, environment: Environment, baked: tuple[Step, ...], where: str, *, base: str
) -> Iterator[Fault]:
    """Yield a fault for each package that the task says is absent and that its shared image holds.

    The image holds what its Dockerfile installs by name, with what the plan adds for cloning and building,
    what a full base image has and a slim one of the task has not, and the commands that a few packages bring.
    Dependencies are not followed. A task whose own Dockerfile installs a package is not handed it by others,
    whatever its text says of it, unless that Dockerfile removes the package.

    Parameters
    ----------
    base
        The task's own base image.
    """
    held = _held(environment, baked) | brings(base, environment.base)
    if not held:
        return
    entry = task.files.get("environment/Dockerfile")
    dockerfile = "" if entry is None or entry.size >= _LARGEST else _text(entry)
    for name, line in _own(dockerfile)[1] if _HINT_REMOVES.search(dockerfile) else ():
        if name in held:
            yield _fault(f"{where}:{line}", name, environment.name, "removes", task)
    for entry in task.files.files():
        if entry.path == "instruction.md":
            hints, pattern, verb = _HINTS_PROSE, _IN_PROSE, "says that it must do without"
        elif entry.path.startswith("tests/") and entry.size < _LARGEST:
            hints, pattern, verb = _HINTS_CODE, _IN_CODE, "tests that there is no"
        else:
            continue
        text = _text(entry)
        # in small letters: ignoring case would take longer than anything else here
        small = text.lower()
        if not any(hint.search(small) for hint in hints):
            continue
        for match in pattern.finditer(text):
            name = next(value for value in match.groups() if value)
            name = _normal(_COMMANDS.get(name, name))
            if name in held and not _keeps(dockerfile, name):
                line = text.count("\n", 0, match.start()) + 1
                yield _fault(f"{task.where}/{entry.path}:{line}", name, environment.name, verb, task)


def _fault(where: str, name: str, environment: str, verb: str, task: Task) -> Fault:
    return Fault(
        where=where,
        what=f"{verb} {name}, which the image of {environment} holds",
        hint="the task keeps its own environment",
        task=task.id,
    )


def _text(entry: Entry) -> str:
    return entry.read().decode("utf-8", "replace")


def _normal(name: str) -> str:
    return _VARIANT.sub("", name.lower().replace("_", "-"))


def _bare(requirement: str) -> str:
    return _normal(re.split(r"[=<>!~\[;@/ ]", requirement, maxsplit=1)[0])


def _keeps(dockerfile: str, name: str) -> bool:
    """Return whether a Dockerfile installs a package, or one that brings it, and removes it nowhere."""
    installed, removed = _own(dockerfile)
    return name in _with_commands(installed) and all(name != each for each, _ in removed)


def _own(text: str) -> tuple[frozenset[str], list[tuple[str, int]]]:
    """Return what a Dockerfile installs, and what it removes with its line; its continuations are joined."""
    installed, removed = set[str](), list[tuple[str, int]]()
    if "install" not in text and "remove" not in text and "purge" not in text and "add" not in text:
        return frozenset(), removed
    for finding in _findings(text):
        match finding.kind:
            case Kind.APT_REMOVED | Kind.PIP_REMOVED:
                removed.append((_bare(finding.value), finding.line))
            case Kind.APT | Kind.PIP | Kind.CONDA:
                installed.add(_bare(finding.value))
            case Kind.OTHER:
                installed.add(_bare(finding.value.partition(":")[2]))
            case _:
                pass
    return frozenset(installed), removed


_RUN = re.compile(
    r"^[ \t]*RUN[ \t]+((?:[^\n\\]|\\[ \t]*\n(?:[ \t]*#[^\n]*\n)*|\\.)*)", re.IGNORECASE | re.MULTILINE
)


def _first(line: int, _: int) -> int:
    return line


@lru_cache(maxsize=256)
def _findings(text: str) -> tuple[Finding, ...]:
    """Return what the RUN instructions of a Dockerfile install and remove."""
    found: list[Finding] = []
    for match in _RUN.finditer(text):
        first = text.count("\n", 0, match.start()) + 1
        script = re.sub(r"\\[ \t]*\n(?:[ \t]*#[^\n]*\n)*", " ", match[1])
        for call in calls_of(parse_shell(script, line_at=partial(_first, first)).commands):
            found += findings_of(call)
    return tuple(found)


def _held(environment: Environment, baked: tuple[Step, ...]) -> frozenset[str]:
    pip = tuple(
        each
        for venv in environment.venvs
        for package in venv.lists
        for each in (*package.pip, *package.conda)
    )
    named = (*environment.apt, *pip)
    return _of_environment(named, environment.dockerfile, tuple(step.source for step in baked))


@lru_cache(maxsize=64)
def _of_environment(named: tuple[str, ...], dockerfile: str, baked: tuple[str, ...]) -> frozenset[str]:
    installed = (_own(text)[0] for text in (dockerfile, *baked))
    return _with_commands(frozenset(map(_bare, named)).union(*installed))


def _with_commands(packages: frozenset[str]) -> frozenset[str]:
    return packages.union(*(_BRINGS[name] for name in packages if name in _BRINGS))
