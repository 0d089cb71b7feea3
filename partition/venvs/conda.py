"""conda's Python packages as releases of the Python package index.

The names are a table, ``data/venvs/conda_names.csv``; how versions are written is conda's
"package match specification".
"""

from __future__ import annotations

import csv
import re
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from partition.shipped import shipped

_SPECIFICATION = re.compile(r"(?:[\w./-]+::)?([A-Za-z0-9_][\w.-]*)\s*(.*)\Z", re.DOTALL)
_PYTHON_BUILD = re.compile(r"(^|_)py(\d|h[0-9a-f]|_)")
_PIN = re.compile(r"={0,2}\s*([0-9][\w.]*)\Z")


def python_requirement(specification: str) -> str | None:
    """Return the requirement that a conda package stands for.

    Returns
    -------
    A canonical PEP 508 requirement; empty for a package that is not Python's (``openssl``); None where the
    index does not have it, neither the table nor the build string tells, or the specification is no such.
    """
    match = _SPECIFICATION.match(specification.strip())
    if match is None:
        return None
    name, rest = match[1].lower(), match[2].strip()
    version, _, build = rest.lstrip("=").partition("=") if rest.startswith("=") else (rest, "", "")
    known = _names().get(name, "" if build else None)
    if name not in _names() and _PYTHON_BUILD.search(build):
        known = str(canonicalize_name(name))
    if not known:
        return known
    specifier = _specifier(version.strip() if build else rest, exact=bool(build))
    return None if specifier is None else f"{known}{specifier}"


def _specifier(text: str, *, exact: bool) -> str | None:
    """Return a PEP 440 specifier: ``==1.2.*`` for conda's ``=1.2``, ``==1.2`` for its ``=1.2=build``."""
    if not text or text == "*":
        return ""
    pin = _PIN.match(text)
    if pin:
        whole = exact or text.startswith("==")
        text = f"=={pin[1].rstrip('.')}" + ("" if whole else ".*")
    try:
        return ",".join(sorted(str(each) for each in SpecifierSet(text.replace(" ", ""))))
    except InvalidSpecifier:
        return None


@lru_cache(maxsize=1)
def _names() -> dict[str, str | None]:
    with shipped("venvs", "conda_names.csv").open(encoding="utf-8", newline="") as stream:
        return {
            row["conda"]: None if row["source"] == "not on the index" else row["pypi"]
            for row in csv.DictReader(stream)
        }
