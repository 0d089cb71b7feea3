"""Real tasks from releases of Python packages: release N is the repository, the step to N + 1 the gold patch.

The repository holds the recipe only: ``corpus.toml`` says which releases, which files and which tests, and
``tasks/<id>/`` how each task's own Dockerfile is written. Sources come from PyPI when a tree is built, as
sdists through pip, into a folder that the caller names.
"""

from __future__ import annotations

import difflib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SDIST = "SDIST"
"""What a Dockerfile writes for the name of release N's sdist, without ``.tar.gz``."""

_TESTS = re.compile(r"(?:^|/)(?:tests?|testing)(?:/|\.py$)|(?:^|/)test_[^/]*$|(?:^|/)conftest\.py$")
_SOURCE = re.compile(r"\.py$|\.pyi$|/py\.typed$")
_NO_SOURCE = re.compile(r"(?:^|/)(?:setup|ez_setup|conf)\.py$|^docs?/|^bench")
_BUILDERS = ("setuptools==75.3.0", "wheel==0.45.1", "flit_core==3.10.1", "hatchling==1.27.0")
"""What pip needs to read the metadata of the sdists: pinned, and one set for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task of the table.

    Parameters
    ----------
    old, new
        Releases N and N + 1.
    image
        What the stand-in must be: ``debian``, or a version of Python.
    repository
        Where release N lies in the container.
    python
        The interpreter that has the package installed.
    apply
        How solve.sh applies the gold patch: ``copy`` or ``patch``.
    subset
        Whether it is run in every channel: the `scripts` channel refuses a Dockerfile that removes what it
        copied, as most of these do with the sdist.
    """

    id: str
    package: str
    old: str
    new: str
    image: str
    style: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    repository: str = "/app"
    python: str = "python"
    apply: str = "copy"
    sdist: bool = True
    subset: bool = False


def rows(table: Path = HERE / "corpus.toml") -> list[Row]:
    """Return the table, in its order."""
    document = tomllib.loads(table.read_text())
    return [
        Row(**{key: tuple(value) if isinstance(value, list) else value for key, value in each.items()})
        for each in document["task"]
    ]


def sdist(package: str, version: str, cache: Path) -> Path:
    """Return the path of a release's sdist, downloaded with pip where the cache lacks it."""
    folder = cache / f"{package}-{version}"
    if not folder.is_dir():
        partial = folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _run(
            _builder(cache), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--no-binary", ":all:", "--no-build-isolation", "--dest", partial, f"{package}=={version}",
        )  # fmt: skip
        partial.rename(folder)
    return next(folder.iterdir())


def _builder(cache: Path) -> Path:
    folder = cache / "venv"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        _run(sys.executable, "-m", "venv", "--clear", folder)
        _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_BUILDERS)
        (folder / "ready").touch()
    return python


def unpacked(archive: Path) -> dict[str, bytes]:
    """Return {path below the sdist's only folder: content}."""
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member) if member.isfile() else None
            if file is not None:
                found[member.name.split("/", 1)[1]] = file.read()
    return found


def build(row: Row, root: Path, cache: Path, *, plain: bool = False) -> Path:
    """Write one task below `root`.

    Parameters
    ----------
    plain
        Take ``Dockerfile.plain`` where there is one: the same build without heredocs, for builders that do
        not know them.
    """
    target = root / row.id
    old_archive = sdist(row.package, row.old, cache)
    old, new = unpacked(old_archive), unpacked(sdist(row.package, row.new, cache))
    _environment(row, target / "environment", old_archive, plain=plain)
    changed = {path: data for path, data in new.items() if _is_source(path) and old.get(path) != data}
    gone = [path for path in sorted(old) if _is_source(path) and path not in new]
    if gone and row.apply == "patch":
        raise ValueError(f"{row.id}: release {row.new} lacks {', '.join(gone)}: apply it by copy")
    _write(target / "instruction.md", _instruction(row))
    _write(target / "task.toml", _task_toml(row))
    for path, data in changed.items():
        if row.apply == "copy":
            _write(target / "solution" / "files" / path, data)
    if row.apply == "patch":
        _write(target / "solution" / "gold.patch", _patch(old, changed))
    _write(target / "solution" / "solve.sh", _solve(row, gone), mode=0o755)
    for path, data in new.items():
        if _TESTS.search(path) and not path.endswith(".pyc"):
            _write(target / "tests" / "files" / path, data)
    ids = "".join(f"{each}\n" for each in (*row.fail_to_pass, *row.pass_to_pass))
    _write(target / "tests" / "ids.txt", ids)
    _write(target / "tests" / "test.sh", _test(row), mode=0o755)
    return target


def _is_source(path: str) -> bool:
    return bool(_SOURCE.search(path)) and not _TESTS.search(path) and not _NO_SOURCE.search(path)


def _environment(row: Row, target: Path, archive: Path, *, plain: bool) -> None:
    shutil.copytree(HERE / "tasks" / row.id, target, symlinks=True)
    recipe, other = target / "Dockerfile", target / "Dockerfile.plain"
    if other.exists():
        if plain:
            other.replace(recipe)
        else:
            other.unlink()
    stem = archive.name.removesuffix(".tar.gz")
    recipe.write_bytes(recipe.read_bytes().replace(SDIST.encode(), stem.encode()))
    if row.sdist:
        shutil.copyfile(archive, target / archive.name)


def _instruction(row: Row) -> str:
    wanted = "\n".join(f"- `{each}`" for each in row.fail_to_pass)
    return (
        f"# {row.package} {row.old}\n\n"
        f"The source of {row.package} {row.old} is in `{row.repository}`. Change it so that the tests\n"
        f"below, which were written for the release after it, pass, and no other test fails.\n\n{wanted}\n"
    )


def _task_toml(row: Row) -> str:
    return (
        'version = "1.0"\n\n[metadata]\n'
        f'source = "{row.package} {row.old} -> {row.new}"\n'
        f'repo = "{row.package}"\nstyle = "{row.style}"\n\n'
        "[agent]\ntimeout_sec = 600.0\n\n[verifier]\ntimeout_sec = 600.0\n\n"
        "[environment]\nbuild_timeout_sec = 1200.0\ncpus = 1\nmemory_mb = 2048\nstorage_mb = 10240\n"
    )


def _solve(row: Row, gone: list[str]) -> str:
    apply = {"copy": "cp -R /solution/files/. .", "patch": "patch -p1 </solution/gold.patch"}[row.apply]
    return f"#!/bin/bash\nset -euo pipefail\ncd {row.repository}\n{apply}\n" + "".join(
        f"rm {shlex.quote(path)}\n" for path in gone
    )


def _test(row: Row) -> str:
    return (
        "#!/bin/bash\n"
        "echo 0 >/logs/verifier/reward.txt\n"
        f"cd {row.repository} || exit 0\n"
        "cp -R /tests/files/. . || exit 0\n"
        "mapfile -t ids </tests/ids.txt\n"
        f'if {shlex.quote(row.python)} -m pytest -q -p no:cacheprovider -o addopts= "${{ids[@]}}"; then\n'
        "    echo 1 >/logs/verifier/reward.txt\n"
        "fi\n"
    )


def _patch(old: dict[str, bytes], changed: dict[str, bytes]) -> str:
    lines: list[str] = []
    for path, data in sorted(changed.items()):
        before = old.get(path, b"").decode().splitlines(keepends=True)
        after = data.decode().splitlines(keepends=True)
        source = f"a/{path}" if path in old else "/dev/null"
        lines += (
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(before, after, source, f"b/{path}")
        )  # fmt: skip
    return "".join(lines)


def _write(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout[-1000:]}{done.stderr[-3000:]}")
