"""A tree in which folding everything must fail: each task that cannot be folded, and a word of the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_BASE = "FROM python:3.11-slim-bookworm\n"
_APT = "RUN apt-get update && apt-get install -y --no-install-recommends {}\n"
_CLOSED = '[environment]\nnetwork_mode = "no-network"\n'

TASKS = {
    # these two are what the others could share with
    "open-one": (
        f"{_BASE}RUN pip install --no-cache-dir xmltodict==0.13.0\nCOPY a.txt /app/\n",
        "",
        "Do it.\n",
    ),
    "open-two": (
        f"{_BASE}RUN pip install --no-cache-dir xmltodict==0.13.0\nCOPY a.txt /srv/\n",
        "",
        "Do it.\n",
    ),
    "curl-openssl": (
        f"{_BASE}{_APT.format('libcurl4-openssl-dev')}COPY a.txt /app/\n",
        _CLOSED,
        "Link it.\n",
    ),
    "curl-gnutls": (f"{_BASE}{_APT.format('libcurl4-gnutls-dev')}COPY a.txt /app/\n", _CLOSED, "Link it.\n"),
    "missing-package": (
        f"{_BASE}COPY a.txt /app/\n",
        "",
        "The package `xmltodict` is NOT currently installed. Find out why the program needs it.\n",
    ),
    "no-network": (
        f"{_BASE}COPY a.txt /app/\nRUN pip install --no-cache-dir /app/own.tar.gz parse==1.20.0\n",
        _CLOSED,
        "Do it without the network.\n",
    ),
}
"""Dockerfile, the end of task.toml, and instruction by task."""

APART = ("curl-openssl", "curl-gnutls")
"""The packages of these two cannot be installed together, nor at run time: never one environment."""

REASONS = {"missing-package": "xmltodict", "no-network": "network"}
"""A word that the reason must hold, by refused task, where all of them are put into one environment."""


def write(root: Path, names: tuple[str, ...] = tuple(TASKS)) -> Path:
    """Write the tasks below `root`."""
    for name in names:
        dockerfile, configuration, instruction = TASKS[name]
        texts = {
            "environment/Dockerfile": dockerfile,
            "environment/a.txt": f"{name}\n",
            "instruction.md": instruction,
            "solution/solve.sh": "#!/bin/bash\ntouch /app/done\n",
            "task.toml": f'version = "1.0"\n\n{configuration}',
            "tests/test.sh": "#!/bin/bash\necho 0 >/logs/verifier/reward.txt\n",
        }  # fmt: skip
        for path, text in texts.items():
            target = root / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    return root
