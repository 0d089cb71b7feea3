"""task.toml is read as Harbor reads it, and every fault names its line."""

from __future__ import annotations

import json
import os
import random
import runpy
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.errors import InputError
from partition.tasks.config import read_config

HERE = Path(__file__).parent
CASES = sorted((HERE.parent / "cases" / "tasks" / "config").iterdir())
VENVS = runpy.run_path(str(HERE.parent / "harbor_venvs.py"))


def answer(data: bytes) -> dict[str, object]:
    """Return what expected.json holds: the config, or the faults as they are shown."""
    try:
        return {"config": json.loads(json.dumps(asdict(read_config(data, where="task.toml"))))}
    except InputError as error:
        return {"faults": [str(fault) for fault in error.faults]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_case_gives_the_config_or_the_faults_written_beside_it(case: Path) -> None:
    assert answer((case / "task.toml").read_bytes()) == json.loads((case / "expected.json").read_text())


def test_all_faults_of_a_file_are_reported_not_the_first() -> None:
    with pytest.raises(InputError) as caught:
        read_config((CASES[0].parent / "wrong_types" / "task.toml").read_bytes(), where="t", task="id")
    places = [fault.where for fault in caught.value.faults]
    assert places == ["t:1", "t:4", "t:5", "t:8", "t:9", "t:12", "t:14"]
    assert {fault.task for fault in caught.value.faults} == {"id"}


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    """Whatever the bytes, the answer is a config or an InputError with at least one fault."""
    assert answer(data) != {"faults": []}


VALUES = {
    "docker_image": ['"a/b:1"', "1", '""'],
    "os": ['"linux"', '"Windows"', '"LINUX"', '"plan9"', "3"],
    "cpus": ["1", "2.5", "2.0", '"2"', '"x"', "true", "inf", "[]"],
    "memory": ['"2G"', '"1.5g"', '" 512M "', '"100K"', '"2GB"', '"G"', '"infG"', "2048"],
    "memory_mb": ["2048", "2048.0", "1.5", '"2048"', "true", "-1"],
    "storage": ['"1G"', '"x"', "7"],
    "storage_mb": ["1024", "7", "[1]"],
    "gpus": ["0", "1.0", "0.5"],
    "network_mode": ['"public"', '"no-network"', '"allowlist"', '"Public"'],
    "allowed_hosts": ["[]", '["packages.example.org"]', "3"],
    "allow_internet": ["true", "false", '"no"', "7"],
    "workdir": ['"/app"', "1"],
    "env": ['{ A = "1" }', "{ A = 1 }", "[]"],
    "healthcheck": ['{ command = "true" }', "{ retries = 1 }", '"true"'],
    "anything": ["1"],
}
MODES = ['"shared"', '"separate"', '"SHARED"', "1"]
STEP_NAMES = ["a", "A", "b c", "..", "con", "x.", "é", "e\u0301", "a/b", " "]


def generated(seed: int) -> str:
    """Return one task.toml with a few keys, most of them valid."""
    random_ = random.Random(seed)

    def value(choices: list[str]) -> str:
        return choices[0] if random_.random() < 0.6 else random_.choice(choices)

    def table() -> list[str]:
        keys = random_.sample(sorted(VALUES), random_.randint(0, 4))
        return [f"{key} = {value(VALUES[key])}" for key in keys]

    def verifier(name: str) -> list[str]:
        lines = [f"[{name}]"]
        if random_.random() < 0.5:
            lines.append(f"environment_mode = {value(MODES)}")
        if random_.random() < 0.5:
            lines += [f"[{name}.environment]", *table()]
        return lines

    lines = [random_.choice(["", 'version = "1.0"', "version = 1.0", 'schema_version = "1.4"'])]
    lines += ["[environment]", *table()]
    if random_.random() < 0.5:
        lines += verifier("verifier")
    for _ in range(random_.choice([0, 0, 1, 2])):
        lines += ["[[steps]]", f'name = "{random_.choice(STEP_NAMES)}"']
        if random_.random() < 0.5:
            lines += verifier("steps.verifier")
    return "\n".join(lines) + "\n"


@pytest.mark.harbor
def test_the_reader_agrees_with_harbor() -> None:
    """On 600 generated files and on every stored case: what is refused, and every value that is read."""
    python = VENVS["harbor_python"]("content")
    if python is None:
        missing = "Harbor is not installed: run python tests/harbor_venvs.py"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    texts = [generated(seed) for seed in range(600)]
    texts += [(case / "task.toml").read_text("utf-8") for case in CASES if case.name != "not_utf8"]
    done = subprocess.run(
        [python, HERE / "harbor_config.py"],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
    )
    refused = 0
    for text, theirs in zip(texts, json.loads(done.stdout), strict=True):
        ours = answer(text.encode()).get("config")
        if ours is not None:
            del ours["metadata"]
        assert ours == theirs, text
        refused += theirs is None
    assert 100 < refused < len(texts) - 100
