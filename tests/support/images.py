"""Stand-ins for base images, made of Debian's packages and the interpreters of pyenv: no registry is asked.

An image has the tag that a Dockerfile's FROM says, so that podman does not pull; what an official image sets
is set here too (PATH, LANG, /usr/local). Needs root, podman and mmdebstrap.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DEBIAN = "docker.io/library/debian:bookworm"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LABEL = "envfold.stand-in"

_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
_TLS = ("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
_LIBRARIES = "libbz2-1.0 libffi8 liblzma5 libreadline8 libsqlite3-0 libssl3 zlib1g"


def python_image(version: str) -> str:
    """Return the tag of the stand-in for an official image, as ``3.9``."""
    return f"docker.io/library/python:{version}-slim-bookworm"


def lacking() -> list[str]:
    """Return what is missing on this machine to build and run containers."""
    found = [name for name in ("podman", "mmdebstrap") if shutil.which(name) is None]
    return found if os.geteuid() == 0 else [*found, "root"]


def make_debian() -> str:
    """Make ``debian:bookworm`` where it is missing, with git, curl and this machine's certificates."""
    if _exists(DEBIAN):
        return DEBIAN
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = folder / "bookworm.tar"
        packages = "--include=ca-certificates,curl,git"
        _run("mmdebstrap", "--quiet", "--variant=minbase", packages, "bookworm", archive)
        _run("podman", "import", archive, f"{DEBIAN}-raw")
        archive.unlink()
        lines = [f"FROM {DEBIAN}-raw", f"ENV PATH={PATH}"]
        own = os.environ.get("SSL_CERT_FILE")
        if own:
            shutil.copy(own, folder / "bundle.crt")
            lines += [f"COPY bundle.crt {_BUNDLE}", *(f"ENV {each}={_BUNDLE}" for each in _TLS)]
        _build(folder, lines, DEBIAN)
    return DEBIAN


def make_python(version: str) -> str:
    """Make ``python:<version>-slim-bookworm`` where it is missing, with the interpreter in /usr/local."""
    tag = python_image(version)
    if _exists(tag, labelled=True):
        return tag
    source = _interpreter(version)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        local = folder / "local"
        for part in ("bin", "include", "lib"):
            shutil.copytree(source / part, local / part, symlinks=True, ignore=_left_behind)
        for each in (local / "bin").iterdir():
            if "python" not in each.name or each.name.endswith("-config"):
                each.unlink()
        lines = [
            f"FROM {make_debian()}",
            f"LABEL {LABEL}={version}",
            f"ENV PATH=/usr/local/bin:{PATH} LANG=C.UTF-8",
            f"RUN apt-get update && apt-get install -y --no-install-recommends {_LIBRARIES}",
            "RUN rm -rf /var/lib/apt/lists/*",
            "COPY local/ /usr/local/",
            "RUN ldconfig && python3 -m ensurepip",
            "RUN ln -sf python3 /usr/local/bin/python && ln -sf pip3 /usr/local/bin/pip",
        ]
        _build(folder, lines, tag)
    return tag


def interpreter_path(version: str) -> str:
    """Return where an image of `make_interpreters` has an interpreter."""
    return f"/usr/local/python{version}/bin/python{version}"


def make_interpreters(*versions: str) -> str:
    """Make Debian with a compiler and several interpreters side by side, none of them on PATH."""
    tag = f"localhost/envfold-interpreters:{'-'.join(versions)}"
    if _exists(tag, labelled=True):
        return tag
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [
            f"FROM {make_debian()}",
            f"LABEL {LABEL}={'-'.join(versions)}",
            f"RUN apt-get update && apt-get install -y --no-install-recommends {_LIBRARIES} build-essential",
            "RUN rm -rf /var/lib/apt/lists/*",
        ]
        for version in versions:
            source, home = _interpreter(version), Path(interpreter_path(version)).parents[1]
            for part in ("bin", "include", "lib"):
                target = folder / version / part
                shutil.copytree(source / part, target, symlinks=True, ignore=_left_behind)
            for each in (folder / version / "bin").iterdir():
                if "python" not in each.name or each.name.endswith("-config"):
                    each.unlink()
            lines += [
                f"COPY {version}/ {home}/",
                f"RUN echo {home}/lib >> /etc/ld.so.conf.d/pythons.conf && ldconfig",
                # extensions are linked with the library where it was built
                f"RUN mkdir -p {source.parent} && ln -s {home} {source}",
            ]
        _build(folder, lines, tag)
    return tag


def _left_behind(folder: str, names: list[str]) -> list[str]:
    """Return what an image of an interpreter does not need: its tests, its packages, its static library."""
    unwanted = {"__pycache__", "idlelib", "site-packages", "test"}
    return [each for each in names if each in unwanted or each.startswith("config-") or each.endswith(".a")]


def _interpreter(version: str) -> Path:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*"))
    if not found:
        raise FileNotFoundError(f"no CPython {version} under ~/.pyenv/versions: pyenv install {version}")
    return found[-1]


def _exists(tag: str, *, labelled: bool = False) -> bool:
    pick = f'{{{{index .Labels "{LABEL}"}}}}' if labelled else "{{.Id}}"
    done = subprocess.run(
        ["podman", "image", "inspect", "--format", pick, tag], capture_output=True, text=True, check=False
    )
    return done.returncode == 0 and done.stdout.strip() != ""


def _build(folder: Path, lines: list[str], tag: str) -> None:
    (folder / "Dockerfile").write_text("\n".join(lines) + "\n")
    _run(
        "podman", "build", "--isolation=chroot", "--network=host", "--pull=never", "--format=docker",
        f"--tag={tag}", folder,
    )  # fmt: skip


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} {command[1]}: {done.stdout[-2000:]}{done.stderr[-4000:]}")


def main() -> int:
    """Make the images named on the command line: ``debian``, or versions of Python."""
    for each in sys.argv[1:]:
        sys.stdout.write(f"{make_debian() if each == 'debian' else make_python(each)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
