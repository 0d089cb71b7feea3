from __future__ import annotations

import pytest
from programs import ROOT, file, program, sh

from partition.rewrite.network import needs_network
from partition.rewrite.program import Fixed, Run
from partition.rewrite.secrets import removed_again

FETCHES = {
    "git clone https://github.com/a/b /app": "git clone",
    "cd /app && git -C . fetch --depth 1 origin abc && git checkout FETCH_HEAD": "git fetch",
    "git submodule update --init --recursive": "git submodule update",
    "sudo apt-get update": "apt-get update",
    "DEBIAN_FRONTEND=noninteractive apt-get install -y git": "apt-get install",
    "apk add --no-cache git": "apk add",
    "dnf -y install git": "dnf install",
    "pip install -r requirements.txt": "pip install",
    "python3.9 -m pip install -e .": "pip install",
    "pip install -e . --no-deps": "pip install",
    "pip3 install --no-deps x.whl y": "pip install",
    "uv pip install numpy": "pip install",
    "uv sync": "uv sync",
    "conda env update -f e.yml": "conda env",
    "npm ci": "npm ci",
    "yarn": "yarn",
    "npx tsc": "npx",
    "cargo build": "cargo build",
    "go mod download": "go mod",
    "bundle install": "bundle install",
    "mvn -q package": "mvn",
    "curl -sSf https://x.y/install.sh | sh": "curl",
    "wget -q example.org/a.tgz": "wget",
    "bash -c 'if true; then curl https://x.y; fi'": "curl",
    "Rscript -e 'install.packages(\"x\")'": "Rscript",
    "poetry install": "poetry install",
}
STAYS = (
    "git clone /srv/repo /app && git -C /app checkout abc",
    "git init && git add -A && git commit -m 'pip install'",
    "git clone file:///srv/repo",
    "git clone --separate-git-dir /g /srv/repo /app",
    "git --namespace n clone --template /t --shallow-since 2020-01-01 /srv/repo",
    "dpkg -i /tmp/x.deb",
    "pip install --no-index --find-links=/wheels numpy",
    "PIP_NO_INDEX=1 pip install -f /wheels numpy",
    "pip install --no-deps ./x-1.0-py3-none-any.whl",
    "pip install -e '.[dev]' --no-deps --no-build-isolation",
    "pip uninstall -y numpy && pip freeze",
    "npm run build && npm ci --offline",
    "cargo build --offline",
    "mvn -o package",
    "curl http://localhost:8000/health",
    "curl --version",
    "echo curl https://x.y > notes",
    "python setup.py build_ext --inplace && make",
    "conda create --offline -n x python",
    "go mod edit -go=1.20",
)


@pytest.mark.parametrize(("text", "name"), FETCHES.items(), ids=list(FETCHES))
def test_what_fetches_is_named_with_its_line(text, name):
    (fault,) = needs_network(program(sh(12, text)))
    assert str(fault).startswith(f"t/environment/Dockerfile:12: `{name}` needs the network")


@pytest.mark.parametrize("text", STAYS)
def test_what_works_offline_is_left_alone(text):
    assert needs_network(program(sh(12, text))) == ()


def test_scripts_exec_forms_and_urls_count_and_faults_come_in_order():
    script = Run(line=9, source="", state=ROOT, argv=(), script="#!/usr/bin/env bash\nset -e\ngit pull\n")
    python = Run(line=10, source="", state=ROOT, argv=(), script="#!/usr/bin/env python3\ngit = 1\n")
    words = Run(line=3, source="", state=ROOT, argv=("pip", "install", "x"))
    added = Fixed(line=1, source="ADD https://x.y/z /z", state=ROOT, why="fetches a URL")
    found = needs_network(program(python, script, words, added))
    assert [fault.where.rpartition(":")[2] for fault in found] == ["1", "3", "9"]


def test_what_is_copied_or_written_and_removed_again_is_a_secret():
    found = removed_again(
        program(
            file(1, "/gen.py", b""),
            file(2, "/work/seeds/a", b""),
            file(3, "/work/kept", b""),
            sh(4, "python /gen.py && rm gen.py"),
            sh(5, "rm -rf seeds; cd /tmp && rm -f *.tar.gz", workdir="/work"),
            sh(6, "echo 1 >/tmp/k && cat /tmp/k && shred -u /tmp/k"),
            sh(7, "rm -rf /var/lib/apt/lists/* /root/.cache"),
        )
    )
    assert [(fault.where.rpartition(":")[2], fault.what.split(",")[0]) for fault in found] == [
        ("4", "removes /gen.py"),
        ("5", "removes /work/seeds/a"),
        ("6", "removes /tmp/k"),
    ]


def test_removing_what_only_a_later_step_makes_is_no_secret():
    assert removed_again(program(sh(1, "rm -f /x"), file(2, "/x", b""))) == ()
