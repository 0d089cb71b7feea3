"""A shared environment as a Dockerfile: same environment, same bytes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from partition.environments.bases import describe_image
from partition.environments.default_bases import CONDA_KIND, is_official_python, kind_of
from partition.environments.renamed import there_on
from partition.environments.snapshot import content_key, snapshot_name
from partition.tasks.model import Entry, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.environments.shared import PackageSet, SetMember, SharedEnvironment

_APT = ("apt-get update", "DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends")
_INSTALL: dict[str, tuple[tuple[str, ...], str]] = {
    "apt": (_APT, "rm -rf /var/lib/apt/lists/*"),
    "apk": (("apk add --no-cache",), ""),
    "dnf": (("dnf install -y",), "dnf clean all"),
    "yum": (("yum install -y",), "yum clean all"),
}
"""For each package manager the commands before the packages, and the one that tidies up after."""
_FOR_REPOSITORIES = {
    "apt": ("build-essential", "ca-certificates", "git"),
    "apk": ("build-base", "ca-certificates", "git"),
    "dnf": ("ca-certificates", "gcc", "gcc-c++", "git", "make"),
    "yum": ("ca-certificates", "gcc", "gcc-c++", "git", "make"),
}
_FOR_PIP = {
    "apt": ("python3", "python3-pip"),
    "apk": ("py3-pip", "python3"),
    "dnf": ("python3", "python3-pip"),
    "yum": ("python3", "python3-pip"),
}
_SOURCES = "/tmp/envfold"  # noqa: S108 - a path inside the image, removed in the layer that makes it
_ENVIRONMENT_FILES = (".yml", ".yaml")
_CONDA_PYTHON = "/opt/conda/envs/testbed/bin/python"
# PEP 668: the distribution's interpreter refuses pip unless told that this image is nobody else's
_DISTRIBUTION_PYTHON = "PIP_BREAK_SYSTEM_PACKAGES=1 python3"


def render(environment: SharedEnvironment) -> str:
    """Return the Dockerfile of an environment.

    System packages come in one sorted install, by the names that the base's release has for them, the baked
    package set in one layer that leaves neither a checkout nor a cache behind. A package list whose files
    live in a repository is read at a recorded commit,
    or at the newest tag of its release series where none is recorded; the build fails if there is none.
    """
    if environment.dockerfile is not None:
        return environment.dockerfile
    blocks = [f"FROM {environment.base}"]
    manager = describe_image(environment.base).manager or "apt"
    python = _python(environment)
    packages = set(there_on(environment.base, environment.apt))
    baked = environment.baked
    if baked is not None:
        wanted = for_repositories(environment.base) if any(member.repo for member in baked.members) else ()
        if python == _DISTRIBUTION_PYTHON and _uses_pip(baked):
            wanted += _FOR_PIP[manager]
        packages = set(with_packages(packages, wanted))
    if packages:
        blocks.append(_system(manager, sorted(packages)))
    if baked is not None:
        blocks.append(_baked(baked, python, environment.python))
    return "\n\n".join(blocks) + "\n"


def for_repositories(base: str) -> tuple[str, ...]:
    """Return the packages that cloning and installing a repository take; none where packages are gone."""
    found = describe_image(base)
    return () if found.archived else _FOR_REPOSITORIES[found.manager or "apt"]


def with_packages(packages: Iterable[str], wanted: Iterable[str]) -> tuple[str, ...]:
    """Return packages with those `wanted` that no pin names already, sorted."""
    kept = set(packages)
    names = {package.partition("=")[0] for package in kept}
    return tuple(sorted(kept | {name for name in wanted if name not in names}))


def snapshot_of(dockerfile: str, *, target: str | None = None) -> str:
    """Return the snapshot name of an environment directory that holds only this Dockerfile."""
    data = dockerfile.encode()
    tree = Tree((Entry(path="Dockerfile", source=data, size=len(data)),), name="environment")
    return snapshot_name(content_key(tree), target=target)


def _python(environment: SharedEnvironment) -> str:
    """Return the command that runs the interpreter which the baked packages go into."""
    if environment.baked is not None and (environment.baked.conda or _conda_files(environment.baked)):
        return _CONDA_PYTHON
    if kind_of(environment.base) == CONDA_KIND:
        return _CONDA_PYTHON
    return "python" if is_official_python(environment.base) else _DISTRIBUTION_PYTHON


def _uses_pip(baked: PackageSet) -> bool:
    files = (name for member in baked.members for name in member.requirement_files)
    return bool(baked.pip) or any(not name.endswith(_ENVIRONMENT_FILES) for name in files)


def _conda_files(baked: PackageSet) -> bool:
    return any(_environment_files(member) for member in baked.members)


def _system(manager: str, packages: Iterable[str]) -> str:
    (*before, install), after = _INSTALL[manager]
    commands = [*before, install]
    lines = [f"RUN {commands[0]}", *(f"    && {command}" for command in commands[1:])]
    lines += [f"        {shlex.quote(package)}" for package in packages]
    return _continued([*lines, *([f"    && {after}"] if after else [])])


def _baked(baked: PackageSet, python: str, version: str | None) -> str:
    sources = [member for member in baked.members if member.repo]
    steps: list[str] = []
    for member in sources:
        if member.requirement_files:
            steps += _checkout(member)
    if python == _CONDA_PYTHON:
        steps += _conda(baked, [member for member in sources if _environment_files(member)], version)
    arguments = [shlex.quote(requirement) for requirement in baked.pip]
    for member in sources:
        arguments += [
            f"-r {_folder(member)}/{shlex.quote(name)}"
            for name in member.requirement_files
            if not name.endswith(_ENVIRONMENT_FILES)
        ]
    if arguments:
        steps.append(f"{python} -m pip install --no-cache-dir {' '.join(arguments)}")
    if any(member.requirement_files for member in sources):
        steps.append(f"rm -rf {_SOURCES}")
    if not steps:
        return f"# {baked.name}: its packages are named only by the project's own metadata"
    first, *rest = steps
    return _continued([f"RUN {first}", *(f"    && {step}" for step in rest)])


def _checkout(member: SetMember) -> list[str]:
    folder = _folder(member)
    url = shlex.quote(f"https://github.com/{member.repo}.git")
    steps = [f"git clone --quiet {url} {folder}"]
    if member.commit:
        return [*steps, f"git -C {folder} checkout --quiet {shlex.quote(member.commit)}"]
    series = (f"{prefix}{member.version}{rest}" for prefix in ("", "v") for rest in ("", ".*"))
    patterns = " ".join(map(shlex.quote, series))
    tag = f"git -C {folder} tag --list --sort=-version:refname {patterns} > {_SOURCES}/tags"
    return [*steps, tag, f'git -C {folder} checkout --quiet "$(head -n 1 {_SOURCES}/tags)" --']


def _conda(baked: PackageSet, members: Iterable[SetMember], python: str | None) -> list[str]:
    wanted = [f"python={python}"] if python else []
    packages = map(shlex.quote, (*wanted, *baked.conda))
    steps = [" ".join(("conda create --yes --quiet --name testbed", *packages))]
    for member in members:
        names = [f"{_folder(member)}/{shlex.quote(name)}" for name in _environment_files(member)]
        file = names[0]
        if len(names) > 1:
            file = '"$file"'
            steps.append(f"for file in {' '.join(names)}; do if [ -f {file} ]; then break; fi; done")
        steps.append(f"conda env update --quiet --name testbed --file {file}")
    return [*steps, "conda clean --all --yes"]


def _environment_files(member: SetMember) -> list[str]:
    return [name for name in member.requirement_files if name.endswith(_ENVIRONMENT_FILES)]


def _folder(member: SetMember) -> str:
    return f"{_SOURCES}/{shlex.quote(member.family.replace('/', '--'))}"


def _continued(lines: list[str]) -> str:
    return " \\\n".join(lines)
