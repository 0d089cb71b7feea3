"""How many images SWE-bench Verified's environments need at smaller caps: ``python pack.py WORK``.

Takes the locks and sizes that ``verified.py`` left in WORK. Every image has the whole base with all system
packages; interpreters and packages only where a venv of the image needs them. Written to
``results/verified_packing.jsonl``.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import verified

from partition.plan.packing import VenvItem, packing
from partition.venvs.artefacts import Package
from partition.venvs.platforms import platform_of
from partition.venvs.wheels import sizes_of
from solvers.composition.compose import compose
from solvers.result import Limits

CAPS = (10, 8, 6, 5, 4, 3.5)
"""GB of an image."""
UNITS = 60.0
"""Units of counted work a cap."""


def main() -> None:
    """Solve one instance for each cap."""
    work = Path(sys.argv[1]).resolve()
    text = (verified.HERE.parents[1] / "data" / "bases" / "interpreters.csv").read_text()
    interpreters = {row["python"]: int(row["bytes"]) for row in csv.DictReader(text.splitlines())}
    interpreters = {python: interpreters[python] for python in verified.PYTHONS}
    (predicted,) = verified.lines("verified_prediction.jsonl")
    base = predicted["base"] + predicted["apt"] - sum(interpreters.values())
    items = {}
    for env, entries in verified.chosen(work):
        packages = [Package(*entry.split()[0].split("==")) for entry in entries]
        platform = platform_of(*verified.RELEASE).uv
        sized, _ = sizes_of(
            packages, python=env["python"], platform=platform, cache=work / "cache" / "sizes", offline=True
        )
        items[env["name"]] = VenvItem(python=env["python"], packages=sized)
    (verified.RESULTS / "verified_packing.jsonl").unlink(missing_ok=True)
    for cap in CAPS:
        made = packing(items, interpreters=interpreters, base_bytes=base, capacity=round(cap * 1e9))
        found = compose(made.instance, Limits(deterministic_time=UNITS))
        row = {
            "cap_gb": cap,
            "images": len(found.images),
            "bound": found.bound,
            "status": found.status.value,
            "gb": [round(image.size / 1e9, 3) for image in found.images],
            "refused": list(found.refused),
            "method": found.method,
        }
        verified.note("verified_packing.jsonl", json.loads(json.dumps(row)))


if __name__ == "__main__":
    main()
