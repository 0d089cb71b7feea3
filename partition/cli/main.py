"""The ``envfold`` command: finds the subcommand, and turns what goes wrong into a message and a status."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import traceback
from typing import TYPE_CHECKING

import click

from partition.cli.output import Output
from partition.errors import EnvfoldError, ExitStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS = {
    "count": "Count the snapshots a dataset needs.",
    "explain": "Say why a dataset needs that many.",
    "propose": "Choose at most K environments and assign every task.",
    "sweep": "Draw the curve of predicted oracle yield against K.",
    "rewrite": "Write a dataset anew, its tasks in the environments of a plan.",
    "export": "Write a plan as one Python module for a patcher.",
}
"""Name of each command, also of its module beside this one, and its line in ``--help``."""

_BROKEN_PIPE = 141
"""What a shell reports for a process that SIGPIPE ended (128 + 13)."""


class _Commands(click.Group):
    """Imports a command's module when the command is called, so that ``--help`` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"partition.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="envfold", prog_name="envfold", message="%(prog)s %(version)s")
def group() -> None:
    """Fold the many environments of a task dataset into few.

    DATASET is a directory of Harbor tasks, a parquet file or a folder of them, hf://datasets/ORG/NAME[@REV],
    a spec table (CSV, JSONL or parquet), or an embedded one: swegym, swebench, swebench:lite, swebench:full.

    Exit status: 0 done; 1 the input is at fault, or nothing is feasible; 2 usage; 3 a bug in envfold;
    4 a provider cap would be exceeded; 5 below the oracle floor; 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    Parameters
    ----------
    arguments
        Command-line arguments without the program's name; those of this process by default.
    """
    output = Output()
    try:
        return _run(sys.argv[1:] if arguments is None else list(arguments))
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return ExitStatus.USAGE
    except EnvfoldError as error:
        return _report(error, output)
    except (KeyboardInterrupt, click.Abort):
        output.say("interrupted")
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return _BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - whatever else gets here is a bug of ours
        return _report_bug(error, output)


def _run(arguments: list[str]) -> int:
    with group.make_context("envfold", arguments) as context:
        status = group.invoke(context)
    return ExitStatus(status) if isinstance(status, int) else ExitStatus.OK


def _report(error: EnvfoldError, output: Output) -> int:
    with contextlib.suppress(OSError, EnvfoldError):
        output.say(f"error: {error.message}")
        for line in error.hint.splitlines():
            output.say(f"hint: {line}")
        output.faults(error.faults)
    _discard_unwritten()
    return error.status


def _report_bug(error: Exception, output: Output) -> int:
    text = "".join(traceback.format_exception(error))
    summary = traceback.format_exception_only(error)[-1].strip()
    output.say(f"error: this is a bug in envfold: {summary}")
    if os.environ.get("ENVFOLD_DEBUG"):
        output.say(text)
        return ExitStatus.BUG
    try:
        descriptor, path = tempfile.mkstemp(prefix="envfold-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError:
        output.say(text)
    else:
        output.say(f"hint: please report it with the traceback in {path} (ENVFOLD_DEBUG=1 shows it here)")
    return ExitStatus.BUG


def _discard_unwritten() -> None:
    """Make sure that bytes which stdout refused once are not tried again when the interpreter ends."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _discard_stdout()


def _discard_stdout() -> None:
    # https://docs.python.org/3/library/signal.html#note-on-sigpipe
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
