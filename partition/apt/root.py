"""apt in a private root: its configuration, lists, caches and package state all lie in one folder."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.errors import InputError
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from partition.apt.sources import Suite

# the Release file of an ended release is past its date; its signature counts all the same
_CONFIGURATION = """\
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "{folder}";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::State::extended_states "{folder}/extended_states";
Dir::Cache "{folder}";
Dir::Cache::archives "{folder}/archives";
Dir::Log "{folder}";
Dir::Log::Planner "/dev/null";
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Sandbox::User "";
APT::Install-Suggests "false";
APT::Get::Show-User-Simulation-Note "false";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Acquire::Check-Valid-Until "false";
Acquire::Retries "2";
Debug::NoLocking "true";
"""
_ABSENT = re.compile(
    r"The repository '\S+ (\S+) (?:In)?Release' (?:does not have|no longer has) a Release file"
)
_ADDRESS = re.compile(r"//[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that apt takes for the whole system.

    Parameters
    ----------
    folder
        Made by `make_root`.
    """

    folder: Path

    def run(self, *command: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run one of apt's programs here; its own words are in English.

        Raises
        ------
        InputError
            The program is not installed.
        """
        variables = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))},
            "APT_CONFIG": str(self.folder / "apt.conf"),
            "LC_ALL": "C.UTF-8",
        }
        program, *arguments = command
        settings = [part for option in options for part in ("-o", option)]
        try:
            return subprocess.run(
                [program, *settings, *arguments],
                env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                check=False,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise InputError(
                f"{program}: not installed here", hint="system packages can be proven where apt is"
            ) from error

    def configure(self, architecture: str, extra: str = "") -> None:
        """Write the configuration, which names the folder where it stands now."""
        text = _CONFIGURATION.format(folder=self.folder, architecture=architecture) + extra
        path = self.folder / "apt.conf"
        if not path.is_file() or path.read_text() != text:
            write_atomically(path, text.encode())


def make_root(folder: Path, suites: Sequence[Suite], architecture: str) -> Root:
    """Make a root without any package in a folder that exists."""
    for part in ("lists/partial", "archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text("".join(f"{suite}\n" for suite in suites))
    root = Root(folder)
    root.configure(architecture)
    return root


def update(root: Root, suites: Sequence[Suite], architecture: str) -> tuple[Suite, ...]:
    """Fetch the package lists and return the suites that are served; the first must be.

    Raises
    ------
    InputError
        The release is not served, or the mirrors cannot be reached.
    """
    root.configure(architecture, _network())
    done = root.run("apt-get", "-q", "update", options=("APT::Update::Error-Mode=any",))
    absent = set(_ABSENT.findall(done.stderr))
    if done.returncode == 0 and not absent:
        root.configure(architecture)
        return tuple(suites)
    release = suites[0].name
    if release in absent:
        raise InputError(
            f"{release}: not served by the mirror that this machine's apt is configured with",
            hint="the release has ended and moved to an archive: choose a base image of a newer one",
        )
    if absent:
        left = [suite for suite in suites if suite.name not in absent]
        make_root(root.folder, left, architecture)
        return update(root, left, architecture)
    raise InputError(
        f"{release}: package lists not fetched: {_reason(done.stderr)}",
        hint="try again with a network; what was cached before is unchanged",
    )


def _network() -> str:
    """Return how this machine's apt reaches mirrors: proxies and certificates."""
    done = subprocess.run(
        ["apt-config", "dump", "--no-empty", "Acquire::http", "Acquire::https"],
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    return "".join(f"{line}\n" for line in done.stdout.splitlines() if '"' in line)


def _reason(words: str) -> str:
    lines = [line[3:] for line in words.splitlines() if line.startswith(("E: ", "W: "))]
    return _ADDRESS.sub("//", lines[0]) if lines else "apt gave no reason"
