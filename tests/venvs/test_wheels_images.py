"""What is predicted for many environments in one layer is what a container engine makes of it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from images import make_python

from partition.venvs.artefacts import Package
from partition.venvs.wheels import layer_bytes, sizes_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.containers,
    pytest.mark.usefixtures("podman"),
]

BUILD = ("--isolation=chroot", "--network=host", "--pull=never", "--format=docker")
TAG = "localhost/envfold-test-venv-sizes"
VENVS = (
    [
        "numpy==1.26.4",
        "pytest==7.4.0",
        "pluggy==1.3.0",
        "iniconfig==2.0.0",
        "packaging==23.1",
        "sphinx==5.3.0",
    ],
    [
        "numpy==1.26.4",
        "pytest==7.4.4",
        "pluggy==1.3.0",
        "iniconfig==2.0.0",
        "packaging==23.1",
        "babel==2.12.1",
    ],
    ["numpy==1.25.2", "pytest==7.4.0", "pluggy==1.3.0", "iniconfig==2.0.0", "packaging==23.1"],
)


def podman(*arguments: str | Path) -> str:
    done = subprocess.run(["podman", *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def bytes_of(image: str) -> int:
    return int(podman("image", "inspect", image, "--format", "{{.Size}}"))


def test_a_layer_of_linked_environments_has_the_predicted_bytes(tmp_path: Path) -> None:
    base = make_python("3.9")
    for number, venv in enumerate(VENVS):
        (tmp_path / f"v{number}.txt").write_text("".join(f"{each}\n" for each in venv))
    lines = [
        f"FROM {base}",
        "COPY *.txt /locks/",
        "RUN python3 -m venv /t && /t/bin/pip -q install --no-cache-dir uv==0.13.9 \\",
        " && export UV_CACHE_DIR=/opt/venvs/.cache UV_LINK_MODE=hardlink PYTHONDONTWRITEBYTECODE=1 \\",
        " && for f in /locks/*.txt; do v=/opt/venvs/$(basename $f .txt) \\",
        " && /t/bin/uv venv -q --python python3.9 $v \\",
        " && /t/bin/uv pip install -q --no-deps --no-build --python $v/bin/python -r $f || exit 1; done \\",
        " && rm -rf /t /opt/venvs/.cache",
    ]
    (tmp_path / "Dockerfile").write_text("\n".join(lines) + "\n")
    podman("build", *BUILD, f"--tag={TAG}", tmp_path)
    packages = [[Package(*each.split("==")) for each in venv] for venv in VENVS]
    sizes, faults = sizes_of(
        {each for venv in packages for each in venv},
        python="3.9", platform="x86_64-manylinux_2_36", cache=tmp_path / "cache",
    )  # fmt: skip
    assert faults == ()
    predicted = layer_bytes({each: sizes[each] for each in venv} for venv in packages)
    assert predicted == pytest.approx(bytes_of(TAG) - bytes_of(base), rel=0.05)
    apart = sum(layer_bytes([{each: sizes[each] for each in venv}]) for venv in packages)
    assert predicted < 0.8 * apart
