from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType


def _load(name: str) -> ModuleType:
    """Import a file beside this one; test folders are no packages."""
    spec = spec_from_file_location(f"tests_tasks_{name}", Path(__file__).with_name(f"{name}.py"))
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def make() -> ModuleType:
    """Return the helpers of ``makers.py``."""
    return _load("makers")


@pytest.fixture(scope="session")
def hubs() -> ModuleType:
    """Return the helpers of ``hub_server.py``."""
    return _load("hub_server")
