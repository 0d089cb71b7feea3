from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.venvs.conda_names import rows
from partition.features.model import TaskFeatures
from partition.shipped import shipped
from partition.venvs.conda import python_requirement
from partition.venvs.spec import VenvSpec, exact_spec, minor_version, spec_of, unlockable

FACTS = Path(__file__).parents[3] / "shared" / "facts"
HOSTILE = [
    "--index-url=https://evil.example/simple",
    "-r /etc/passwd",
    "-e .",
    "git+ssh://evil.example/x",
    "x @ git+https://evil.example/x",
    "six\n--extra-index-url=https://evil.example",
    "six; rm -rf /",
    "$(touch /tmp/owned)",
    "`id`",
    "six\x00",
    "../six.whl",
    "",
]


def features(**more: object) -> TaskFeatures:
    return TaskFeatures(task="t", **{"python": "3.9", **more})


def test_a_spec_is_interpreter_requirements_and_date() -> None:
    found = spec_of(
        features(python="3.9.20", pip=("Flask ==2.0.3", "six"), created_at="2022-03-01T10:00:00Z")
    )
    assert found.spec == VenvSpec(
        python="3.9",
        requirements=("flask==2.0.3", "pip", "setuptools", "six", "wheel"),
        as_of=dt.date(2022, 3, 1),
    )
    assert found.faults == ()


def test_interpreters_whose_venv_has_no_setuptools_get_none() -> None:
    spec = spec_of(features(python="3.12", pip=("six",))).spec
    assert spec is not None
    assert spec.requirements == ("pip", "six")


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_requirements_are_left_out_by_name(value: str) -> None:
    found = spec_of(features(pip=(value, "six")))
    assert found.spec is not None
    assert found.spec.requirements == ("pip", "setuptools", "six", "wheel")
    assert [repr(value) in each.what for each in found.faults] == [True]


def test_every_fault_names_the_line_that_asked() -> None:
    found = spec_of(
        features(
            pip=("-e .",),
            conda=("mystery-thing",),
            requirement_files=("requirements-dev.txt",),
            sources=(("pip", "-e .", "t/environment/Dockerfile:7"),),
        )
    )
    assert [each.where for each in found.faults] == ["t/environment/Dockerfile:7", "t", "t"]
    assert "requirements-dev.txt is not in the task's tree" in found.faults[2].what


def test_without_an_interpreter_there_is_no_spec() -> None:
    found = spec_of(TaskFeatures(task="t", pip=("six",)))
    assert found.spec is None
    assert [each.what for each in found.faults] == ["nothing says which interpreter"]


def test_a_constraint_counts_for_what_is_asked_for_alone() -> None:
    found = spec_of(features(pip=("six",), other=("constraint:six<1.16", "constraint:attrs<20")))
    assert found.spec is not None
    assert {"six", "six<1.16"} < set(found.spec.requirements)
    assert not any(each.startswith("attrs") for each in found.spec.requirements)


@pytest.mark.parametrize(
    ("conda", "pypi"),
    [
        ("matplotlib-base=3.3.4=py36h62a2d02_0", "matplotlib==3.3.4"),
        ("msgpack-python=1.0.8=py310h", "msgpack==1.0.8"),
        ("python-xxhash=3.5.0=py310ha75aee5_0", "xxhash==3.5.0"),
        ("typing_extensions=4.1.1=pyh06a4308_0", "typing-extensions==4.1.1"),
        ("conda-forge::numpy=1.19", "numpy==1.19.*"),
        ("numpy==1.19.2", "numpy==1.19.2"),
        ("pandas<2.0.0", "pandas<2.0.0"),
        ("scipy >=1.5,<2", "scipy<2,>=1.5"),
        ("pytest", "pytest"),
        ("openssl=3.0.15=h5eee18b_0", ""),
        ("never-heard-of=1.0=py39h06a4308_0", "never-heard-of==1.0"),
        ("never-heard-of=1.0=h06a4308_0", ""),
        ("never-heard-of", None),
        ("esmpy=8.4.0=pyhd8ed1ab_0", None),
        ("numpy=1.2; rm=py39_0", None),
    ],
)
def test_conda_packages_become_releases_of_the_index(conda: str, pypi: str | None) -> None:
    assert python_requirement(conda) == pypi


def test_what_pip_installed_over_conda_counts() -> None:
    found = exact_spec(
        python="3.9.20",
        pip=["numpy==1.25.2"],
        conda=["numpy=1.19=py39_0", "wheel=0.44.0=py39_0", "zlib=1=h_1"],
    )
    assert found.spec == VenvSpec(python="3.9", requirements=("numpy==1.25.2", "wheel==0.44.0"), exact=True)


def test_the_recorded_environments_are_as_many_specs_as_environments() -> None:
    if not FACTS.is_dir():
        pytest.skip("the facts are not beside the project")
    specs, environments = set(), set()
    for line in (FACTS / "verified_resolved_envs.jsonl").read_text().splitlines():
        row = json.loads(line)
        found = exact_spec(python=row["python"], pip=row["pip"], conda=row["conda"])
        assert all("conda's '" in each.what for each in found.faults)
        specs.add(found.spec)
        environments.add((row["python"], tuple(row["pip"]), tuple(row["conda"])))
    assert len(environments) >= len(specs) > 50


def test_the_table_of_names_is_what_its_script_makes() -> None:
    made = list(rows([["numpy=1=py39h0_0", "zlib=1=h5eee18b_0"]]))
    assert ("numpy", "numpy", "build string") in made
    assert ("zlib", "", "build string") in made
    with shipped("venvs", "conda_names.csv").open(newline="") as stream:
        kept = [tuple(row) for row in csv.reader(stream)][1:]
    assert {each for each in made if each[2] == "by hand"} <= {*kept}
    assert kept == sorted(kept)


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=40))
def test_no_text_becomes_an_option_or_a_second_line(text: str) -> None:
    if unlockable(text):
        return
    spec = spec_of(features(pip=(text,))).spec
    assert spec is not None
    assert all(each[0].isalnum() and "\n" not in each for each in spec.requirements)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from(["six", "attrs>=20", "flask==2.0.3"]), max_size=5), st.randoms())
def test_order_and_repetition_do_not_matter(wanted: list[str], random: object) -> None:
    again = [*wanted, *wanted[:1]]
    random.shuffle(again)
    assert spec_of(features(pip=tuple(wanted))) == spec_of(features(pip=tuple(again)))


def test_keys_tell_specs_apart() -> None:
    spec = VenvSpec(python="3.9", requirements=("six",))
    others = [
        VenvSpec(python="3.10", requirements=("six",)),
        VenvSpec(python="3.9", requirements=("attrs",)),
        VenvSpec(python="3.9", requirements=("six",), exact=True),
        VenvSpec(python="3.9", requirements=("six",), as_of=dt.date(2022, 3, 1)),
    ]
    assert len({each.key for each in [spec, *others]}) == 5
    assert sorted([others[0], spec]) == [spec, others[0]]


def test_minor_versions() -> None:
    assert [minor_version(each) for each in ("3.9", "3.10.13", "3", "three", "3.9; x")] == [
        "3.9", "3.10", None, None, None,
    ]  # fmt: skip
