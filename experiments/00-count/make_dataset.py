"""Write a parquet dataset of generated tasks with realistic sizes: the input of the count study.

Usage: ``python make_dataset.py OUT.parquet [--tasks 10000] [--seed 0]``. The same arguments give
the same bytes. A task is about 60 kB before compression; one in four copies 5 to 40 files.
"""

from __future__ import annotations

import argparse
import gzip
import io
import random
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS_IN_GROUP = 200
RECIPES = 40
SCHEMA = pa.schema([("path", pa.string()), ("task_binary", pa.binary())])
BASES = ("python:3.9-slim-bookworm", "python:3.11-slim-bookworm", "python:3.8-slim-bullseye", "ubuntu:22.04")
APT = ("git", "curl", "build-essential", "libpq-dev", "libxml2-dev", "ffmpeg", "cmake", "pkg-config")
PIP = ("numpy==1.26.4", "pandas==2.2.2", "requests", "pytest==8.2.0", "flask<3", "lxml", "pyyaml", "attrs")


def words(random_: random.Random, size: int) -> bytes:
    """Return about `size` bytes of text that compresses as prose and code do (three to one)."""
    lines = []
    left = size
    while left > 0:
        line = " ".join(
            f"{random_.choice('abcdefghijklmnopqrstuvwxyz')}{random_.getrandbits(20):x}"
            if random_.random() < 0.35
            else random_.choice(("the", "return", "value", "self.assertEqual(", "for item in", "import"))
            for _ in range(9)
        )
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines).encode()


def dockerfile(random_: random.Random, copied: list[str], number: int) -> bytes:
    """Return a Dockerfile of one of 40 recipes; half of the tasks clone at a commit of their own."""
    recipe = random.Random(random_.randrange(RECIPES))
    apt = sorted(recipe.sample(APT, recipe.randint(1, 4)))
    pip = sorted(recipe.sample(PIP, recipe.randint(1, 4)))
    lines = [
        f"FROM {recipe.choice(BASES)}",
        "RUN apt-get update && apt-get install -y --no-install-recommends \\",
        *(f"    {name} \\" for name in apt),
        "    && rm -rf /var/lib/apt/lists/*",
        f"RUN pip install {' '.join(pip)}",
        "WORKDIR /app",
        *(f"COPY {name} /app/{name}" for name in copied),
        "# the agent starts here; the tests arrive in /tests when it has ended",
    ]
    if random_.random() < 0.5:
        lines.append(
            f"RUN git clone https://github.com/org/repo-{number % 97} . && git checkout {number:040x}"
        )
    return "\n".join(lines).encode() + b"\n"


def task(random_: random.Random, number: int) -> dict[str, tuple[bytes, int]]:
    """Return the files of one task: path to (bytes, permission bits)."""
    copies = random_.randint(5, 40) if random_.random() < 0.25 else 0
    copied = [f"files/data_{index:02}.py" for index in range(copies)]
    memory = random_.choice((2048, 4096))
    config = f'version = "1.0"\n\n[metadata]\ndifficulty = "medium"\n\n[environment]\nmemory_mb = {memory}\n'
    files = {
        "instruction.md": (words(random_, random_.randint(2000, 4000)), 0o644),
        "task.toml": (config.encode(), 0o644),
        "environment/Dockerfile": (dockerfile(random_, copied, number), 0o644),
        "solution/solve.sh": (b"#!/bin/bash\nset -e\n" + words(random_, random_.randint(500, 8000)), 0o755),
        "tests/test.sh": (b"#!/bin/bash\npytest /tests/test_outputs.py\n", 0o755),
    }
    for index in range(random_.randint(1, 6)):
        files[f"tests/test_outputs_{index}.py"] = (words(random_, random_.randint(2000, 20_000)), 0o644)
    for name in copied:
        files[f"environment/{name}"] = (words(random_, random_.randint(200, 6000)), 0o644)
    return files


def pack(files: dict[str, tuple[bytes, int]]) -> bytes:
    """Return a gzip tar of `files` with their directories, as ``tar -C task -czf`` writes it."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, compresslevel=6) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        folders = {"."} | {f"./{Path(path).parent}" for path in files}
        for folder in sorted(folders - {"./."}):
            info = tarfile.TarInfo(folder)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(info)
        for path, (data, mode) in files.items():
            info = tarfile.TarInfo(f"./{path}")
            info.size, info.mode = len(data), mode
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    random_ = random.Random(arguments.seed)
    with pq.ParquetWriter(arguments.out, SCHEMA) as writer:
        for start in range(0, arguments.tasks, ROWS_IN_GROUP):
            numbers = range(start, min(start + ROWS_IN_GROUP, arguments.tasks))
            rows = {
                "path": [f"task-{number:06}.tar.gz" for number in numbers],
                "task_binary": [pack(task(random_, number)) for number in numbers],
            }
            writer.write_table(pa.table(rows, SCHEMA))


if __name__ == "__main__":
    main()
