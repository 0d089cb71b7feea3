"""Which archives serve a release: the mirrors that this machine's apt has, with the suite replaced."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from partition.environments.bases import releases_of
from partition.errors import InputError

_COMPONENTS = {"debian": "main", "ubuntu": "main restricted universe multiverse"}
"""What the distributions' own base images are configured with."""
_POCKETS = ("", "-updates", "-security")
_KEYRINGS = Path("/usr/share/keyrings")
_FORMAT = "$(REPO_URI)|$(RELEASE)|$(ORIGIN)|$(COMPONENT)"


@dataclass(frozen=True, slots=True, order=True)
class Suite:
    """One line of a sources list.

    Parameters
    ----------
    options
        As in square brackets: ``signed-by=/usr/share/keyrings/debian-archive-keyring.gpg``.
    """

    uri: str
    name: str
    components: str
    options: str = ""

    def __str__(self) -> str:
        """Return it as ``sources.list`` has it."""
        options = f"[{self.options}] " if self.options else ""
        return f"deb {options}{self.uri} {self.name} {self.components}"


def suites_of(distribution: str, release: str) -> tuple[Suite, ...]:
    """Return the release itself, its updates and its security updates at the mirrors of this machine.

    Raises
    ------
    InputError
        apt is missing here, or is configured with no mirror of the distribution.
    """
    keyring = _KEYRINGS / f"{distribution}-archive-keyring.gpg"
    options = f"signed-by={keyring}" if keyring.is_file() else ""
    mirrors = _mirrors(distribution)
    found = []
    for pocket in _POCKETS:
        uri = mirrors.get(pocket) or mirrors.get("")
        if uri:
            found.append(Suite(uri, f"{release}{pocket}", _COMPONENTS[distribution], options))
    if not found:
        raise InputError(
            f"{distribution} {release}: this machine's apt is configured with no mirror of {distribution}",
            hint=f"add one to /etc/apt/sources.list.d, or plan on a machine that runs {distribution}",
        )
    return tuple(found)


def _mirrors(distribution: str) -> dict[str, str]:
    """Return for each kind of suite the address of a mirror."""
    if shutil.which("apt-get") is None or distribution not in _COMPONENTS:
        raise InputError(
            f"{distribution}: the packages of its releases cannot be read here",
            hint="run where apt-get is installed; releases of Debian and Ubuntu can be read",
        )
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", _FORMAT, "Created-By: Packages"],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    own = set(releases_of(distribution)) | {"stable", "oldstable", "testing", "unstable"}
    mirrors: dict[str, str] = {}
    for line in done.stdout.splitlines():
        uri, suite, origin, component = line.split("|")[:4]
        name, dash, pocket = suite.partition("-")
        # before the first update apt does not know the origin; then the mirror's folder tells
        known = origin.lower() == distribution if not origin.startswith("$") else distribution in uri
        if known and component == "main" and name in own and f"{dash}{pocket}" in _POCKETS:
            mirrors.setdefault(f"{dash}{pocket}", uri)
    return mirrors
