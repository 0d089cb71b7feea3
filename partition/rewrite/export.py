"""A plan for people who render tasks themselves: set-up as shell, and one module without dependencies."""

from __future__ import annotations

import posixpath
import shlex
from typing import TYPE_CHECKING, Any

from partition.environments.bases import describe_image
from partition.environments.default_bases import CONDA_KIND, kind_of
from partition.errors import InputError
from partition.plan.document import Plan, load_plan
from partition.rewrite.program import Program, Run, State
from partition.rewrite.refusal import Refused
from partition.rewrite.setup import setup_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from partition.plan.document import Environment

FOLDER = "/testbed"
"""Where the repository of a task is."""

_VARIABLES = (("DEBIAN_FRONTEND", "noninteractive"), ("PIP_DISABLE_PIP_VERSION_CHECK", "1"))


def setup_for(plan: Plan, task: str) -> str:
    """Return what a task does at run time before the agent starts, as a POSIX shell script.

    Raises
    ------
    InputError
        The plan does not fold such a task, or its set-up needs the dataset.
    """
    entry = plan.assigned(task)
    environment = plan.environment_of(task)
    state = State(environment=_VARIABLES)
    parts: list[str] = []
    for step in entry.setup:
        writer = _WRITERS.get(step["step"])
        if writer is None:
            raise InputError(
                f"{task}: its set-up needs the dataset ({step['step']})",
                hint="use `envfold rewrite PLAN DATASET OUT`",
            )
        parts += writer(step, environment)
    steps = tuple(
        Run(line=number, source=f"RUN {text}", state=state, argv=("/bin/sh", "-ec", text))
        for number, text in enumerate(parts, start=1)
    )
    made = setup_of(Program(where=f"set-up of {task}", base=environment.base, steps=steps))
    if isinstance(made, Refused):
        raise InputError(f"{task}: its set-up cannot be written", faults=made.reasons)
    return made.script


class PlanWithSetup(Plan):
    """A plan that also writes its tasks' set-up."""

    def setup_for(self, task_id: str) -> str:
        """Return a task's set-up; see `setup_for`."""
        return setup_for(self, task_id)


def read_plan(path: str | Path) -> PlanWithSetup:
    """Read a Plan document; see `partition.plan.document.load_plan`."""
    return PlanWithSetup.model_construct(**dict(load_plan(path)))


def get_specs_module(plan: Plan) -> bytes:
    """Return a Python module (3.8 or later) with the plan's map from (repo, version); same plan, same bytes.

    Raises
    ------
    InputError
        A set-up needs the dataset.
    """
    environments = {each.name: each for each in plan.environments}
    tasks: dict[str, tuple[str, int]] = {}
    setups: dict[str, int] = {}
    for task, entry in sorted(plan.assignment.items()):
        script = setup_for(plan, task)
        tasks[task] = (entry.environment, setups.setdefault(script, len(setups)))
    common = posixpath.commonprefix(list(setups))
    specs = {
        (package.family, package.version): name
        for name, environment in sorted(environments.items())
        for venv in environment.venvs
        for package in venv.lists
    }
    table = {
        name: {"python": each.python, "apt": sorted(each.apt), "dockerfile": each.dockerfile}
        for name, each in sorted(environments.items())
    }
    return (
        _MODULE.replace("@ENVIRONMENTS@", _literal(table))
        .replace("@COMMON@", ascii(common))
        .replace("@SETUPS@", _literal([script[len(common) :] for script in setups]))
        .replace("@TASKS@", _literal(tasks))
        .replace("@SPECS@", _literal(specs))
        .encode()
    )


def _literal(value: Any) -> str:
    items = (
        [f"    {key!a}: {each!a},\n" for key, each in value.items()]
        if isinstance(value, dict)
        else [f"    {each!a},\n" for each in value]
    )
    left, right = "{}" if isinstance(value, dict) else "[]"
    return f"{left}\n{''.join(items)}{right}"


def _apt(step: dict[str, Any], environment: Environment) -> Iterator[str]:
    manager = describe_image(environment.base).manager or "apt"
    packages = " ".join(map(shlex.quote, sorted(step["packages"])))
    if manager == "apt":
        yield f"apt-get update\napt-get install -y --no-install-recommends {packages}"
    else:
        yield f"{manager} {'add' if manager == 'apk' else 'install -y'} {packages}"


def _clone(step: dict[str, Any], _: Environment) -> Iterator[str]:
    url = shlex.quote(f"https://github.com/{step['repo']}.git")
    yield f"if [ ! -d {FOLDER}/.git ]; then git clone --quiet {url} {FOLDER}; fi"
    if step.get("commit"):
        yield f"git -C {FOLDER} checkout --quiet --force {shlex.quote(step['commit'])} --"
    else:
        yield f'git -C {FOLDER} checkout --quiet --force "${{BASE_COMMIT:?the plan records no commit}}" --'


def _install(step: dict[str, Any], environment: Environment) -> Iterator[str]:
    files = [name for name in step.get("files", ()) if not name.endswith((".yml", ".yaml"))]
    conda = [name for name in step.get("files", ()) if name.endswith((".yml", ".yaml"))]
    for name in conda:
        yield f"conda env update --quiet --name testbed --file {FOLDER}/{shlex.quote(name)}"
    if step.get("conda"):
        packages = " ".join(map(shlex.quote, step["conda"]))
        yield f"conda install --yes --quiet --name testbed {packages}"
    words = [f"-r {FOLDER}/{shlex.quote(name)}" for name in files] + list(
        map(shlex.quote, step.get("pip", ()))
    )
    if not words:
        return
    python = _python(environment)
    if not step.get("as_of"):
        yield f"{python} -m pip install {' '.join(words)}"
        return
    yield f"{python} -m pip install --quiet uv"
    yield (
        f'{python} -m uv pip install --python "$(command -v {python})" '
        f"--exclude-newer {shlex.quote(step['as_of'])} {' '.join(words)}"
    )


def _project(step: dict[str, Any], environment: Environment) -> Iterator[str]:
    options = " ".join(
        word for word, given in (("--no-deps", not step["dependencies"]), ("-e", step["editable"])) if given
    )
    yield f"{_python(environment)} -m pip install {options} {FOLDER}"


def _python(environment: Environment) -> str:
    return "/opt/conda/envs/testbed/bin/python" if kind_of(environment.base) == CONDA_KIND else "python3"


_WRITERS: dict[str, Callable[[dict[str, Any], Environment], Iterator[str]]] = {
    "apt": _apt, "clone": _clone, "install": _install, "adjust": _install, "project": _project,
}  # fmt: skip

_MODULE = '''"""Shared environments of a task dataset, written by `envfold export`."""

ENVIRONMENTS = @ENVIRONMENTS@

# how every set-up begins, and how each goes on
COMMON = @COMMON@

SETUPS = @SETUPS@

# task -> (environment, index of its set-up)
TASKS = @TASKS@

# (repo family, version) -> the environment that bakes its packages
SPECS = @SPECS@


def get_specs(repo, version):
    """Return python, apt, dockerfile, and setups: the set-up of each task of the environment."""
    name = SPECS[(repo.lower(), version)]
    setups = {task: COMMON + SETUPS[index] for task, (where, index) in TASKS.items() if where == name}
    return dict(ENVIRONMENTS[name], setups=setups)


def dockerfile_for(task_id):
    """Return the Dockerfile of a task's environment."""
    return ENVIRONMENTS[TASKS[task_id][0]]["dockerfile"]


def setup_for(task_id):
    """Return a task's set-up as a POSIX shell script; BASE_COMMIT names a commit that the plan lacks."""
    return COMMON + SETUPS[TASKS[task_id][1]]
'''
