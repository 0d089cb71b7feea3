"""The corpus before folding and after it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import corpus  # noqa: E402 - found once its folder is on the path
import refused  # noqa: E402 - likewise


def envfold(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "partition", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_corpus_is_as_large_and_as_mixed_as_it_claims():
    rows = corpus.rows()
    assert len(rows) >= 24
    assert len({row.package for row in rows}) >= 6
    assert len({row.image for row in rows}) >= 3
    assert len({row.style for row in rows}) == len(rows)
    assert len({row.id for row in rows}) == len(rows)
    assert sorted(row.id for row in rows) == sorted(each.name for each in (HERE / "tasks").iterdir())
    assert {row.image for row in rows if row.subset} == {row.image for row in rows}
    for row in rows:
        assert row.fail_to_pass, row.id
        assert row.pass_to_pass, row.id
        assert not set(row.fail_to_pass) & set(row.pass_to_pass)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    """Rewrite the tree in which folding everything must fail, with room for every task that is refused."""
    root = tmp_path_factory.mktemp("refused")
    tree, plan, out = refused.write(root / "tasks"), root / "plan.json", root / "out"
    envfold("propose", tree, "--cap", "6", "--out", plan)
    envfold("rewrite", plan, tree, out)
    return out, {each["task"]: each for each in json.loads((out / "manifest.json").read_text())["tasks"]}


@pytest.mark.parametrize(("task", "word"), sorted(refused.REASONS.items()))
def test_what_cannot_be_folded_is_refused_with_its_reason(manifest, task, word):
    out, tasks = manifest
    entry = tasks[task]
    assert entry["environment"] is None
    assert any(word in each["what"] for each in entry["refused"]), entry
    own = refused.TASKS[task][0]
    assert (out / task / "environment" / "Dockerfile").read_text() == own


def test_packages_that_conflict_are_never_in_one_environment(manifest):
    out, tasks = manifest
    texts = [(out / task / "environment" / "Dockerfile").read_text() for task in refused.APART]
    assert tasks[refused.APART[0]]["new"] != tasks[refused.APART[1]]["new"]
    for task, text in zip(refused.APART, texts, strict=True):
        assert f"lib{task.replace('curl', 'curl4')}-dev" in text
        assert ("openssl" in text) != ("gnutls" in text)


def test_what_can_be_folded_beside_them_still_is(manifest):
    _, tasks = manifest
    assert tasks["open-one"]["environment"] == tasks["open-two"]["environment"] is not None


@pytest.mark.harbor
@pytest.mark.containers
@pytest.mark.usefixtures("podman")
def test_every_task_passes_before_and_after_in_each_channel(tmp_path):
    done = subprocess.run(
        [sys.executable, HERE / "run.py", "--all", "--work", tmp_path / "work"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 misses" in done.stdout
