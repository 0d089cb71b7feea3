"""A spec table of 100,000 tasks, drawn from the shipped SWE-Gym and SWE-bench tables, for partition itself.

    python experiments/02-solvers/bootstrap.py --tasks 100000 --copies 9 > large.csv
    envfold propose large.csv --cap 40 --dump-instance large.json
    python experiments/02-solvers/scale.py --document large.json

Every repository is there in several copies under other names, the later ones less popular by Zipf's law, so
that the instance has as many classes as a dataset of that size; what a task needs is what a real one needs.
Candidates and yields are then partition's own.
"""

from __future__ import annotations

import argparse
import csv
import sys

import numpy as np
from records import HERE

DATA = HERE.parents[1] / "data"
TABLES = (DATA / "swegym" / "tasks.csv", DATA / "swebench" / "full.csv")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--copies", type=int, default=9, help="of each repository")
    given = parser.parse_args()
    rows = []
    for path in TABLES:
        with path.open(encoding="utf-8", newline="") as stream:
            rows += list(csv.DictReader(stream))
    rng = np.random.default_rng(0)
    popularity = 1.0 / np.arange(1, given.copies + 1)
    copies = rng.choice(given.copies, size=given.tasks, p=popularity / popularity.sum())
    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for number, (copy, index) in enumerate(
        zip(copies, rng.integers(len(rows), size=given.tasks), strict=True)
    ):
        row = rows[int(index)]
        writer.writerow(
            {
                **row,
                "task_id": f"{row['task_id']}-{number}",
                "repo": f"{row['repo']}-{copy}" if copy else row["repo"],
            }
        )


if __name__ == "__main__":
    main()
