"""Data to stdout, talk to stderr."""

from __future__ import annotations

import contextlib
import re
import sys

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class UnwrittenError(Exception):
    """Stdout did not take the answer."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.lines = (f"error: the answer was not written: {why}",)


def say(text: str) -> None:
    """Write `text` to stderr, control characters escaped."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(_encodable(visible(text), sys.stderr.encoding) + "\n")
        sys.stderr.flush()


def data(text: str) -> None:
    """Write `text` and a newline to stdout.

    Raises
    ------
    UnwrittenError
        The disk is full, or stdout otherwise refuses.
    """
    try:
        sys.stdout.write(_encodable(text, sys.stdout.encoding) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        with contextlib.suppress(OSError):
            sys.stdout.close()  # or the interpreter tries the same bytes again when it ends
        raise UnwrittenError(error.strerror or str(error)) from error


def visible(text: str) -> str:
    """Return `text` with control characters escaped: names in an instance are hostile."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def _encodable(text: str, encoding: str) -> str:
    return text.encode(encoding, "backslashreplace").decode(encoding)
