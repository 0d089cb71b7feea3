"""Ask Harbor how it reads task.toml; runs where Harbor is, and imports nothing of this project.

Reads a JSON list of texts on stdin and writes, for each, what Harbor makes of it, or null where it refuses.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from harbor.models.task.config import EnvironmentConfig, TaskConfig, VerifierConfig


def environment(config: EnvironmentConfig | None) -> dict[str, Any] | None:
    """Return the fields that this project reads."""
    if config is None:
        return None
    return {
        "docker_image": config.docker_image,
        "os": config.os.value,
        "cpus": config.cpus,
        "memory_mb": config.memory_mb,
        "storage_mb": config.storage_mb,
        "gpus": config.gpus,
        "network_mode": config.network_mode.value,
        "env": [list(item) for item in config.env.items()],
        "workdir": config.workdir,
        "healthcheck": config.healthcheck.command if config.healthcheck else None,
    }


def verifier(config: VerifierConfig) -> dict[str, Any]:
    """Return the mode and the environment of a verifier."""
    mode = config.environment_mode
    return {
        "environment_mode": mode.value if mode else None,
        "environment": environment(config.environment),
    }


def read(text: str) -> dict[str, Any] | None:
    """Return what Harbor reads, or None where it refuses."""
    try:
        config = TaskConfig.model_validate_toml(text)
    except (ValueError, RecursionError, OverflowError):
        return None
    return {
        "environment": environment(config.environment),
        "verifier": verifier(config.verifier),
        "steps": [{"name": step.name, "verifier": verifier(step.verifier)} for step in config.steps or []],
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
