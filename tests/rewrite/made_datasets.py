"""Small datasets of task directories that the tests of rewriting make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from partition.plan.limits import limits_for
from partition.plan.problem import read_problem
from partition.plan.propose import propose
from partition.plan.standing import Standing
from partition.rewrite.output.tarball import pack
from partition.tasks.dataset import open_dataset, read_all

if TYPE_CHECKING:
    from pathlib import Path

    from partition.plan.document import Plan

BASES = ("python:3.11-slim-bookworm", "debian:bookworm-slim")

MULTISTAGE = """\
FROM golang:1.22 AS build
RUN go build -o /out ./...
FROM python:3.11-slim-bookworm
COPY --from=build /out /usr/local/bin/tool
WORKDIR /app
"""


def dockerfile(number: int) -> str:
    """Return a Dockerfile of one of four styles, with something of the task's own."""
    base = BASES[number % 2]
    styles = (
        f"FROM {base}\nRUN apt-get update && apt-get install -y git curl\nWORKDIR /app\nCOPY data.txt .\n",
        f"FROM {base}\nENV NUMBER={number}\nWORKDIR /srv/task\nRUN echo {number} > made\n",
        f"FROM {base}\nRUN apt-get update && apt-get install -y jq\nCOPY data.txt script.sh /opt/\n",
        f"FROM {base}\nWORKDIR /app\nRUN mkdir -p a/b && echo {number} > a/b/c\nRUN test -f a/b/c\n",
    )
    return styles[number // 2 % 4]


def write_task(folder: Path, number: int, text: str | None = None, config: str = "") -> None:
    """Write one task: an executable script, a link, an empty folder and a name that is not ASCII among it."""
    memory = 2048 if number % 3 else 4096
    toml = f"[metadata]\nnumber = {number}\n\n[environment]\nmemory_mb = {memory}\n{config}"
    files = {
        "instruction.md": f"Do {number}.\n",
        "task.toml": f'version = "1.0"  # kept\n\n{toml}',
        "environment/Dockerfile": text or dockerfile(number),
        "environment/data.txt": f"{number}\n" * 3,
        "environment/script.sh": "#!/bin/sh\necho data\n",
        "solution/solve.sh": "#!/bin/bash\nset -e\ntouch solved\n",
        "tests/test.sh": "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n",
        "tests/größe.txt": "names need not be ASCII\n",
    }
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    for path in ("environment/script.sh", "solution/solve.sh", "tests/test.sh"):
        (folder / path).chmod(0o755)
    (folder / "tests/again.sh").symlink_to("test.sh")
    (folder / "tests/empty").mkdir()


def write_tasks(root: Path, count: int = 16) -> Path:
    """Write a directory of tasks, in two folders."""
    for number in range(count):
        write_task(root / f"set-{number % 2}" / f"task-{number:03}", number)
    return root


def as_parquet(root: Path, file: Path, rows_in_group: int = 5) -> Path:
    """Write the tasks of a directory as a parquet file."""
    tasks, _ = read_all(open_dataset(str(root)), strict=True)
    table = pa.table(
        {
            "path": [f"{task.id}.tar.gz" for task in tasks],
            "task_binary": [pack(task.files) for task in tasks],
        },
        pa.schema([("path", pa.string()), ("task_binary", pa.binary())]),
    )
    pq.write_table(table, file, row_group_size=rows_in_group)
    return file


def plan_for(source: Path, cap: int) -> Plan:
    """Propose a plan."""
    return propose(
        read_problem(open_dataset(str(source)), Standing()), limits_for(cap, preset=None, existing=0)
    )
