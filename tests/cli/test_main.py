"""The frame of the command line: it finds a command, and turns errors into a message and a status."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click
import pytest

from partition.cli import main as frame
from partition.cli.output import Output
from partition.errors import CapExceededError, ExitStatus, Fault, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = ExitStatus | None


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m partition`` as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "partition", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Answer]], int]:
    """Run the given function as the body of a command called ``probe``."""

    def call(body: Callable[[], Answer]) -> int:
        module = ModuleType("partition.cli.probe")
        module.command = click.Command("probe", callback=body)
        monkeypatch.setitem(sys.modules, "partition.cli.probe", module)
        monkeypatch.setitem(frame._COMMANDS, "probe", "Probe.")
        return frame.main(["probe"])

    return call


def raising(error: BaseException) -> Callable[[], Answer]:
    def body() -> Answer:
        raise error

    return body


def test_help_names_every_command_and_status() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    for name, line in frame._COMMANDS.items():
        assert f"  {name} " in done.stdout
        assert line in done.stdout
    assert "130 interrupted" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_every_command_has_a_module_that_offers_it() -> None:
    context = click.Context(frame.group)
    for name in frame.group.list_commands(context):
        command = frame.group.get_command(context, name)
        assert isinstance(command, click.Command)
        assert command.name == name
        assert command.get_short_help_str(1000).strip()


def test_version_is_that_of_the_distribution() -> None:
    done = run("--version")
    assert re.fullmatch(r"envfold \d+\.\d+\.\d+\n", done.stdout)


def test_help_imports_no_command_and_nothing_heavy() -> None:
    code = """
import sys
from partition.cli.main import main
main(["--help"])
heavy = {"numpy", "ortools", "polars", "pyarrow", "matplotlib", "sklearn", "rich", "pydantic"}
loaded = heavy & set(sys.modules) | {name for name in sys.modules if name.startswith("partition.tasks")}
sys.exit(f"imported: {sorted(loaded)}" if loaded else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [("cuont",), ("--nonsense",), ("count",), ("count", "--nonsense")])
def test_a_call_that_cannot_mean_anything_is_a_usage_error(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == ExitStatus.USAGE
    assert done.stdout == ""
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_command_the_help_is_shown() -> None:
    done = run()
    assert done.returncode == ExitStatus.USAGE
    assert "Commands:" in done.stderr


@pytest.mark.parametrize("status", [None, *ExitStatus])
def test_a_command_may_return_its_status(probe, status: Answer) -> None:
    assert probe(lambda: status) == (status or 0)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("no such file"), 1),
        (UsageError("K must be at least 1"), 2),
        (CapExceededError("12 snapshots, at most 10"), 4),
    ],
)
def test_an_expected_error_keeps_its_status(probe, capsys, error: Exception, status: int) -> None:
    assert probe(raising(error)) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"error: {error}\n"


def test_an_expected_error_shows_hints_and_faults(probe, capsys) -> None:
    faults = [Fault(where=f"specs.csv:{line}", what="no id", task=f"t{line}") for line in range(2, 32)]
    error = InputError("specs.csv: 30 rows cannot be used", hint="correct them\nor drop them", faults=faults)
    assert probe(raising(error)) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[:3] == [
        "error: specs.csv: 30 rows cannot be used",
        "hint: correct them",
        "hint: or drop them",
    ]
    assert lines[3] == "specs.csv:2: no id"
    assert lines[-1] == "30 faults in 30 tasks, 20 shown"
    assert len(lines) == 3 + 20 + 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interruption_is_130_and_one_word(probe, capsys, error: BaseException) -> None:
    assert probe(raising(error)) == ExitStatus.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_a_bug_says_so_and_where_its_traceback_is(probe, capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert probe(raising(KeyError("pandas"))) == ExitStatus.BUG
    first, second = capsys.readouterr().err.splitlines()
    assert first == "error: this is a bug in envfold: KeyError: 'pandas'"
    (log,) = tmp_path.iterdir()
    assert str(log) in second
    assert "Traceback (most recent call last)" in log.read_text()


def test_envfold_debug_shows_the_traceback_of_a_bug(probe, capsys, monkeypatch) -> None:
    monkeypatch.setenv("ENVFOLD_DEBUG", "1")
    assert probe(raising(ZeroDivisionError("by zero"))) == ExitStatus.BUG
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_traceback_that_cannot_be_stored_is_shown(probe, capsys, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    assert probe(raising(ZeroDivisionError("by zero"))) == ExitStatus.BUG
    assert "Traceback (most recent call last)" in capsys.readouterr().err


PRINTING = """
import sys, types, click
from partition.cli import main as frame
from partition.cli.output import Output
module = types.ModuleType("partition.cli.probe")
@click.command()
def probe():
    for _ in range(10_000):
        Output().data("x" * 80)
module.command = probe
sys.modules["partition.cli.probe"] = module
frame._COMMANDS["probe"] = "Probe."
sys.exit(frame.main(["probe"]))
"""


def test_a_reader_that_stops_reading_ends_the_command_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PRINTING], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_behind_stdout_is_the_users_to_mend() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", PRINTING], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the answer was not written: No space left on device\nhint: ")
    assert "Traceback" not in done.stderr


def test_a_closed_stdout_is_nobody_listening() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" >&-', sys.executable, PRINTING],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_are_not_utf8_never_crash(probe, capsys) -> None:
    fault = Fault(where="tasks/\udcff/Dockerfile:1", what="not UTF-8: \x1b]0;title\x07")
    assert probe(lambda: Output().faults([fault])) == 0
    line = capsys.readouterr().err.splitlines()[0]
    assert line == r"tasks/\udcff/Dockerfile:1: not UTF-8: \x1b]0;title\x07"
