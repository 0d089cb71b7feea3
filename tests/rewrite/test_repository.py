"""A new repository on the Hub: made as asked, written in one commit, never over another, no token shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import huggingface_hub
import pytest
from made_datasets import plan_for, write_tasks
from writable_hub import TOKEN, Hub, Repository, serving

import partition
from partition.errors import InputError, UsageError
from partition.plan.document import dump
from partition.rewrite.manifest import load_manifest
from partition.rewrite.rewrite import Options, Rewritten, rewrite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from partition.plan.document import Plan

# the library's own, while it sends a file
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

OUT = "hf://datasets/org/new"
close_session = getattr(huggingface_hub, "close_session", lambda: None)


@pytest.fixture(autouse=True)
def _own_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # the server speaks the protocol that every client falls back to
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)
    yield
    close_session()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("source") / "tasks", 6)


@pytest.fixture(scope="module")
def plan(source: Path) -> Plan:
    return plan_for(source, 3)


def write(plan: Plan, source: Path, hub: Hub, *, private: bool = True) -> Rewritten:
    options = Options(workers=1, private=private, endpoint=hub.address)
    return rewrite(plan, str(source), OUT, options)


@pytest.mark.parametrize("private", [True, False])
def test_a_repository_is_made_as_asked_and_written_in_one_commit(
    plan: Plan, source: Path, tmp_path: Path, private: bool
) -> None:
    with serving(Hub()) as hub:
        done = write(plan, source, hub, private=private)
    repository = hub.repositories["org/new"]
    assert repository.private is private
    assert repository.commits == 2
    assert repository.files.keys() == {".gitattributes", "tasks.parquet", "manifest.json", "plan.json"}
    assert repository.files["plan.json"] == dump(plan)
    for name in ("tasks.parquet", "manifest.json"):
        (tmp_path / name).write_bytes(repository.files[name])
    assert len(partition.count(str(tmp_path / "tasks.parquet")).snapshots) == done.summary.after.snapshots
    assert len(load_manifest(tmp_path / "manifest.json").tasks) == 6
    assert not list(tmp_path.glob("*.partial"))


def test_private_or_public_must_be_said(plan: Plan, source: Path) -> None:
    with pytest.raises(UsageError, match="private or public"):
        rewrite(plan, str(source), OUT, Options(workers=1))


def test_a_repository_that_exists_is_an_error_before_any_work(
    plan: Plan, source: Path, tmp_path: Path
) -> None:
    hub = Hub({"org/new": Repository(private=False)})
    with serving(hub), pytest.raises(InputError, match="exists, and a rewrite never overwrites"):
        write(plan, source, hub)
    assert {method for method, _ in hub.requests} == {"GET"}
    assert list(tmp_path.iterdir()) == []


def test_an_upload_that_failed_is_repeated_and_nothing_else(plan: Plan, source: Path, tmp_path: Path) -> None:
    with serving(Hub(broken_commits=1)) as hub:
        with pytest.raises(InputError, match="HTTP status 400") as caught:
            write(plan, source, hub)
        assert "run the same command again" in caught.value.hint
        assert hub.repositories["org/new"].files.keys() == {".gitattributes"}
        assert (tmp_path / "org--new.partial" / "tasks.parquet").exists()
        write(plan, source, hub)
    assert "tasks.parquet" in hub.repositories["org/new"].files
    assert not list(tmp_path.glob("*.partial"))


def test_what_somebody_put_there_meanwhile_is_not_overwritten(plan: Plan, source: Path) -> None:
    with serving(Hub(broken_commits=1)) as hub:
        with pytest.raises(InputError):
            write(plan, source, hub)
        hub.repositories["org/new"].files["tasks.parquet"] = b"theirs"
        with pytest.raises(InputError, match=r"already holds tasks\.parquet"):
            write(plan, source, hub)
    assert hub.repositories["org/new"].files["tasks.parquet"] == b"theirs"


def test_no_token_is_in_a_message_or_a_file(
    plan: Plan, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong_but_secret")
    with serving(Hub()) as hub, pytest.raises(InputError, match="HTTP status 401") as caught:
        write(plan, source, hub)
    assert "HF_TOKEN" in caught.value.hint
    assert "hf_wrong_but_secret" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"hf_wrong_but_secret" not in path.read_bytes()
