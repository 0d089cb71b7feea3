"""``python -m solvers``: finds the command, and turns what goes wrong into a message and an exit status."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING

import click

from solvers.cli.compose import command as compose_command
from solvers.cli.interrupt import INTERRUPTED
from solvers.cli.output import UnwrittenError, say
from solvers.cli.reading import UnreadableError
from solvers.cli.select import command as select_command

if TYPE_CHECKING:
    from collections.abc import Sequence

_INPUT, _USAGE, _BUG = 1, 2, 3
_BROKEN_PIPE = 141
"""What a shell reports for a process that SIGPIPE ended (128 + 13)."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
def group() -> None:
    """Solve an instance of numbers: checked answer, proven bound.

    Exit status: 0 done; 1 the input is at fault, or nothing is feasible; 2 usage; 3 a bug in the solvers;
    130 interrupted.
    """


group.add_command(select_command)
group.add_command(compose_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status.

    Parameters
    ----------
    arguments
        Command-line arguments without the program's name; those of this process by default.
    """
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        with group.make_context("python -m solvers", given) as context:
            return int(group.invoke(context) or 0)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return _USAGE
    except (UnreadableError, UnwrittenError) as error:
        for line in error.lines:
            say(line)
        return _INPUT
    except (KeyboardInterrupt, click.Abort):
        say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # https://docs.python.org/3/library/signal.html#note-on-sigpipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - whatever else gets here is a bug of ours
        say("".join(traceback.format_exception(error)))
        say(f"error: this is a bug in the solvers: {traceback.format_exception_only(error)[-1].strip()}")
        return _BUG
