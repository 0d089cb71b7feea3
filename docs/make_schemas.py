"""Write the JSON schemas of envfold's documents beside this file."""

from __future__ import annotations

import json
from pathlib import Path

from partition.plan.document import Curve, Plan
from partition.rewrite.manifest import Manifest

SCHEMAS = {"plan.schema.json": Plan, "curve.schema.json": Curve, "manifest.schema.json": Manifest}


def schema(name: str) -> str:
    """Return one schema as text; the same models give the same text."""
    return json.dumps(SCHEMAS[name].model_json_schema(), indent=1) + "\n"


if __name__ == "__main__":
    for name in SCHEMAS:
        (Path(__file__).parent / name).write_text(schema(name), encoding="utf-8")
