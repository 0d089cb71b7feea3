"""What a base image hands to a Dockerfile besides files: ENV, WORKDIR, USER.

Sources: the Dockerfiles of the official images (github.com/docker-library) and of conda's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from partition.environments.bases import split_reference

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""What BuildKit sets where an image says nothing (``util/system/path.go``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseVariables:
    """The configuration that a base image is known to have.

    Parameters
    ----------
    values
        Variables whose value is known.
    unknown
        Variables that the image sets to a value nobody can tell from its name; None where it may set any.
    workdir
        Where its build ended; None where that is not known.
    """

    values: tuple[tuple[str, str], ...] = ()
    unknown: frozenset[str] | None = frozenset()
    workdir: str | None = "/"

    def hides(self, name: str) -> bool:
        """Return whether the image may define `name` with a value that is not known."""
        return self.unknown is None or name in self.unknown


_PYTHON = frozenset(
    {
        "GPG_KEY",
        "PYTHON_GET_PIP_SHA256",
        "PYTHON_GET_PIP_URL",
        "PYTHON_PIP_VERSION",
        "PYTHON_SETUPTOOLS_VERSION",
        "PYTHON_SHA256",
        "PYTHON_VERSION",
    }
)
_UTF8 = (("LANG", "C.UTF-8"),)
_CONDA = (*_UTF8, ("LC_ALL", "C.UTF-8"))
_PLAIN = BaseVariables(values=(("PATH", DEFAULT_PATH),))
_KNOWN = {
    "alpine": _PLAIN,
    "buildpack-deps": _PLAIN,
    "debian": _PLAIN,
    "scratch": _PLAIN,
    "ubuntu": _PLAIN,
    "python": BaseVariables(values=(*_PLAIN.values, *_UTF8), unknown=_PYTHON),
    "node": BaseVariables(values=_PLAIN.values, unknown=frozenset({"NODE_VERSION", "YARN_VERSION"})),
    "golang": BaseVariables(
        values=(
            ("GOPATH", "/go"),
            ("GOTOOLCHAIN", "local"),
            ("PATH", f"/go/bin:/usr/local/go/bin:{DEFAULT_PATH}"),
        ),
        unknown=frozenset({"GOLANG_VERSION"}),
        workdir="/go",
    ),
    "rust": BaseVariables(
        values=(
            ("CARGO_HOME", "/usr/local/cargo"),
            ("PATH", f"/usr/local/cargo/bin:{DEFAULT_PATH}"),
            ("RUSTUP_HOME", "/usr/local/rustup"),
        ),
        unknown=frozenset({"RUST_VERSION"}),
    ),
    "continuumio/miniconda3": BaseVariables(values=(*_CONDA, ("PATH", f"/opt/conda/bin:{DEFAULT_PATH}"))),
    "condaforge/miniforge3": BaseVariables(
        values=(*_CONDA, ("CONDA_DIR", "/opt/conda"), ("PATH", f"/opt/conda/bin:{DEFAULT_PATH}"))
    ),
}
_ANY = BaseVariables(unknown=None, workdir=None)


@lru_cache(maxsize=4096)
def base_variables(image: str) -> BaseVariables:
    """Return what is known of `image`."""
    repository, _ = split_reference(image)
    return _KNOWN.get(repository, _ANY)
