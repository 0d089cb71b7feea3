"""Ctrl-C ends ``python -m solvers`` whatever it is doing: status 130, one line, nothing on stdout."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from generators import dense

from solvers.budget import Budget
from solvers.selection.document import SelectionDocument, dump
from solvers.selection.greedy import greedy
from solvers.selection.radius import SelectionModel
from solvers.selection.reduce import reduce_instance

ROOT = Path(__file__).parents[3]


def pages(seed):
    """Return a pagination record that is far from proven in minutes."""
    rng = np.random.default_rng(seed)
    tiles = [sorted(map(int, rng.choice(300, rng.integers(5, 40), replace=False))) for _ in range(300)]
    return json.dumps([{"capacity": 90, "tiles": tiles}]).encode()


LONG = {
    "select": dump(SelectionDocument(instance=dense(3, n=300, m=150, k=10))),
    "compose": pages(1),
}


@pytest.mark.parametrize("command", LONG)
@pytest.mark.parametrize("wait", [0, 6], ids=["reading or starting", "solving"])
def test_an_interrupt_ends_the_solver_without_a_trace(tmp_path, command, wait):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    arguments = [sys.executable, "-m", "solvers", command, str(pipe), "--time-limit", "100000"]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        pipe.write_bytes(LONG[command])  # returns once the other side has read nearly all of it
        time.sleep(wait)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        written, said = process.communicate(timeout=60)
    assert (process.returncode, written, said) == (130, "", "interrupted\n")


def test_an_interrupt_while_waiting_for_input_ends_it():
    arguments = [sys.executable, "-m", "solvers", "compose", "-"]
    with subprocess.Popen(
        arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)  # before stdin is closed, which would end it too
        written, said = process.communicate()
    assert (process.returncode, written, said) == (130, "", "interrupted\n")


def test_an_interrupt_that_is_ignored_is_ignored(tmp_path):
    """A shell without job control starts what it puts into the background like that."""
    path = tmp_path / "pages.json"
    path.write_text(json.dumps([{"capacity": 1, "tiles": [[1]]}]), encoding="utf-8")
    arguments = [sys.executable, "-m", "solvers", "compose", str(path)]
    with subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        written, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "status: OPTIMAL" in written


def test_an_interrupt_is_not_lost_on_who_calls_the_library():
    """CP-SAT would take it for itself, and the answer would come as though nobody had interrupted."""
    problem = reduce_instance(dense(3, n=150, m=90, k=8)).problem
    model = SelectionModel(problem, np.zeros(0, dtype=np.int64))
    model.add_caps()
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))

    def interrupted():
        timer.start()
        model.maximise(model.value, greedy(problem), Budget(left=2.0), 0)
        timer.join()
        time.sleep(1)

    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # left alone by what ran before
    with pytest.raises(KeyboardInterrupt):
        interrupted()
