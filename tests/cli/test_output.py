"""stdout is data, stderr is talk, whatever the terminal, the encoding and the names in the dataset."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.cli import output as module
from partition.cli.output import Output
from partition.errors import Fault


def stream(encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")


def test_data_goes_to_stdout_and_talk_to_stderr(capsys) -> None:
    output = Output()
    output.data("8 snapshots")
    output.say("read 3 tasks")
    assert capsys.readouterr() == ("8 snapshots\n", "read 3 tasks\n")


def test_a_document_keeps_the_order_of_its_keys(capsys) -> None:
    Output(json=True).document({"tasks": 2, "é": [], "a": None})
    assert capsys.readouterr().out == '{\n  "tasks": 2,\n  "é": [],\n  "a": null\n}\n'


documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@settings(derandomize=True, deadline=None)
@given(documents, st.sampled_from(["utf-8", "ascii", "latin-1", "utf-16"]))
def test_a_document_reads_back_equal_in_any_encoding(document, encoding: str) -> None:
    """Lone surrogates included: file names need not be UTF-8."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream(encoding))
        Output(json=True).document(document)
        written = sys.stdout.buffer.getvalue().decode(encoding)
    assert json.loads(written) == document


@pytest.mark.parametrize("scalar", [np.float64(1), np.float32(1), np.int64(1), np.bool_(True), np.array([1])])
def test_a_document_refuses_numpy(scalar, capsys) -> None:
    with pytest.raises(TypeError, match=r"document\['points'\]\[0\] is a NumPy"):
        Output(json=True).document({"points": [scalar]})
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_document_refuses_what_json_cannot_say(number: float, capsys) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        Output(json=True).document([number])
    assert capsys.readouterr().out == ""


@settings(derandomize=True, deadline=None)
@given(st.text(st.characters()), st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_no_text_can_crash_or_steer_the_terminal(text: str, encoding: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream(encoding))
        Output().say(text)
        written = sys.stderr.buffer.getvalue().decode(encoding)
    assert not any(ord(character) < 32 and character not in "\n\t" for character in written)


def test_into_a_pipe_data_goes_byte_for_byte(capsys) -> None:
    Output().data("a\rb\x1b[2J\n")
    assert capsys.readouterr().out == "a\rb\x1b[2J\n"


def test_no_faults_say_nothing(capsys) -> None:
    Output().faults([])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("faults", "total"),
    [
        ([Fault(where="a", what="b")], "1 fault"),
        ([Fault(where="a", what="b", task="t"), Fault(where="c", what="d", task="t")], "2 faults in 1 task"),
        ([Fault(where="a", what="b", task=t) for t in "xyz"], "3 faults in 3 tasks, 2 shown"),
    ],
)
def test_faults_are_one_line_each_and_a_total(capsys, faults: list[Fault], total: str) -> None:
    Output().faults(faults, limit=2)
    *lines, last = capsys.readouterr().err.splitlines()
    assert lines == [str(fault) for fault in faults[:2]]
    assert last == total


def test_a_fault_with_newlines_stays_one_line(capsys) -> None:
    Output().faults([Fault(where="a", what="b\nerror: forged")])
    assert capsys.readouterr().err.splitlines() == ["a: b error: forged", "1 fault"]


def test_a_short_job_shows_no_progress(capsys) -> None:
    with Output().progress("reading tasks", 2) as tick:
        tick()
        tick(1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("total", "expected"), [(9, "reading: 4 of 9 ("), (None, "reading: 4 (")])
def test_away_from_a_terminal_progress_is_plain_lines(capsys, monkeypatch, total, expected: str) -> None:
    monkeypatch.setattr(module, "_INTERVAL", 0.01)
    with Output().progress("reading", total) as tick:
        tick(4)
        time.sleep(0.1)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith(expected)


def test_progress_ends_with_its_job_even_when_it_fails(monkeypatch, capsys) -> None:
    monkeypatch.setattr(module, "_INTERVAL", 0.01)
    with pytest.raises(ZeroDivisionError), Output().progress("reading"):
        _ = 1 // 0
    before = capsys.readouterr().err
    time.sleep(0.05)
    assert capsys.readouterr().err == ""
    assert "Traceback" not in before


ON_A_TERMINAL = """
import sys, time
from partition.cli import output
output._PATIENCE = 0.05
answer = output.Output()
answer.data("\\x1b[1mbold\\x1b[0m \\x1b]0;title\\x07" if answer.colour else "plain")
with answer.progress("reading [red]tasks", 9) as tick:
    tick(4)
    time.sleep(1)
    answer.data("data")
"""


def on_a_terminal(**environment: str) -> str:
    """Return what a terminal is sent."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL],
        stdout=follower,
        stderr=follower,
        env={"TERM": "xterm", "PATH": os.environ["PATH"]} | environment,
    ) as process:
        os.close(follower)
        sent = bytearray()
        try:
            while chunk := os.read(leader, 4096):
                sent += chunk
        except OSError:  # Linux reports the closed other end so
            pass
        assert process.wait() == 0
    os.close(leader)
    return sent.decode()


def test_on_a_terminal_progress_is_a_bar_and_names_cannot_steer_it() -> None:
    sent = on_a_terminal()
    assert "4/9" in sent
    assert "reading [red]tasks" in sent
    assert "\x1b[1mbold\x1b[0m \\x1b]0;title\\x07" in sent


def test_no_color_is_honoured() -> None:
    sent = on_a_terminal(NO_COLOR="1")
    assert "plain" in sent
    assert "4/9" in sent
    assert "\x1b[3" not in sent
