"""Make conda_names.csv from recorded environments: ``python -m data.venvs.conda_names FACTS_DIR``.

A build string says whether a package is Python's (``py39h06a4308_0``, ``pyhd8ed1ab_0``, ``py_0``).
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEADER = ("conda", "pypi", "source")

BY_HAND = {
    "antlr-python-runtime": "antlr4-python3-runtime",
    "bleach-with-css": "bleach",
    "brotli-python": "brotli",
    "build": "build",
    "dask": "dask",
    "dask-core": "dask",
    "django": "django",
    "flask": "flask",
    "importlib_metadata": "importlib-metadata",
    "iris": "scitools-iris",
    "libcf": "",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "mypy": "mypy",
    "nbconvert": "nbconvert",
    "nbconvert-core": "nbconvert",
    "nbconvert-pandoc": "",
    "networkx": "networkx",
    "nomkl": "",
    "numpy-base": "numpy",
    "opencv": "opencv-python",
    "pyarrow-core": "pyarrow",
    "pybind11-global": "pybind11-global",
    "pyqt": "pyqt5",
    "python-duckdb": "duckdb",
    "python-eccodes": "eccodes",
    "python-fastjsonschema": "fastjsonschema",
    "python-flatbuffers": "flatbuffers",
    "python-graphviz": "graphviz",
    "python-kaleido": "kaleido",
    "python-snappy": "python-snappy",
    "python-tzdata": "tzdata",
    "python-xxhash": "xxhash",
    "python_abi": "",
    "pytables": "tables",
    "pytorch": "torch",
    "scikit-learn": "scikit-learn",
    "seaborn": "seaborn",
    "seaborn-base": "seaborn",
    "sqlalchemy": "sqlalchemy",
    "typing-extensions": "typing-extensions",
}
"""What a build string cannot tell: other names, packages in parts, and those that are no part of Python's."""

NOT_ON_THE_INDEX = ("cdat_info", "cdms2", "cdtime", "distarray", "esmpy")
"""Python packages that the index lacked on 2026-12-01, or has another project's of that name."""

_PYTHON_BUILD = re.compile(r"(^|_)py(\d|h[0-9a-f]|ge\d|_)")


def rows(environments: Iterable[Iterable[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the table's rows from lists of ``name=version=build``, sorted."""
    python: dict[str, bool] = {}
    for packages in environments:
        for package in packages:
            name, _, rest = package.partition("=")
            build = rest.partition("=")[2]
            if build and not rest.startswith("="):
                python[name] = python.get(name, False) or bool(_PYTHON_BUILD.search(build))
    for name in sorted({*python, *BY_HAND, *NOT_ON_THE_INDEX}):
        if name in NOT_ON_THE_INDEX:
            yield name, "", "not on the index"
        elif name in BY_HAND:
            yield name, BY_HAND[name], "by hand"
        else:
            yield name, str(canonicalize_name(name)) if python[name] else "", "build string"


def main(facts: Path) -> None:
    """Write the table beside this module."""
    environments = []
    for name, field in (("verified_resolved_envs.jsonl", "conda"), ("specs.jsonl", "conda_packages")):
        lines = (facts / name).read_text(encoding="utf-8").splitlines()
        environments += [json.loads(line)[field] for line in lines]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(rows(environments))
    write_atomically(Path(__file__).with_suffix(".csv"), stream.getvalue().encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
