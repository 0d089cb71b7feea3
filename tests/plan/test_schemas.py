"""The published schemas are those of the code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

_DOCS = Path(__file__).parents[2] / "docs"


def _script() -> object:
    spec = importlib.util.spec_from_file_location("make_schemas", _DOCS / "make_schemas.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["plan.schema.json", "curve.schema.json", "manifest.schema.json"])
def test_published_schema_is_current(name: str) -> None:
    expected = _script().schema(name)  # type: ignore[attr-defined]
    assert (_DOCS / name).read_text(encoding="utf-8") == expected, "run python docs/make_schemas.py"
