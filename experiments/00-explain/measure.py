"""Measure `envfold explain` on distinct Dockerfiles; see README.md."""

from __future__ import annotations

import json
import platform
import random
import resource
import time
from pathlib import Path

from partition.environments.drivers import explain
from partition.features.extract import features_of
from partition.tasks.model import Entry, Kind, Task, Tree

HERE = Path(__file__).parent
COUNT = 5000
SEED = 20

APT = (
    "git",
    "curl",
    "build-essential",
    "libpq-dev",
    "libxml2-dev",
    "ffmpeg",
    "cmake",
    "jq",
    "vim-tiny",
    "unzip",
)
PIP = ("numpy", "pandas", "scipy", "requests", "flask", "pytest", "hypothesis", "lxml", "django", "attrs")


def dockerfile(number: int, random_: random.Random) -> str:
    """Return one Dockerfile of the shapes that real datasets hold, distinct for each `number`."""
    system, pinned = random.Random(number % 12), random.Random(number % 60)
    apt = " \\\n        ".join(system.sample(APT, system.randint(3, len(APT))))
    pins = [f"{name}=={pinned.randint(0, 3)}.{pinned.randint(0, 30)}" for name in pinned.sample(PIP, 6)]
    python = ("3.8", "3.9", "3.10", "3.11", "3.12")[number % 5]
    heredoc = ""
    if number % 9 == 0:
        heredoc = (
            "RUN cat <<'EOF' > /etc/profile.d/task.sh\nexport TASK=1\nCOPY is no instruction here\nEOF\n\n"
        )
    return f"""# task {number}
ARG PYTHON={python}
FROM --platform=linux/amd64 python:${{PYTHON}}-slim-bookworm

ENV DEBIAN_FRONTEND=noninteractive PIP_NO_CACHE_DIR=1
ARG COMMIT={random_.getrandbits(160):040x}

# system packages
RUN apt-get update && \\
    # compilers and tools
    apt-get install -y --no-install-recommends \\
        {apt} && \\
    rm -rf /var/lib/apt/lists/*

WORKDIR /app
RUN git clone https://github.com/owner{number % 40}/project{number % 120}.git . && git checkout $COMMIT \\
    && git remote remove origin

{heredoc}RUN python -m pip install --upgrade pip "setuptools<81" && \\
    pip install {" ".join(f'"{pin}"' for pin in pins)} && \\
    if [ -f requirements.txt ]; then pip install -r requirements.txt; fi
RUN pip install -e ".[test]" || pip install .
RUN for d in logs data out; do mkdir -p /app/$d; done
RUN curl -fsSL https://example.com/install.sh | bash -s -- -y
COPY data/ ./data/
COPY --chown=1000:1000 run.sh /usr/local/bin/run
RUN useradd -m agent && chown -R agent /app
USER agent
ENTRYPOINT ["bash", "/usr/local/bin/run"]
"""


def task(number: int, random_: random.Random) -> Task:
    """Return a task in memory: the Dockerfile and three files beside it."""
    files = {
        "environment/Dockerfile": dockerfile(number, random_).encode(),
        "environment/data/seed.csv": f"id,value\n1,{number % 200}\n".encode(),
        "environment/run.sh": b"#!/bin/bash\nexec bash\n",
    }
    entries = [Entry(path=folder, kind=Kind.DIRECTORY) for folder in ("environment", "environment/data")]
    entries += [Entry(path=path, source=data, size=len(data)) for path, data in files.items()]
    ordered = tuple(sorted(entries, key=lambda entry: entry.path))
    return Task(id=f"task-{number:05}", where=f"task-{number:05}", files=Tree(ordered))


def main() -> None:
    """Print the table of README.md and write results.json."""
    random_ = random.Random(SEED)
    tasks = [task(number, random_) for number in range(COUNT)]
    lines = sum(each.files.by_path["environment/Dockerfile"].read().count(b"\n") for each in tasks)
    start = time.perf_counter()
    explanation = explain(tasks)
    explained = time.perf_counter() - start
    start = time.perf_counter()
    for each in tasks:
        features_of(each)
    extracted = time.perf_counter() - start
    result = {
        "python": platform.python_version(),
        "dockerfiles": explanation.snapshots,
        "lines": lines,
        "explain_seconds": round(explained, 1),
        "features_seconds": round(extracted, 1),
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "left": {
            each.driver.value: {
                "values": each.values,
                "alone": each.alone,
                "cumulative": each.cumulative,
                "normalised": each.normalised,
            }
            for each in explanation.drivers
        },
    }
    (HERE / "results.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
