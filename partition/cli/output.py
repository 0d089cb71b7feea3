"""The one sink of the command line: data on stdout, talk and progress on stderr."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import click

from partition.errors import InputError
from partition.report.wording import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partition.errors import Fault

_PATIENCE = 1.0
"""Seconds of silence before progress is shown on a terminal."""

_INTERVAL = 5.0
"""Seconds between two lines of progress where stderr is not a terminal."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")

json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")


class Tick(Protocol):
    """Told that `n` more steps are done."""

    def __call__(self, n: int = 1) -> None:
        """Count `n` steps."""


@dataclass(frozen=True, slots=True)
class Output:
    """Where a command's answer and talk go.

    Parameters
    ----------
    json
        Whether the answer is wanted as a JSON document; the command asks, and calls `document` or `data`.
    """

    json: bool = False

    @property
    def colour(self) -> bool:
        """Return whether stdout is a terminal that wants colour (``NO_COLOR`` unset)."""
        return (
            _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        )

    def data(self, text: str) -> None:
        """Write `text` to stdout, ending in one newline if it has none.

        On a terminal, control characters other than colours are shown escaped: names in a dataset are
        hostile. Into a pipe or a file the text goes as it is.
        """
        _write(sys.stdout, _visible_in_colour(text) if _is_terminal(sys.stdout) else text)

    def document(self, document: Any) -> None:
        """Write `document` to stdout as JSON, its keys in the order given.

        Raises
        ------
        TypeError
            It holds something other than plain Python data; NumPy scalars are refused too, since whether
            one of them is written would depend on its width.
        ValueError
            It holds NaN or an infinity, which JSON cannot say.
        """
        _refuse_numpy(document, "document")
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        # A lone surrogate or a narrow encoding would need escapes; JSON has its own, and stays valid.
        if not _encodable(text, sys.stdout):
            text = json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False)
        _write(sys.stdout, text)

    def say(self, text: str) -> None:
        """Write `text` to stderr, control characters escaped."""
        _write(sys.stderr, _visible(text))

    def faults(self, faults: Sequence[Fault], limit: int = 20) -> None:
        """Write one line for each of the first `limit` faults to stderr, then how many there are."""
        if not faults:
            return
        for fault in faults[:limit]:
            self.say(" ".join(str(fault).split("\n")))
        tasks = {fault.task for fault in faults if fault.task is not None}
        total = _count(len(faults), "fault") + (f" in {_count(len(tasks), 'task')}" if tasks else "")
        self.say(total + (f", {limit} shown" if len(faults) > limit else ""))

    @contextmanager
    def progress(self, description: str, total: int | None = None) -> Iterator[Tick]:
        """Show on stderr how far a long job is; nothing for a short one.

        Parameters
        ----------
        description
            What is being done: ``reading tasks``.
        total
            How many steps there are, where known.

        Yields
        ------
        Tick
            To be called when steps are done; it costs one addition.
        """
        meter = _Meter(description, total)
        finished = threading.Event()
        show = _show_bar if _is_terminal(sys.stderr) else _show_lines
        thread = threading.Thread(target=show, args=(meter, finished), daemon=True)
        thread.start()
        try:
            yield meter.tick
        finally:
            finished.set()
            thread.join()


class _Meter:
    """How far a job is; written by the job, read by the thread that shows it."""

    def __init__(self, description: str, total: int | None) -> None:
        self.description = _visible(description)
        self.total = total
        self.done = 0

    def tick(self, n: int = 1) -> None:
        self.done += n

    def __str__(self) -> str:
        if self.total is None:
            return f"{self.description}: {self.done}" if self.done else self.description
        return f"{self.description}: {self.done} of {self.total}"


def _show_lines(meter: _Meter, finished: threading.Event) -> None:
    start = time.monotonic()
    while not finished.wait(_INTERVAL):
        _write(sys.stderr, f"{meter} ({time.monotonic() - start:.0f} s)")


def _show_bar(meter: _Meter, finished: threading.Event) -> None:
    if finished.wait(_PATIENCE):
        return
    from rich.console import Console  # noqa: PLC0415 - slow to import, and most jobs are short
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    console = Console(stderr=True, width=WIDTH, highlight=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        job = bar.add_task(meter.description, total=meter.total)
        while not finished.wait(0.1):
            bar.update(job, completed=meter.done)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _visible(text: str) -> str:
    """Return `text` with every control character but tabs and newlines escaped."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _visible_in_colour(text: str) -> str:
    """Return `text` with control characters escaped, colours kept."""
    parts = _COLOUR.split(text)
    parts[::2] = map(_visible, parts[::2])
    return "".join(parts)


def _encoding(stream: TextIO | None) -> str:
    return (stream and stream.encoding) or "utf-8"


def _encodable(text: str, stream: TextIO | None) -> bool:
    try:
        text.encode(_encoding(stream))
    except UnicodeEncodeError:
        return False
    return True


def _write(stream: TextIO | None, text: str) -> None:
    """Write a line or lines now, with backslash escapes for what the stream cannot encode."""
    if stream is None:  # the caller closed it: nobody listens
        return
    encoding = _encoding(stream)
    line = text if text.endswith("\n") else text + "\n"
    try:
        stream.write(line.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(
            f"the answer was not written: {error.strerror or error}",
            hint="free some space or send the output elsewhere",
        ) from error


def _refuse_numpy(value: Any, where: str) -> None:
    if type(value).__module__ == "numpy":
        raise TypeError(f"{where} is a NumPy {type(value).__name__}; convert it before it leaves the program")
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_numpy(key, f"a key of {where}")
            _refuse_numpy(item, f"{where}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _refuse_numpy(item, f"{where}[{index}]")
