"""Run by a venv's own interpreter, 3.6 or later: its packages' versions, and which do not import."""

import contextlib
import importlib
import json
import re
import site
from pathlib import Path

FOLDER = next(each for each in map(Path, site.getsitepackages()) if each.is_dir())


def modules(info: Path) -> "list[str]":
    """Return the names that a package's metadata says it can be imported by, as far as they are there."""
    listed, record = info / "top_level.txt", info / "RECORD"
    names = listed.read_text().split() if listed.exists() else []
    if not names:
        names = re.findall(r"^([A-Za-z]\w*)(?:/__init__)?\.py,", record.read_text(), re.MULTILINE)
    return [
        name
        for name in sorted(set(names))
        if re.match(r"[A-Za-z]\w*$", name) and ((FOLDER / name).is_dir() or any(FOLDER.glob(name + ".*")))
    ]


def main() -> None:
    """Print both as one line of JSON, the last."""
    versions, broken = {}, {}
    # before anything that imports distutils
    with contextlib.suppress(ImportError):
        importlib.import_module("setuptools")
    for info in sorted(FOLDER.glob("*.dist-info")):
        name, _, version = info.name[: -len(".dist-info")].rpartition("-")
        versions[re.sub(r"[-_.]+", "-", name).lower()] = version
        for module in modules(info):
            try:
                importlib.import_module(module)
            except BaseException as error:  # noqa: BLE001 - some end the process when imported
                broken[module] = type(error).__name__ + ": " + str(error)[:150]
    print("\n" + json.dumps([versions, broken]))


main()
