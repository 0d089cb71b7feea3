"""Rough sizes of environments, in bytes, until packages are measured.

Each figure is an order of magnitude (a factor of two either way), used to keep plans below the disk cap and
to prefer the smaller of equally good ones; never shown without that word of caution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partition.environments.shared import SharedEnvironment

_MB = 1_000_000
_BASES = (
    ("condaforge/", 420),
    ("continuumio/", 620),
    ("alpine", 8),
    ("python", 1000),
    ("debian", 120),
    ("ubuntu", 80),
)
_OTHER_BASE = 500
_APT_PACKAGE = 20
_PACKAGE = 12
_REQUIREMENT_FILE = 600
_PROJECT = 150
_HEAVY_PACKAGES = {
    "torch": 5000,
    "tensorflow": 1800,
    "jax": 400,
    "pyspark": 350,
    "pyarrow": 130,
    "scipy": 120,
}


def predicted_size(environment: SharedEnvironment) -> int:
    """Return a rough size of the built image in bytes."""
    megabytes = _base(environment.base) + _APT_PACKAGE * len(environment.apt)
    if environment.baked is not None:
        for member in environment.baked.members:
            megabytes += _PROJECT * (member.repo is not None)
            megabytes += _REQUIREMENT_FILE * bool(member.requirement_files)
        for requirement in {*environment.baked.pip, *environment.baked.conda}:
            name = requirement.partition("=")[0].partition("<")[0].partition(">")[0].partition("[")[0].strip()
            megabytes += _HEAVY_PACKAGES.get(name.lower(), _PACKAGE)
    return megabytes * _MB


def _base(image: str) -> int:
    name = image.removeprefix("docker.io/").removeprefix("library/")
    if "slim" in name:
        return 130 if name.startswith("python") else 75
    return next((size for prefix, size in _BASES if name.startswith(prefix)), _OTHER_BASE)
