"""``--chmod`` against chmod itself."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from partition.environments.modes import changed_mode

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    "755", "0600", "7777", "u+x", "+x", "a-w", "u=rwX,go=rX", "u=rw,g=u,o=", "go-rwx", "u+s", "g+s,o+t", "=r",
    "u=rwx,g=rx", "ug+w-x", "o=g", "a=", "+X",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("before", [0o644, 0o755, 0o600, 0o444, 0o711])
def test_a_symbolic_mode_is_what_chmod_makes_of_it(text: str, before: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(before)
    subprocess.run(["sh", "-c", 'umask 0; chmod -- "$1" "$2"', "sh", text, path], check=True)
    assert oct(changed_mode(before, text, is_folder=False)) == oct(path.stat().st_mode & 0o7777)


@pytest.mark.parametrize("text", ["u+X", "a=rX", "go-X"])
def test_a_folder_is_searchable_where_a_file_is_not(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o600)
    subprocess.run(["chmod", "--", text, folder], check=True)
    found = folder.stat().st_mode & 0o7777
    folder.chmod(0o700)
    assert oct(changed_mode(0o600, text, is_folder=True)) == oct(found)


@pytest.mark.parametrize("text", ["", "8", "077777", "u+y", "x", "u=r;g=w"])
def test_what_is_no_mode_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid mode"):
        changed_mode(0o644, text, is_folder=False)
