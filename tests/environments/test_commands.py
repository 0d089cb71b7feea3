"""What each tool's commands say about an environment."""

from __future__ import annotations

import pytest

from partition.environments.attribution import Driver, drivers_of_units
from partition.environments.commands import calls_of, findings_of
from partition.environments.commands.conda import environment_file
from partition.environments.commands.findings import Kind
from partition.environments.commands.git import folder_of, repo_of
from partition.environments.commands.pip import requirement_lines
from partition.environments.requirement import canonical_requirement, requirement_name
from partition.environments.shell import parse_shell


def found(script: str) -> list[tuple[Kind, str]]:
    calls = calls_of(parse_shell(script).commands)
    return [(finding.kind, finding.value) for call in calls for finding in findings_of(call)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("apt-get install -y git=1:2.3-4 g++ libc6:i386", ["git=1:2.3-4", "g++", "libc6:i386"]),
        ("apt-get -o Dpkg::Options::=--force-confnew install -yq -t buster jq", ["jq"]),
        ("apt-get -oA=b -y install --no-install-recommends -- curl", ["curl"]),
        ("/usr/bin/apt install vim", ["vim"]),
        ("aptitude install -y htop", ["htop"]),
        ("apt-get update", []),
        ("apt-get download x", []),
    ],
)
def test_apt_packages_are_the_arguments_without_the_options(script: str, expected: list[str]) -> None:
    assert found(script) == [(Kind.APT, package) for package in expected]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("pip install Flask_Login", [(Kind.PIP, "flask-login")]),
        ("pip3.9 --disable-pip-version-check install -q -U 'a>=1'", [(Kind.PIP, "a>=1")]),
        ("python3.9 -m pip install --find-links /w a", [(Kind.PIP, "a")]),
        ("uv pip install --system -r r.txt -e .", [(Kind.REQUIREMENT_FILE, "r.txt"), (Kind.PROJECT, "-e .")]),
        ("pip install -qr r.txt -cc", [(Kind.REQUIREMENT_FILE, "r.txt"), (Kind.CONSTRAINT_FILE, "c")]),
        ("pip install --requirement=r.txt", [(Kind.REQUIREMENT_FILE, "r.txt")]),
        ("pip install --target /t --no-deps b", [(Kind.PIP, "b")]),
        ("pip install -e git+https://g.org/a/b#egg=b", [(Kind.PIP, "git+https://g.org/a/b#egg=b")]),
        ("pip install 'b @ https://g.org/b.whl'", [(Kind.PIP, "b @ https://g.org/b.whl")]),
        ("pip install '.[test]'", [(Kind.PROJECT, ".[test]")]),
        ("pip install ./sub /opt/x", [(Kind.PROJECT, "./sub"), (Kind.PROJECT, "/opt/x")]),
        ("pip install dist/*.whl", [(Kind.OTHER, "pip-file:dist/*.whl")]),
        ("pip download a; pip wheel b; pip list; pip", []),
        ("pip uninstall -y a", [(Kind.PIP_REMOVED, "a")]),
        ("python setup.py develop", [(Kind.PROJECT, "setup.py develop")]),
        ("uv add 'httpx>0.1'", [(Kind.PIP, "httpx>0.1")]),
        ("poetry add a; pdm install", [(Kind.PIP, "a"), (Kind.PROJECT, "pdm install")]),
        ("pipenv install b", [(Kind.PROJECT, "pipenv install"), (Kind.PIP, "b")]),
        ("python -c 'import pip'; python x.py", []),
    ],
)  # fmt: skip
def test_pip_in_its_forms(script: str, expected: list[tuple[Kind, str]]) -> None:
    assert found(script) == expected


@pytest.mark.parametrize(
    ("script", "python"),
    [
        ("conda create -n x python=3.9.7", "3.9"),
        ("conda install -y 'python==3.8'", "3.8"),
        ("mamba create -yn x conda-forge::python=3.10", "3.10"),
        ("micromamba create -p /x python>=3.7", None),
        ("uv venv --python 3.11 /v", "3.11"),
        ("uv venv -p python3.12", "3.12"),
        ("uv python install cpython-3.13.1-linux-x86_64", "3.13"),
        ("pyenv install -s 3.6.15", "3.6"),
        ("virtualenv -p /usr/bin/python2.7 v", "2.7"),
        ("/usr/bin/python3.8 -m venv /v", "3.8"),
        ("python3 -m venv /v", None),
        ("wget https://x/Miniconda3-py311_23.5.2-0-Linux-x86_64.sh", "3.11"),
        ("uv pip install --python /v/bin/python a", None),
    ],
)
def test_interpreters_are_found(script: str, python: str | None) -> None:
    versions = [value for kind, value in found(script) if kind is Kind.PYTHON]
    assert versions == ([] if python is None else [python])


V1 = (Kind.CHECKOUT, "v1")


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("git clone -b v1 --depth=1 https://g.org/o/r d", [(Kind.CLONE, "https://g.org/o/r"), V1]),
        ("git -c http.sslVerify=false clone https://g.org/o/r", [(Kind.CLONE, "https://g.org/o/r")]),
        ("git --namespace n clone --bundle-uri u https://g.org/o/r", [(Kind.CLONE, "https://g.org/o/r")]),
        ("git -C /d checkout -q -f abc1234", [(Kind.CHECKOUT, "abc1234")]),
        ("git checkout -b work abc1234", [(Kind.CHECKOUT, "abc1234")]),
        ("git switch --detach abc1234", [(Kind.CHECKOUT, "abc1234")]),
        ("git reset --hard abc1234; git reset --soft def5678", [(Kind.CHECKOUT, "abc1234")]),
        ("git checkout -- a.py; git checkout abc1234 -- a.py; git checkout", []),
        ("git fetch origin abc1234", [(Kind.CHECKOUT, "abc1234")]),
        ("git remote add origin https://g.org/o/r", [(Kind.CLONE, "https://g.org/o/r")]),
        ("gh repo clone o/r", [(Kind.CLONE, "https://github.com/o/r")]),
        ("git log; git config a b; git", []),
    ],
)  # fmt: skip
def test_clones_and_checkouts(script: str, expected: list[tuple[Kind, str]]) -> None:
    assert found(script) == expected


@pytest.mark.parametrize(
    ("url", "repo", "folder"),
    [
        ("https://github.com/Owner/Name.git", "Owner/Name", "Name"),
        ("https://github.com/owner/name/", "owner/name", "name"),
        ("https://token@github.com/owner/name", "owner/name", "name"),
        ("git@github.com:owner/name.git", "owner/name", "name"),
        ("ssh://git@host.org:22/owner/name.git", "owner/name", "name"),
        ("https://gitlab.com/group/sub/name.git", "sub/name", "name"),
        ("/srv/mirror/name.git", None, "name"),
    ],
)
def test_a_clone_url_names_a_repository_and_a_folder(url: str, repo: str | None, folder: str) -> None:
    assert (repo_of(url), folder_of(url)) == (repo, folder)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("curl -fsSL https://a | bash", [(Kind.PIPED_SCRIPT, "https://a")]),
        ("wget -O - https://a | sudo sh -s -- -y", [(Kind.PIPED_SCRIPT, "https://a")]),
        ("curl -sSL https://a | python3 -", [(Kind.PIPED_SCRIPT, "https://a")]),
        ('bash -c "$(curl -fsSL https://a)"', [(Kind.PIPED_SCRIPT, "https://a")]),
        ("curl https://a > f", [(Kind.UNCHECKED_DOWNLOAD, "https://a")]),
        ("curl -sL https://a -o f", [(Kind.UNCHECKED_DOWNLOAD, "https://a")]),
        ("curl -O https://a", [(Kind.UNCHECKED_DOWNLOAD, "https://a")]),
        ("curl https://a | tee f", [(Kind.UNCHECKED_DOWNLOAD, "https://a")]),
        ("curl -fO https://a; curl --fail https://a > f; curl -sfLo f https://a", []),
        ("curl https://a | tar xz; curl https://a; wget https://a -O f", []),
    ],
)
def test_downloads_that_nobody_checks_are_flagged(script: str, expected: list[tuple[Kind, str]]) -> None:
    assert found(script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("npm install -g a@1 && npm i b && npm ci", ["npm:a@1"]),
        ("yarn global add a; pnpm add -g b; yarn add c", ["yarn:a", "pnpm:b"]),
        ("cargo install a --version 1.2 --locked; cargo build", ["cargo:a@1.2"]),
        ("go install x.org/a@latest; go build ./...", ["go:x.org/a@latest"]),
        ("gem install a -v 1; apk add --no-cache b", ["gem:a@1", "apk:b"]),
        ("dnf install -y c; pacman -S d", ["dnf:c", "pacman:d"]),
        ("dpkg -i /tmp/a.deb; apt-get install ./b.deb", ["deb:/tmp/a.deb", "deb:./b.deb"]),
        ("add-apt-repository -y ppa:a/b", ["apt-source:ppa:a/b"]),
        ("pipx install a; uv tool install b", ["pipx:a", "uv-tool:b"]),
    ],
)  # fmt: skip
def test_other_managers_are_noted(script: str, expected: list[str]) -> None:
    assert found(script) == [(Kind.OTHER, value) for value in expected]


def test_what_only_a_shell_could_tell_is_unresolved() -> None:
    assert found('apt-get install "$A" b') == [(Kind.UNRESOLVED, "$A"), (Kind.APT, "b")]


def test_a_requirements_file_is_read_by_pips_rules() -> None:
    text = (
        "# head\n\nA_b == 1  # why\nc>1 \\\n  ,<2\n-r other.txt\n--requirement=third.txt\n-c cons.txt\n-e .\n"
        "--index-url https://x\n--hash=sha256:0\nd==1 --hash=sha256:0\nhttps://x.org/e.whl#sha256=0\n./local\n-rfourth.txt"
    )
    assert [(line.kind, line.value, line.line) for line in requirement_lines(text)] == [
        (Kind.PIP, "a-b==1", 3),
        (Kind.PIP, "c<2,>1", 4),
        (Kind.REQUIREMENT_FILE, "other.txt", 6),
        (Kind.REQUIREMENT_FILE, "third.txt", 7),
        (Kind.CONSTRAINT_FILE, "cons.txt", 8),
        (Kind.PROJECT, "-e .", 9),
        (Kind.PIP, "d==1", 12),
        (Kind.PIP, "https://x.org/e.whl#sha256=0", 13),
        (Kind.PROJECT, "./local", 14),
        (Kind.REQUIREMENT_FILE, "fourth.txt", 15),
    ]


def test_an_environment_file_is_read_by_its_lists() -> None:
    text = (
        "channels: [c]\ndependencies:\n- python=3.8\n- 'a=1'  # x\n- pip\n- pip:\n  - B==2\n- c\nprefix: /x\n"
    )
    assert list(environment_file(text)) == [
        (Kind.PYTHON, "3.8", 3),
        (Kind.CONDA, "a=1", 4),
        (Kind.CONDA, "pip", 5),
        (Kind.PIP, "b==2", 7),
        (Kind.CONDA, "c", 8),
    ]


def test_equal_requirements_have_one_spelling() -> None:
    assert canonical_requirement(" Foo_Bar [b, a] >=1 , <2 ; python_version<'3.8'") == (
        'foo-bar[a,b]<2,>=1; python_version < "3.8"'
    )
    assert canonical_requirement("./not one") == "./not one"
    assert requirement_name("Foo.Bar[x]>1") == "foo-bar"
    assert requirement_name("git+https://x") is None


@pytest.mark.parametrize(
    ("script", "drivers"),
    [
        ("apt-get update && apt-get install -y a && rm -rf /var/lib/apt/lists/*", [Driver.APT] * 3),
        ("git clone u && cd r && git checkout c", [Driver.CLONE] * 3),
        ("cd /x && pip install a && make", [Driver.PIP, Driver.PIP, Driver.RUN]),
        ("make; cd /x", [Driver.RUN, Driver.RUN]),
        ("export A=1", [Driver.RUN]),
        ("set -e; conda create -n x python=3", [Driver.PIP, Driver.PIP]),
        ("bash -lc 'source a && conda activate x && pip install y'", [Driver.PIP]),
        ("if [ -f r ]; then pip install -r r; else echo no; fi", [Driver.PIP]),
        ("if t; then pip install r; else apt-get install x; fi", [Driver.RUN]),
        ("yes | apt-get install a; echo y | make", [Driver.APT, Driver.RUN]),
        ("apt-get install linux-headers-$(uname -r)", [Driver.APT]),
        ("python setup.py build; python -m pip install a", [Driver.PIP, Driver.PIP]),
        ("python -m pytest; python x.py", [Driver.RUN, Driver.RUN]),
    ],
)  # fmt: skip
def test_commands_are_attributed_to_drivers_one_by_one(script: str, drivers: list[Driver]) -> None:
    assert drivers_of_units(parse_shell(script).units) == drivers
