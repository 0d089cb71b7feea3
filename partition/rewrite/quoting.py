"""Words written so that Docker reads them back exactly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def literal(value: str) -> str:
    """Return `value` in double quotes, as ENV, ARG, WORKDIR and USER take it; a newline cannot be written.

    Within double quotes only the backslash, the quote and the dollar sign are special (``shell/lex.go``).
    """
    for character in ("\\", '"', "$"):
        value = value.replace(character, f"\\{character}")
    return f'"{value}"'


def json_words(words: Sequence[str]) -> str:
    """Return the JSON form of COPY and ADD, whose words Docker still expands."""
    return json.dumps([_unexpanded(word) for word in words], ensure_ascii=False)


def exec_words(words: Sequence[str]) -> str:
    """Return the JSON form of RUN, whose words nothing expands."""
    return json.dumps(list(words), ensure_ascii=False)


def _unexpanded(word: str) -> str:
    for character in ("\\", "$", '"', "'"):
        word = word.replace(character, f"\\{character}")
    return word
