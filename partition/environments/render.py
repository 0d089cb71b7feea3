"""A shared environment as a Dockerfile: same environment, same bytes."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from partition.environments.snapshot import content_key, snapshot_name
from partition.tasks.model import Entry, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from partition.environments.shared import PackageSet, SetMember, SharedEnvironment

_FOR_REPOSITORIES = ("build-essential", "ca-certificates", "git")
_SOURCES = "/tmp/envfold"  # noqa: S108 - a path inside the image, removed in the layer that makes it
_ENVIRONMENT_FILES = (".yml", ".yaml")


def render(environment: SharedEnvironment) -> str:
    """Return the Dockerfile of an environment.

    System packages come in one sorted install, the baked package set in one layer that leaves neither a
    checkout nor a cache behind. A package list whose files live in a repository is read at a recorded commit,
    or at the newest tag of its release series where none is recorded; the build fails if there is none.
    """
    if environment.dockerfile is not None:
        return environment.dockerfile
    blocks = [f"FROM {environment.base}"]
    packages = set(environment.apt)
    baked = environment.baked
    if baked is not None and any(member.repo for member in baked.members):
        names = {package.partition("=")[0] for package in packages}
        packages.update(name for name in _FOR_REPOSITORIES if name not in names)
    if packages:
        blocks.append(_apt(sorted(packages)))
    if baked is not None:
        blocks.append(_baked(baked, environment.python))
    return "\n\n".join(blocks) + "\n"


def snapshot_of(dockerfile: str, *, target: str | None = None) -> str:
    """Return the snapshot name of an environment directory that holds only this Dockerfile."""
    data = dockerfile.encode()
    tree = Tree((Entry(path="Dockerfile", source=data, size=len(data)),), name="environment")
    return snapshot_name(content_key(tree), target=target)


def _apt(packages: Iterable[str]) -> str:
    lines = [
        "RUN apt-get update",
        "    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends",
        *(f"        {shlex.quote(package)}" for package in packages),
        "    && rm -rf /var/lib/apt/lists/*",
    ]
    return _continued(lines)


def _baked(baked: PackageSet, python: str | None) -> str:
    sources = [member for member in baked.members if member.repo]
    environment_files = [member for member in sources if _environment_files(member)]
    conda = bool(baked.conda or environment_files)
    steps: list[str] = []
    for member in sources:
        if member.requirement_files:
            steps += _checkout(member)
    if conda:
        steps += _conda(baked, environment_files, python)
    arguments = [shlex.quote(requirement) for requirement in baked.pip]
    for member in sources:
        arguments += [
            f"-r {_folder(member)}/{shlex.quote(name)}"
            for name in member.requirement_files
            if not name.endswith(_ENVIRONMENT_FILES)
        ]
    if arguments:
        interpreter = "/opt/conda/envs/testbed/bin/python" if conda else "python"
        steps.append(f"{interpreter} -m pip install --no-cache-dir {' '.join(arguments)}")
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
