"""ENV that task.toml cannot hand on: Harbor gives ``[environment.env]`` to its own call of Compose as well.

A PATH from there would decide where the host looks for Compose, a ``$`` would be expanded on the host. Such
variables come from a file that set-up writes: Harbor runs every command with ``bash -c``, and bash reads the
file that BASH_ENV names first (Bash Reference Manual, section 6.2), also as a login shell.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

VARIABLES = "/var/lib/envfold/variables.sh"
"""The file of a container that sets them; it is not there before set-up is done."""

READ_FIRST = "BASH_ENV"
"""The variable that names it."""

_HOST = frozenset(
    {
        "BASH_ENV",
        "ENV",
        "GNUPGHOME",
        "HOME",
        "IFS",
        "PATH",
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PYTHONWARNINGS",
        "SHELL",
        "TEMP",
        "TMP",
        "TMPDIR",
    }
    # names of Harbor's own Compose files (harbor/environments/docker/compose_env.py)
    | {"CONTEXT_DIR", "CPUS", "HARBOR_CONTAINER_NAME", "MAIN_IMAGE_NAME", "MEMORY", "PREBUILT_IMAGE_NAME"}
)
_HOST_FORMS = re.compile(
    r"(BUILDAH|BUILDKIT|BUILDX|COMPOSE|CONTAINERS?|DOCKER|EGRESS_CONTROL|HOST|LD|MOBY|PODMAN|REGISTRY|XDG)_.*"
    r"|SSL_CERT_(FILE|DIR)|(HTTPS?|FTP|ALL|NO)_PROXY",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def carried(
    environment: Iterable[tuple[str, str]],
    *,
    own: Collection[str] = (),
    provided: Collection[tuple[str, str]] = (),
) -> tuple[tuple[str, str], ...]:
    """Return the variables that the file must set, sorted by name.

    Parameters
    ----------
    environment
        ENV of the Dockerfile.
    own
        Names that the task's ``[environment.env]`` sets: those win, as they do over an image's ENV.
    provided
        What the shared image sets itself.
    """
    return tuple(
        sorted(
            (name, value)
            for name, value in environment
            if name not in own
            and (name, value) not in provided
            and _IDENTIFIER.fullmatch(name)
            and ("$" in value or name in _HOST or _HOST_FORMS.fullmatch(name))
        )
    )
