from __future__ import annotations

import subprocess

import images
import pytest
from programs import file, program, run_setup, sh

from partition.rewrite.activation import Places, activated, places_in
from partition.rewrite.carried import VARIABLES, carried
from partition.rewrite.setup import Setup, setup_of
from partition.venvs.layout import VENVS
from partition.venvs.render import BakedVenv, rendered

TEST = """\
#!/bin/bash
set -euo pipefail
source /opt/miniconda3/bin/activate
conda activate testbed
cd /testbed && /testbed/.venv/bin/python -m pytest
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEST, Places(prefixes=("/opt/miniconda3",), names=("testbed",), venvs=("/testbed/.venv",))),
        (
            "/root/miniforge3/envs/py39/bin/python x",
            Places(prefixes=("/root/miniforge3",), names=("py39",)),
        ),
        ("conda run -n dev pytest", Places(prefixes=("/opt/miniconda3",), names=("dev",))),
        (". venv/bin/activate && ./.env/bin/pip install x", Places(venvs=("/w/.env", "/w/venv"))),
        ("/usr/bin/python3 -m x; /usr/local/bin/pip list; /bin/python", Places()),
        ("python -m pytest; pip install -e .", Places()),
        ("conda activate base; /opt/conda/bin/python", Places(prefixes=("/opt/conda",))),
    ],
)
def test_the_places_that_scripts_name_are_found(text, expected):
    assert places_in([text], "/w") == expected


def test_steps_and_container_find_the_venv_first():
    made = activated(
        program(sh(1, "true"), sh(2, "true", environment=(("PATH", "/own:/bin"),))), "/v", Places()
    )
    paths = [dict(step.state.environment)["PATH"] for step in made.steps]
    assert paths == [
        "/v/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "/v/bin:/own:/bin",
    ]
    assert dict(made.environment) == {"PATH": paths[0], "VIRTUAL_ENV": "/v"}
    assert activated(made, "/v", Places()) == made


VERSIONS = ("3.9", "3.12")
LOCK = "pip==24.2\nsetuptools==75.3.0\nwheel==0.45.1\n"
OWN, SIBLING = f"{VENVS}/own", f"{VENVS}/sibling"
PROJECT = b"[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
PROJECT += b"[project]\nname = 'thing'\nversion = '1'\n"


@pytest.fixture(scope="module")
def image(containers, tmp_path_factory):
    context = tmp_path_factory.mktemp("venvs")
    text, files = rendered(
        [
            BakedVenv(name="own", python="3.9", lock=LOCK),
            BakedVenv(name="sibling", python="3.12", lock=LOCK + "attrs==21.4.0\n"),
        ],
        {version: images.interpreter_path(version) for version in VERSIONS},
    )
    files["Dockerfile"] = f"FROM {images.make_interpreters(*VERSIONS)}\n\n{text}\n".encode()
    for path, data in files.items():
        (context / path).parent.mkdir(exist_ok=True)
        (context / path).write_bytes(data)
    return containers.build(context)


WAYS = [
    "python",
    "cd /testbed; .venv/bin/python",
    "/testbed/.venv/bin/python",
    "/opt/miniconda3/envs/testbed/bin/python",
    "/opt/miniconda3/bin/python",
    "/opt/miniconda3/bin/conda run -n testbed --no-capture-output python",
    "set -eu; source /opt/miniconda3/bin/activate; conda activate testbed; python",
    "set -eu; unset PATH; . /opt/miniconda3/etc/profile.d/conda.sh; conda activate testbed; python",
    'eval "$(/opt/miniconda3/bin/conda shell.bash hook)"; conda activate testbed; python',
]


@pytest.mark.containers
def test_every_way_to_its_interpreter_leads_to_its_own_venv_and_the_others_are_gone(containers, image):
    places = places_in([TEST], "/testbed")
    steps = (
        file(1, "/testbed/pyproject.toml", PROJECT),
        file(2, "/testbed/thing.py", b"x = 1\n"),
        sh(3, "pip install --no-cache-dir -e .", workdir="/testbed"),
    )
    whole = activated(program(*steps), OWN, places)
    later = carried(whole.environment)
    made = setup_of(whole, later=later, keep={VENVS: ["own"]})
    assert isinstance(made, Setup)
    with containers.started(image, env={"BASH_ENV": VARIABLES, "VIRTUAL_ENV": OWN}) as container:
        done = run_setup(container, made)
        assert done.returncode == 0, done.stderr.decode()
        show = (
            " -c 'import os, sys, thing; print(os.path.realpath(sys.prefix), sys.version_info[:2], thing.x)'"
        )
        for way in WAYS:
            found = container.execute(["bash", "-c", way + show])
            assert found.stdout.decode() == f"{OWN} (3, 9) 1\n", (way, found.stderr.decode())
        pip = container.execute(["bash", "-c", "pip --version; pip list --format=freeze"]).stdout.decode()
        assert OWN in pip
        assert "thing==1" in pip
        assert container.execute(["ls", "-A", VENVS]).stdout == b"own\n"
        left = container.execute(["sh", "-c", "find / -xdev -path '*attr*' -name _make.py; ls /opt"])
        assert left.stdout.decode().split() == ["miniconda3", "venvs"]
        assert container.execute(["test", "-e", SIBLING]).returncode == 1


def test_a_stand_in_says_what_it_is_when_asked_to_install():
    made = activated(program(), OWN, Places(prefixes=("/c",), names=("testbed",)))
    command = next(step for step in made.steps if step.path == "/c/bin/conda")
    done = subprocess.run(
        ["sh", "-s", "install", "numpy"], input=command.entry.read(), capture_output=True, check=False
    )
    assert done.returncode == 1
    assert b"there is no conda here; this task's environment is /opt/venvs/own: use pip" in done.stderr
