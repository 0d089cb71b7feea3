"""Propose the plan for one cap."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from partition.environments.render import for_repositories, render, snapshot_of, with_packages
from partition.errors import CapExceededError, InfeasibleError
from partition.plan.check import check_plan
from partition.plan.document import (
    Assignment,
    Environment,
    PackageList,
    Plan,
    PlanLimits,
    Prediction,
    Refusal,
    Venv,
)
from partition.plan.problem import yield_model
from partition.plan.setup import setup_steps
from solvers.result import Limits as SolverLimits
from solvers.result import Status
from solvers.selection.select import select

if TYPE_CHECKING:
    from partition.environments.shared import SharedEnvironment
    from partition.plan.limits import Limits
    from partition.plan.problem import Problem
    from solvers.selection.result import SelectionResult

_NO_ENVIRONMENT = "no environment within the cap can serve it"
_NO_CANDIDATE = "needs something at run time that its network mode forbids, and no candidate bakes it"


def propose(problem: Problem, limits: Limits) -> Plan:
    """Choose at most K environments and assign every task; the plan is checked before it is returned.

    Raises
    ------
    InfeasibleError
        No candidate fits the limits.
    CapExceededError
        The caps leave no room for a new snapshot and none that exists serves a task.
    """
    instance = problem.instance(limits)
    result = select(instance, SolverLimits(deterministic_time=limits.deterministic_time, seed=limits.seed))
    if result.status is Status.INFEASIBLE or not result.chosen:
        if limits.max_new == 0:
            raise CapExceededError(
                "the caps leave no room for a new snapshot, and no existing one serves a task",
                hint="remove snapshots, or give their contents with --existing PLAN",
            )
        raise InfeasibleError(
            "no candidate environment fits the limits",
            hint="raise the disk cap or the number of environments",
        )
    plan = build_plan(problem, limits, result)
    check_plan(plan)
    return plan


def build_plan(problem: Problem, limits: Limits, result: SelectionResult) -> Plan:
    """Turn a selection into a Plan document: environments trimmed to what their tasks need, and rendered."""
    rows_of = {
        index: [row for row, chosen in enumerate(result.assignment) if chosen == index]
        for index in result.chosen
    }
    shared = {index: _trimmed(problem, index, rows) for index, rows in rows_of.items()}
    environments = [_environment(problem, shared[index], index, rows) for index, rows in rows_of.items()]
    band = problem.yields.band(problem.environments, result.assignment, seed=limits.seed)
    bands = problem.yields.bands(problem.environments, result.assignment, seed=limits.seed)
    assignment: dict[str, Assignment] = {}
    refused = list(problem.refused)
    for row, index in enumerate(result.assignment):
        task_class = problem.table.classes[row]
        if index < 0:
            reason = _NO_ENVIRONMENT if problem.predictions.allowed[row].any() else _NO_CANDIDATE
            about = {"repo": task_class.features.repo, "version": task_class.features.version or None}
            refused += [Refusal(task=task, reason=reason, **about) for task in task_class.tasks]
            continue
        environment = shared[index]
        baked = bool(problem.predictions.baked[row, index])
        own = bands[row]
        assert own is not None  # noqa: S101 - the class is assigned
        for task in task_class.tasks:
            assignment[task] = Assignment(
                environment=environment.name,
                repo=task_class.features.repo,
                version=task_class.features.version or None,
                venv=environment.baked.name if baked and environment.baked else None,
                setup=setup_steps(problem.features[task], environment, baked=baked),
                predicted_yield=_rounded(own.mean),
                low=_rounded(own.low),
                high=_rounded(own.high),
            )
    return Plan(
        envfold_version=version("envfold"),
        objective=_rounded(result.objective),
        bound=_rounded(result.bound),
        gap=_rounded(result.gap),
        status=result.status.value,
        method=result.method,
        seed=limits.seed,
        limits=PlanLimits(
            max_environments=limits.max_environments,
            max_new=limits.max_new,
            preset=limits.preset,
            organisation=limits.organisation,
            existing=limits.existing,
            disk_bytes=limits.disk_bytes,
            deterministic_time=limits.deterministic_time,
        ),
        inputs=problem.inputs,
        candidates=len(problem.environments),
        classes=len(problem.table.classes),
        prediction=Prediction(
            predicted_yield=_rounded(band.mean),
            low=_rounded(band.low),
            high=_rounded(band.high),
            ceiling=_rounded(problem.ceiling),
            tasks=problem.tasks,
        ),
        yield_model=yield_model(),
        environments=sorted(environments, key=lambda item: (-item.tasks, item.name)),
        assignment=dict(sorted(assignment.items())),
        refused=sorted(refused, key=lambda item: item.task),
    )


def _trimmed(problem: Problem, index: int, rows: list[int]) -> SharedEnvironment:
    """Return the environment with the system packages that its tasks need, and no other.

    Tasks without a Dockerfile clone their repository at run time.
    """
    environment = problem.environments[index]
    if environment.dockerfile is not None:
        return environment
    features = [problem.table.features[row] for row in rows]
    needed = {package for each in features for package in each.apt}
    clones = any(each.repo and each.base is None for each in features)
    apt = (package for package in environment.apt if package in needed)
    return replace(environment, apt=with_packages(apt, for_repositories(environment.base) if clones else ()))


def _environment(problem: Problem, shared: SharedEnvironment, index: int, rows: list[int]) -> Environment:
    table = problem.table
    families: Counter[str] = Counter()
    for row in rows:
        families[table.features[row].family] += table.classes[row].weight
    tasks = families.total()
    expected = sum(float(problem.predictions.mean[row, index]) * table.classes[row].weight for row in rows)
    dockerfile = render(shared)
    return Environment(
        name=shared.name,
        snapshot=shared.snapshot or snapshot_of(dockerfile),
        exists=shared.exists,
        origin=shared.origin,
        base=shared.base,
        distribution=shared.distribution,
        release=shared.release,
        python=shared.python,
        apt=list(shared.apt),
        venvs=_venvs(shared),
        dockerfile=dockerfile,
        tasks=tasks,
        families=dict(sorted(families.items(), key=lambda item: (-item[1], item[0]))),
        predicted_yield=_rounded(expected / tasks),
        predicted_size_bytes=int(problem.sizes[index]),
    )


def _venvs(shared: SharedEnvironment) -> list[Venv]:
    if shared.baked is None:
        return []
    lists = [
        PackageList(
            family=member.family,
            version=member.version,
            repo=member.repo,
            commit=member.commit,
            pip=list(member.pip),
            conda=list(member.conda),
            requirement_files=list(member.requirement_files),
        )
        for member in shared.baked.members
    ]
    return [Venv(name=shared.baked.name, python=shared.python, lists=lists)]


def _rounded(value: float) -> float:
    """Return `value` to nine significant decimals, below the solver's resolution and above float noise."""
    return round(float(value), 9)
