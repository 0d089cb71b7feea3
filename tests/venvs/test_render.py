from __future__ import annotations

import subprocess

import images
import pytest

from partition.venvs.layout import VENVS
from partition.venvs.render import BakedVenv, rendered

VERSIONS = ("3.6", "3.9", "3.12")
INTERPRETERS = {version: images.interpreter_path(version) for version in VERSIONS}
OLD = BakedVenv(name="old", python="3.6", lock="attrs==21.4.0\nsix==1.16.0\n")
NEW = BakedVenv(name="new", python="3.12", lock="attrs==21.4.0\nsix==1.16.0\npackaging==24.2\n")
BUILT = BakedVenv(
    name="built", python="3.9", lock="docopt==0.6.2\nattrs==21.4.0\n", build="setuptools==68.0.0\n"
)


def test_the_same_venvs_in_any_order_give_the_same_bytes():
    assert rendered([OLD, NEW], INTERPRETERS) == rendered([NEW, OLD], INTERPRETERS)
    text, files = rendered([OLD, NEW, BUILT], INTERPRETERS)
    assert text.count("RUN ") == 1
    assert sorted(files) == list(files)
    assert files["venvs/venvs"].decode().splitlines()[1] == f"new {INTERPRETERS['3.12']} uv"
    assert subprocess.run(["sh", "-n"], input=files["venvs/install.sh"], check=False).returncode == 0
    assert b"@" not in files["venvs/install.sh"].replace(b'"$@"', b"")


def test_an_interpreter_that_no_path_is_given_for_is_installed_by_uv():
    _, files = rendered([NEW, BakedVenv(name="ancient", python="2.7", lock="six==1.16.0\n")], {})
    assert files["venvs/venvs"] == b"ancient python2.7 pip\nnew 3.12 uv\n"


@pytest.mark.parametrize("names", [("a", "a"), ("a", "../b"), ("a b",), ("",), ("-a",)])
def test_names_that_are_no_folders_of_their_own_are_refused(names):
    with pytest.raises(ValueError, match="plain names of their own"):
        rendered([BakedVenv(name=name, python="3.9", lock="") for name in names], {})


@pytest.mark.containers
@pytest.mark.usefixtures("podman")
def test_an_image_holds_each_venv_with_its_own_packages_and_equal_wheels_once(tmp_path):
    text, files = rendered([OLD, NEW, BUILT], INTERPRETERS)
    files["Dockerfile"] = f"FROM {images.make_interpreters(*VERSIONS)}\n\n{text}\n".encode()
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    tag = "localhost/envfold-test-venvs"
    options = ("--isolation=chroot", "--network=host", "--pull=never", f"--tag={tag}")
    subprocess.run(["podman", "build", *options, tmp_path], check=True, capture_output=True)
    script = f"""
        cd {VENVS} && ls -A
        new/bin/python -c 'import attr, six, packaging, sys; print(sys.version_info[:2], sys.prefix)'
        old/bin/python -c 'import attr, six, sys; print(sys.version_info[:2], sys.prefix)'
        built/bin/python -c 'import docopt, sys; print(sys.version_info[:2], sys.prefix)'
        stat -c %h {VENVS}/*/lib/python3*/site-packages/attr/_make.py
        find {VENVS} /root /tmp -name '*.pyc' -o -name '.cache' -o -name uv
    """
    done = subprocess.run(
        [
            "podman",
            "run",
            "--rm",
            "--network=host",
            "--env=PYTHONDONTWRITEBYTECODE=1",
            tag,
            "sh",
            "-euc",
            script,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "built",
        "new",
        "old",
        f"(3, 12) {VENVS}/new",
        f"(3, 6) {VENVS}/old",
        f"(3, 9) {VENVS}/built",
        *["3"] * 3,
    ]
