"""Make the two virtual environments that the snapshot keys are compared in, and tasks are run with podman.

``python tests/harbor_venvs.py`` makes ``.venv-harbor-0.26.0`` and ``.venv-harbor-0.16.1`` beside this
repository's ``tests``, unless they are there already. Harbor needs Python 3.12 or later, which need not be
the one that runs the tests.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

VERSIONS = {"content": "0.26.0", "legacy": "0.16.1"}
"""Which Harbor stands for each generation of the key."""

VARIABLES = {"content": "ENVFOLD_HARBOR", "legacy": "ENVFOLD_HARBOR_LEGACY"}
"""Environment variables that name another Python that has this Harbor installed."""


def harbor_python(generation: str) -> Path | None:
    """Return the Python that has the Harbor of `generation`, or None where there is none."""
    named = os.environ.get(VARIABLES[generation])
    path = Path(named) if named else _folder(VERSIONS[generation]) / "bin" / "python"
    return path if path.exists() else None


def _folder(version: str) -> Path:
    return ROOT / f".venv-harbor-{version}"


def _installed(python: Path) -> str | None:
    """Return the version of Harbor that `python` has."""
    code = "import importlib.metadata as m; print(m.version('harbor'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def _is_312(python: str | Path) -> bool:
    code = "import json, sys; print(json.dumps(sys.version_info[:2]))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0 and json.loads(done.stdout) == [3, 12]


def _python_312() -> Path | None:
    """Return a Python 3.12: this one, one on PATH, or one of pyenv's."""
    candidates = [sys.executable, shutil.which("python3.12")]
    candidates += sorted(map(str, Path.home().glob(".pyenv/versions/3.12*/bin/python")), reverse=True)
    return next((Path(each) for each in candidates if each and _is_312(each)), None)


def _make_with_uv(folder: Path) -> None:
    """Let uv bring a Python 3.12 of its own."""
    tools = ROOT / ".venv-uv"
    if not (tools / "bin" / "uv").exists():
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        subprocess.run([tools / "bin" / "python", "-m", "pip", "install", "-q", "uv"], check=True)
    subprocess.run(
        [tools / "bin" / "uv", "venv", "-q", "--clear", "--seed", "--python", "3.12", folder], check=True
    )


def make(version: str) -> Path:
    """Return the Python of a virtual environment with this version of Harbor, made where it is missing."""
    folder = _folder(version)
    python = folder / "bin" / "python"
    if python.exists() and _installed(python) == version and (python.parent / "podman-compose").exists():
        return python
    base = _python_312()
    if base is None:
        _make_with_uv(folder)
    else:
        subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
    subprocess.run(
        [
            python,
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            f"harbor=={version}",
            "podman-compose",
        ],
        check=True,
    )
    return python


def main() -> int:
    """Make both, unless the environment names others."""
    for generation, version in VERSIONS.items():
        named = os.environ.get(VARIABLES[generation])
        python = Path(named) if named else make(version)
        found = _installed(python)
        if found != version:
            sys.stderr.write(f"{python}: Harbor {found or 'is not installed'}, and {version} is wanted\n")
            return 1
        sys.stdout.write(f"Harbor {version}: {python}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
