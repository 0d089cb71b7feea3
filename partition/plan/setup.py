"""What each task still does at run time, before the agent starts, in a given shared environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partition.yields.table import member_of

if TYPE_CHECKING:
    from partition.environments.shared import SharedEnvironment
    from partition.features.model import TaskFeatures


def setup_steps(
    features: TaskFeatures, environment: SharedEnvironment, *, baked: bool
) -> list[dict[str, Any]]:
    """Return the task's residual set-up as steps, in the order in which they run.

    Parameters
    ----------
    baked
        Whether the packages baked in the environment serve the task.

    Returns
    -------
    Steps with a key ``step``: ``apt`` (packages that the image lacks), ``clone`` (repository and commit),
    ``copy`` (files of the environment directory), ``install`` (packages, with the date to resolve as of)
    or ``adjust`` (the same list over baked packages of a neighbouring release), ``project``
    (the repository's own install), ``replay`` (the rest of the task's Dockerfile, in order).
    """
    steps: list[dict[str, Any]] = []
    present = set(environment.apt)
    missing = [package for package in features.apt if package not in present]
    if missing:
        steps.append({"step": "apt", "packages": missing})
    if features.repo:
        steps.append({"step": "clone", "repo": features.repo, "commit": features.commit})
    if features.copied:
        steps.append({"step": "copy", "files": [path for path, _ in features.copied]})
    packages = _packages(features)
    if packages and not (baked and _exact(features, environment)):
        steps.append({"step": "adjust" if baked else "install", **packages, "as_of": features.created_at})
    if features.repo:
        steps.append({"step": "project", "editable": True, "dependencies": not (baked and packages)})
    if features.base is not None:
        steps.append(
            {"step": "replay", "file": "environment/Dockerfile", "except": ["apt", "pip", "clone", "copy"]}
        )
    return steps


def _packages(features: TaskFeatures) -> dict[str, list[str]]:
    lists = {"pip": features.pip, "conda": features.conda, "files": features.requirement_files}
    return {name: list(items) for name, items in lists.items() if items}


def _exact(features: TaskFeatures, environment: SharedEnvironment) -> bool:
    own = member_of(features)
    return own is not None and environment.baked is not None and environment.baked.holds(own)
