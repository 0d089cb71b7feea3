"""Ask Harbor itself; runs in a virtual environment that has Harbor, and imports nothing of this project.

Reads ``{"directories": [{"path", "docker_image"}], "tasks": [path]}`` on stdin. Writes, for each directory,
``{"content", "legacy"}``: the keys this Harbor computes, or ``error: ...`` where it raises, or null where it
has no such function. Writes, for each task, ``{"uses": [...]}`` or ``{"error": ...}``: every container that
Harbor would start, with its directory, kind and key.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from harbor.environments import definition
from harbor.models.task import verifier_mode
from harbor.models.task.task import Task
from harbor.trial.trial import Trial

try:
    from harbor.utils.container_cache import environment_dir_hash
except ImportError:
    environment_dir_hash = None

if TYPE_CHECKING:
    from collections.abc import Callable

HAS_DEFINITIONS = hasattr(verifier_mode, "resolve_verifier_environment_definition")


def attempt(function: Callable[..., Any] | None, *args: Any, **kwargs: Any) -> Any:
    """Return the answer, the error as text, or None where Harbor has no such function."""
    if function is None:
        return None
    try:
        return function(*args, **kwargs)
    except (OSError, ValueError, OverflowError, RuntimeError) as error:
        return f"error: {type(error).__name__}: {error}"


def keys(path: Path, docker_image: str | None) -> dict[str, Any]:
    """Return both keys of one directory."""
    return {
        "content": attempt(definition.environment_content_hash, path, docker_image=docker_image, truncate=64),
        "legacy": attempt(environment_dir_hash, path),
    }


def use(task: Task, directory: Path, config: Any, *, role: str, step: str | None) -> dict[str, Any]:
    """Describe one container as Harbor's Daytona environment decides about it."""
    image = config.docker_image
    if config.os.value == "windows":
        kind = "windows"
    elif (directory / definition.COMPOSE_FILE_NAME).exists():
        kind = "compose"
    elif definition.should_use_prebuilt_docker_image(directory, docker_image=image, force_build=True):
        kind = "prebuilt image"
    elif not definition.has_agent_environment_definition(directory):
        kind = "no Dockerfile"
    else:
        kind = None
    return {
        "role": role,
        "step": step,
        "directory": directory.relative_to(task.paths.task_dir).as_posix(),
        "kind": kind,
        "resources": [config.cpus, config.memory_mb, config.storage_mb, config.gpus],
        **keys(directory, image),
    }


def verifier(task: Task, step: Any) -> dict[str, Any] | None:
    """Describe the separate verifier of a step, or of the task; None where it is shared."""
    name = step.name if step else None
    if HAS_DEFINITIONS:
        found = verifier_mode.resolve_verifier_environment_definition(task.config, task.paths, step)
        return found and use(task, found.directory, found.config, role="verifier", step=name)
    config = verifier_mode.resolve_effective_verifier_env_config(task.config, step)
    if config is None:
        return None
    directory = Trial._verifier_env_build_context(SimpleNamespace(task=task), step)
    return use(task, directory, config, role="verifier", step=name)


def containers(path: str) -> list[dict[str, Any]]:
    """Describe every container of one task."""
    task = Task(path)
    environment = use(
        task, task.paths.environment_dir, task.config.environment, role="environment", step=None
    )
    found = [verifier(task, step) for step in task.config.steps or [None]]
    return [environment, *(each for each in found if each)]


def main() -> None:
    """Answer everything on stdin at once: starting Harbor takes seconds."""
    warnings.simplefilter("ignore")
    asked = json.load(sys.stdin)
    directories = [keys(Path(each["path"]), each["docker_image"]) for each in asked.get("directories", [])]
    tasks = []
    for path in asked.get("tasks", []):
        found = attempt(containers, path)
        tasks.append({"error": found} if isinstance(found, str) else {"uses": found})
    json.dump({"directories": directories, "tasks": tasks}, sys.stdout)


if __name__ == "__main__":
    main()
