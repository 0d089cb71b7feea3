"""A shell script after parsing: simple commands with their words, and the units they stand in."""

from __future__ import annotations

from dataclasses import dataclass

_CONDITIONAL = frozenset({"if", "while", "case", "for", "function", "||", "substitution", "eval", "trap"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a command.

    Parameters
    ----------
    text
        Quotes removed, known variables expanded; what only a shell could expand is kept as written.
    static
        Whether the text is all there is to it.
    line
        Line of the file that the word starts on.
    """

    text: str
    static: bool = True
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirection:
    """One redirection of a command: ``> file``, ``2>&1``.

    Parameters
    ----------
    operator
        With the file descriptor where one is written: ``>``, ``2>``, ``<``, ``<<``.
    target
        File or descriptor; of a heredoc the body.
    line
        Line of the operator; of a heredoc the first line of the body.
    """

    operator: str
    target: Word
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A simple command.

    Parameters
    ----------
    words
        The command's name and its arguments; empty where there are assignments only.
    assignments
        ``NAME=value`` before the name, or all there is, or what ``export`` is given.
    operator
        What joins it to the command before it: nothing for the first, ``&&``, ``||``, ``;`` (a newline is
        one), ``|`` or ``&``.
    nesting
        Constructs around it, outermost first: ``if``, ``for``, ``while``, ``case``, ``function``, ``(``,
        ``{``, ``bash -c``, ``eval``, ``substitution``, ``!``.
    directory
        Where it runs; None where the script does not tell.
    line
        Line of the file that it starts on.
    variables
        Names that its text refers to.
    """

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...] = ()
    redirections: tuple[Redirection, ...] = ()
    operator: str = ""
    nesting: tuple[str, ...] = ()
    directory: str | None = None
    line: int = 0
    variables: frozenset[str] = frozenset()

    @property
    def conditional(self) -> bool:
        """Return whether it may be left out when the script runs without failing."""
        return self.operator == "||" or not _CONDITIONAL.isdisjoint(self.nesting)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the words as text."""
        return tuple(word.text for word in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What stands between two operators at the top of a script: a pipeline, a loop, a subshell.

    Parameters
    ----------
    operator
        What joins it to the unit before.
    raw
        Its text as written, heredoc bodies included.
    tokens
        Its text without comments and formatting, quotes removed and known variables expanded: equal for
        units that differ in spelling only.
    commands
        The simple commands in it.
    line
        Line of the file that it starts on.
    start, end
        Where it stands in the script, heredoc bodies left out.
    """

    operator: str
    raw: str
    tokens: tuple[str, ...]
    commands: tuple[Command, ...]
    line: int
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A parsed script.

    Parameters
    ----------
    units
        In order.
    options
        Names of ``set -e``, ``set -o pipefail`` and the like seen anywhere: ``errexit``, ``nounset``,
        ``xtrace``, ``pipefail``.
    problems
        (line, what) of each place that the grammar does not understand.
    """

    units: tuple[Unit, ...] = ()
    options: frozenset[str] = frozenset()
    problems: tuple[tuple[int, str], ...] = ()

    @property
    def commands(self) -> tuple[Command, ...]:
        """Return all simple commands in order."""
        return tuple(command for unit in self.units for command in unit.commands)
