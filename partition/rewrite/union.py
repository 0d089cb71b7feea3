"""The shared environment of several tasks: the plan's image and what all of them begin with."""

from __future__ import annotations

import posixpath
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from partition.errors import Fault
from partition.rewrite.baking import ALWAYS_THERE, AS_WRITTEN, Baker
from partition.rewrite.beginning import common, does
from partition.rewrite.cutting import joined
from partition.rewrite.program import Fixed, Program, Put
from partition.rewrite.refusal import Refused
from partition.rewrite.residual import AptNeeds, apt_needs, without_baked
from partition.rewrite.split import state_after
from partition.tasks.model import Entry, Kind, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from partition.plan.document import Environment
    from partition.rewrite.program import Step

FOLDERS = "/var/lib/envfold/folders"
"""In the image: the folders that were made only so that containers can start in them."""

_LEAN = " --no-install-recommends"
_TIDY = " \\\n    && rm -rf /var/lib/apt/lists/*"

PAYLOAD = "/opt/envfold/payload/"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedImage:
    """A shared environment's directory.

    Parameters
    ----------
    tree
        ``Dockerfile`` and ``files/<start of SHA-256>/<name>``.
    beginning
        The steps that are baked: what every task's program begins with.
    folders
        Folders that were made, where they were missing, so that containers can start in them; set-up removes
        those that `FOLDERS` lists. Parents first.
    environment
        ENV that the image sets in the end, as far as it is known; sorted.
    lacking
        Folders that containers should start in and that an image which exists already is not known to have.
    """

    tree: Tree
    beginning: tuple[Step, ...] = ()
    folders: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    lacking: frozenset[str] = frozenset()


def shared_image(
    environment: Environment,
    beginning: Sequence[Step] = (),
    workdirs: Iterable[str] = (),
    *,
    apt: AptNeeds | None = None,
) -> SharedImage:
    """Return the environment with `beginning` baked, as far as every builder does the same with it.

    Parameters
    ----------
    environment
        Of the plan. One that exists already stays as it is.
    beginning
        Of the programs of all its tasks, without what the environment has; see `common`.
    workdirs
        Where their containers start.
    apt
        What the tasks' own apt installations leave, all taken together.
    """
    if environment.exists:
        return _existing(environment.dockerfile, _folders(workdirs, ()))
    dockerfile = _installed(environment.dockerfile, apt or AptNeeds())
    variables, workdir, user = state_after(dockerfile)
    baker = Baker(variables, workdir, user)
    count = baker.bake(beginning)
    folders = _folders(workdirs, beginning[:count])
    if folders:
        baker.enter_user(None)
        baker.blocks.append(_placeholders(folders))
    baker.enter_user(user)
    if baker.blocks:
        baker.blocks[0] = f"{AS_WRITTEN}\n{baker.blocks[0]}"
    text = "\n\n".join([dockerfile.rstrip("\n"), *baker.blocks]) + "\n"
    return SharedImage(
        tree=_tree(text, baker.files),
        beginning=tuple(beginning[:count]),
        folders=folders,
        environment=tuple(sorted(state_after(text)[0].items())),
    )


def shared_image_of(environment: Environment, programs: Iterable[Program]) -> SharedImage:
    """Return the shared environment of whole `programs`, all of them at hand."""
    beginning: tuple[Step, ...] | None = None
    workdirs = set()
    apt = AptNeeds()
    for program in programs:
        beginning = common(beginning, without_baked(program, environment))
        workdirs.add(program.workdir)
        apt |= apt_needs(program)
    return shared_image(environment, beginning or (), workdirs, apt=apt)


def left_of(program: Program, image: SharedImage) -> Program | Refused:
    """Return what is left of `program` for the run time, or why that cannot be done there."""
    if program.workdir in image.lacking:
        what = f"starts in {program.workdir}, which the existing image is not known to have"
        hint = "no container of it could start there before set-up; it cannot be changed: propose without it"
        return Refused(reasons=(Fault(where=program.where, what=what, hint=hint),))
    count = len(image.beginning)
    same = zip(program.steps, image.beginning, strict=False)
    if len(program.steps) < count or not all(does(step, shared) for step, shared in same):
        what = "does not begin as the shared environment does"
        return Refused(
            reasons=(Fault(where=program.where, what=what, hint="rewrite the whole dataset again"),)
        )
    left = program.steps[count:]
    reasons = tuple(
        Fault(
            where=f"{program.where}:{step.line}",
            what=f"{step.why}, which only a build can do",
            hint="only what all tasks of an environment begin with is built",
        )
        for step in left
        if isinstance(step, Fixed)
    )
    return Refused(reasons=reasons) if reasons else replace(program, steps=joined(left))


def with_payloads(tree: Tree, payloads: Mapping[str, bytes]) -> Tree:
    """Return the environment with set-ups that fit into no command, each named by its SHA-256."""
    if not payloads:
        return tree
    dockerfile = tree.by_path["Dockerfile"].read().decode()
    text = f"{dockerfile}\nCOPY --chmod=0600 payload/ {PAYLOAD}\n"
    files = {entry.path: entry for entry in tree.files() if entry.path != "Dockerfile"}
    for digest, data in payloads.items():
        files[f"payload/{digest}"] = Entry(path=f"payload/{digest}", source=data, size=len(data))
    return _tree(text, files)


def _installed(dockerfile: str, needs: AptNeeds) -> str:
    """Return the plan's Dockerfile with its apt installation as the tasks have theirs."""
    changed = dockerfile
    rules = []
    if needs.recommends and _LEAN in changed:
        changed = changed.replace(_LEAN, "")
        rules.append("DL3015")
    if needs.lists and _TIDY in changed:
        changed = changed.replace(_TIDY, "")
        rules.append("DL3009")
    if changed != dockerfile:
        pragma = f"# hadolint ignore={','.join(sorted(rules))}\n"
        changed = changed.replace("RUN apt-get update", f"{pragma}RUN apt-get update", 1)
    return changed


def _existing(dockerfile: str, folders: tuple[str, ...]) -> SharedImage:
    """Return an image that is built already, of whose folders only the Dockerfile tells."""
    _, workdir, _ = state_after(dockerfile)
    there = {*ALWAYS_THERE, *_upwards(workdir or "/")}
    lacking = (each for each in folders if each not in there and _placeholder(each) not in dockerfile)
    return SharedImage(tree=_tree(dockerfile, {}), folders=folders, lacking=frozenset(lacking))


def _tree(dockerfile: str, files: Mapping[str, Entry]) -> Tree:
    data = dockerfile.encode()
    entries = {**files, "Dockerfile": Entry(path="Dockerfile", source=data, size=len(data))}
    for path in files:
        folder = posixpath.dirname(path)
        while folder:
            entries[folder] = Entry(path=folder, kind=Kind.DIRECTORY, mode=0o755)
            folder = posixpath.dirname(folder)
    return Tree(tuple(entries[path] for path in sorted(entries)), name="environment")


def _folders(workdirs: Iterable[str], baked: Sequence[Step]) -> tuple[str, ...]:
    """Return the folders and those above them that may be missing, parents first."""
    there = {"/"}
    for step in baked:
        if isinstance(step, Put) and step.entry.kind is Kind.DIRECTORY:
            there.update(_upwards(step.path))
        elif not isinstance(step, Put):
            # a command may remove what was there
            there = {"/"}
    return tuple(sorted({folder for workdir in workdirs for folder in _upwards(workdir)} - there))


def _upwards(folder: str) -> Iterator[str]:
    while folder not in {"", "/"}:
        yield folder
        folder = posixpath.dirname(folder)


def _placeholders(folders: Sequence[str]) -> str:
    return "RUN " + " \\\n    && ".join(map(_placeholder, folders))


def _placeholder(folder: str) -> str:
    name = shlex.quote(folder)
    make_list = f"mkdir -p {posixpath.dirname(FOLDERS)}"
    return f"{{ [ -e {name} ] || {{ mkdir {name} && {make_list} && echo {name} >> {FOLDERS}; }}; }}"
