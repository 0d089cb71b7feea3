"""The set-up that a plan records step by step, for tasks of which only a row of a table is known."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from partition.environments.bases import describe_image
from partition.environments.default_bases import CONDA_KIND, is_official_python, kind_of
from partition.environments.renamed import as_named_on
from partition.errors import InputError
from partition.rewrite.program import Program, Run, State
from partition.rewrite.refusal import Refused
from partition.rewrite.setup import setup_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from partition.plan.document import Environment, Plan

FOLDER = "/testbed"
"""Where the repository of a task is."""

COMMIT = "BASE_COMMIT"
"""The variable of a container that names the commit which the plan does not record."""

_VARIABLES = (("DEBIAN_FRONTEND", "noninteractive"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1"))
_CONDA = "testbed"
_CONDA_PYTHON = f"/opt/conda/envs/{_CONDA}/bin/python"
_NEEDS_DATASET = "name it: `envfold export PLAN --dataset DATASET`, `load_plan(path, dataset=...)`"


class UnusableImageError(InputError):
    """The plan puts a task into an image that cannot install what the task needs."""


def planned_setup(plan: Plan, task: str) -> str:
    """Return what a task does at run time before the agent starts, as a POSIX shell script.

    Raises
    ------
    InputError
        The plan does not fold such a task, or its set-up needs the dataset; an `UnusableImageError` where the
        image has no pip or no conda for it.
    """
    environment = plan.environment_of(task)
    parts: list[str] = []
    for step in plan.assigned(task).setup:
        writer = _WRITERS.get(step["step"])
        if writer is None:
            raise InputError(f"{task}: its set-up needs the dataset ({step['step']})", hint=_NEEDS_DATASET)
        written = list(writer(step, environment))
        _check_tools(task, environment, written, parts)
        if _is_conda(environment) and not any(map(_named, (environment.dockerfile, *parts))):
            version = f" python={environment.python}" if environment.python else " python"
            parts += (
                [f"conda create --yes --quiet --name {_CONDA}{version}"] if any(map(_named, written)) else []
            )
        parts += written
    steps = tuple(
        Run(line=number, source=f"RUN {text}", state=State(environment=_VARIABLES), argv=_argv(text))
        for number, text in enumerate(parts, start=1)
    )
    program = Program(where=f"set-up of {task}", base=environment.base, steps=steps)
    made = setup_of(program, origin="step")
    if isinstance(made, Refused):
        raise InputError(f"{task}: its set-up cannot be written", faults=made.reasons)
    return made.script


def _named(text: str) -> bool:
    """Return whether a script works in the conda environment of the projects."""
    return f"--name {_CONDA}" in text or f"/envs/{_CONDA}/" in text


def _argv(text: str) -> tuple[str, ...]:
    return ("/bin/sh", "-ec", text)


def _apt(step: dict[str, Any], environment: Environment) -> Iterator[str]:
    manager = describe_image(environment.base).manager or "apt"
    packages = " ".join(map(shlex.quote, as_named_on(environment.base, step["packages"])))
    if manager == "apt":
        yield f"apt-get update\napt-get install -y --no-install-recommends {packages}"
    else:
        yield f"{manager} {'add' if manager == 'apk' else 'install -y'} {packages}"


def _clone(step: dict[str, Any], _: Environment) -> Iterator[str]:
    commit = shlex.quote(step["commit"] or "")
    if not step["commit"]:
        why = f"the plan records no commit: set {COMMIT} in the environment of the container"
        # asked for before anything is fetched
        yield f': "${{{COMMIT}:?{why}}}"'
        commit = f'"${COMMIT}"'
    url = shlex.quote(f"https://github.com/{step['repo']}.git")
    yield f"if [ ! -d {FOLDER}/.git ]; then git clone --quiet {url} {FOLDER}; fi"
    yield f"git -C {FOLDER} checkout --quiet --force {commit} --"


def _install(step: dict[str, Any], environment: Environment) -> Iterator[str]:
    named = step.get("files", ())
    alternatives = [f"{FOLDER}/{shlex.quote(each)}" for each in named if each.endswith((".yml", ".yaml"))]
    if alternatives:
        search = f'for file in {" ".join(alternatives)}; do if [ -f "$file" ]; then break; fi; done'
        yield f'{search}\nconda env update --quiet --name {_CONDA} --file "$file"'
    if step.get("conda"):
        packages = " ".join(map(shlex.quote, step["conda"]))
        yield f"conda install --yes --quiet --name {_CONDA} {packages}"
    files = (name for name in named if not name.endswith((".yml", ".yaml")))
    words = [*(f"-r {FOLDER}/{shlex.quote(name)}" for name in files), *map(shlex.quote, step.get("pip", ()))]
    if not words:
        return
    python = _python(environment)
    if not step.get("as_of"):
        yield f"{python} -m pip install {' '.join(words)}"
        return
    yield f"{python} -m pip install --quiet uv"
    # what the image bakes for other tasks may be newer, and would do as it is where no version is asked for
    anew = "--reinstall " if step["step"] == "install" else ""
    install = f'{python} -m uv pip install --python "$(command -v {python})" {anew}'
    dated = f"{install}--exclude-newer {shlex.quote(step['as_of'])} {' '.join(words)}"
    # versions that are asked for may be newer than the task, as where its authors found later ones to work
    yield f"{dated} ||\n{{ echo 'not possible as of {step['as_of']}' && {install}{' '.join(words)}; }}"


def _project(step: dict[str, Any], environment: Environment) -> Iterator[str]:
    options = [
        word for word, given in (("--no-deps", not step["dependencies"]), ("-e", step["editable"])) if given
    ]
    yield " ".join((_python(environment), "-m pip install", *options, FOLDER))


def _python(environment: Environment) -> str:
    return _CONDA_PYTHON if _is_conda(environment) else "python3"


def _is_conda(environment: Environment) -> bool:
    return kind_of(environment.base) == CONDA_KIND


def _check_tools(task: str, environment: Environment, written: list[str], before: list[str]) -> None:
    """Raise where the image is not known to have what steps install with."""
    if _is_conda(environment):
        return
    text = "\n".join((environment.dockerfile, *before))
    lacking = ""
    if any("conda " in each for each in written):
        lacking = "conda"
    elif any(" -m pip " in each for each in written) and not is_official_python(environment.base):
        known = any(name in text for name in ("python3-pip", "py3-pip", "ensurepip", "get-pip"))
        lacking = "" if known else "pip"
    if lacking:
        raise UnusableImageError(
            f"{task}: its set-up needs {lacking}, and {environment.base} of {environment.name} has none",
            hint="propose with more environments, or say what the task needs in another way",
        )


_WRITERS: dict[str, Callable[[dict[str, Any], Environment], Iterator[str]]] = {
    "apt": _apt, "clone": _clone, "install": _install, "adjust": _install, "project": _project,
}  # fmt: skip
