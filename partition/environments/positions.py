"""From offsets in a text to lines, and from bytes to characters, without counting anew each time."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def line_counter(text: str, first: int = 1) -> Callable[[int], int]:
    """Return the function from an offset in `text` to its line, where `text` starts on line `first`."""
    newlines = [index for index, character in enumerate(text) if character == "\n"]
    return lambda offset: first + bisect_left(newlines, offset)


def character_counter(text: str) -> Callable[[int], int]:
    """Return the function from an offset in the UTF-8 form of `text` to that of the character there."""
    if text.isascii():
        return int
    starts = [0, *accumulate(len(each.encode("utf-8", "surrogatepass")) for each in text)]
    return lambda byte: bisect_left(starts, byte)
