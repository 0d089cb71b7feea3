"""SWE-Gym's 200 repository versions in the fewest images of 10 GB, on paper: ``python swegym.py WORK``.

The recorded tables name few packages: most lists are files of the repositories. In their place each venv
holds what the table names and the project's own release of that series with all that it depends on, as the
index resolves it today. Sizes are estimated from those of the files. Raw lines: ``results/swegym_*.jsonl``.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import verified

from partition.apt.bases import base_for
from partition.apt.closure import closure
from partition.apt.index import open_index
from partition.plan.packing import VenvItem, packing
from partition.venvs.artefacts import Package
from partition.venvs.lock import Lock, lock_all
from partition.venvs.platforms import platform_of
from partition.venvs.spec import VenvSpec, unlockable
from partition.venvs.wheels import sizes_of
from solvers.composition.compose import compose
from solvers.result import Limits

ROOT = verified.HERE.parents[1]
PROJECTS = {"getmoto/moto": "moto", "Project-MONAI/MONAI": "monai", "facebookresearch/hydra": "hydra-core"}
"""Names on the index that are not the repository's."""
PYTHON = "3.9"
"""Where the repository's own environment file decides, as for dask and pandas."""
CAPS = (10, 8, 6, 5)


def specs() -> dict[str, VenvSpec]:
    """Return a spec for each repository version, by name."""
    found = {}
    with (ROOT / "data" / "swegym" / "tasks.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            name = f"{row['repo'].partition('/')[2]}-{row['version']}".lower()
            project = PROJECTS.get(row["repo"], row["repo"].partition("/")[2].lower())
            listed = {each for each in json.loads(row["pip"]) if not unlockable(each)}
            wanted = {*listed, f"{project}=={row['version']}.*", "pip", "setuptools", "wheel"}
            found[name] = VenvSpec(python=row["python"] or PYTHON, requirements=tuple(sorted(wanted)))
    return found


def main() -> None:
    """Lock, estimate, pack."""
    work = Path(sys.argv[1]).resolve()
    platform = platform_of(*verified.RELEASE)
    asked = specs()
    names = {spec: name for name, spec in asked.items()}
    sizes_of_pythons = csv.DictReader((ROOT / "data" / "bases" / "interpreters.csv").read_text().splitlines())
    interpreters = {row["python"]: int(row["bytes"]) for row in sizes_of_pythons}
    index = open_index(verified.RELEASE[1], work / "cache" / "apt")
    apt = {
        each
        for row in csv.DictReader((ROOT / "data/swegym/tasks.csv").open())
        for each in json.loads(row["apt"])
    }
    base = base_for("debian:bookworm", index)
    system = closure({*apt, "build-essential", "ca-certificates", "git"}, index, base=base)
    for old in ("swegym_locks.jsonl", "swegym_packing.jsonl"):
        (verified.RESULTS / old).unlink(missing_ok=True)
    items = {}
    for spec, answer in lock_all(list(names), cache=work / "cache", platform=platform):
        name = names[spec]
        if not isinstance(answer, Lock):
            verified.note(
                "swegym_locks.jsonl", {"name": name, "kind": answer.kind, "why": answer.reason[:300]}
            )
            continue
        packages = [Package(each.name, each.version) for each in answer.packages]
        sized, _ = sizes_of(
            packages, python=spec.python, platform=platform.uv, cache=work / "cache" / "sizes", measure=False
        )
        items[name] = VenvItem(python=spec.python, packages=sized)
        verified.note("swegym_locks.jsonl", {"name": name, "packages": len(packages)})
    for cap in CAPS:
        made = packing(
            items, interpreters=interpreters, base_bytes=base.bytes + system.bytes, capacity=round(cap * 1e9)
        )
        found = compose(made.instance, Limits(deterministic_time=60.0))
        row = {"cap_gb": cap, "venvs": len(items), "images": len(found.images), "bound": found.bound}
        row |= {"status": found.status.value, "gb": [round(image.size / 1e9, 3) for image in found.images]}
        verified.note("swegym_packing.jsonl", row | {"refused": list(found.refused), "method": found.method})


if __name__ == "__main__":
    main()
