"""``--chmod``: octal, or symbolic as ``chmod`` takes it (no umask)."""

from __future__ import annotations

import re

_CLAUSE = re.compile(r"([ugoa]*)((?:[-+=](?:[rwxXst]+|[ugo])?)+)")
_OPERATION = re.compile(r"([-+=])([rwxXst]+|[ugo])?")
_SHIFTS = {"u": 6, "g": 3, "o": 0}
_BITS = {"r": 4, "w": 2, "x": 1}


def changed_mode(mode: int, text: str, *, is_folder: bool) -> int:
    """Return `mode` after ``chmod text``.

    Raises
    ------
    ValueError
        `text` is neither octal up to 07777 nor symbolic.
    """
    if re.fullmatch(r"[0-7]{1,5}", text) and int(text, 8) <= 0o7777:
        return int(text, 8)
    for clause in text.split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            raise ValueError(f"invalid mode {text!r}")
        who = "ugo" if not match[1] or "a" in match[1] else match[1]
        for operator, permissions in _OPERATION.findall(match[2]):
            bits = _bits(mode, who, permissions, is_folder=is_folder)
            if operator == "+":
                mode |= bits
            elif operator == "-":
                mode &= ~bits
            else:
                mode = mode & ~_all(who) | bits
    return mode


def _bits(mode: int, who: str, permissions: str, *, is_folder: bool) -> int:
    bits = 0
    if permissions in _SHIFTS:
        copied = mode >> _SHIFTS[permissions] & 7
        return sum({copied << _SHIFTS[each] for each in who})
    for permission in permissions:
        if permission in _BITS or (permission == "X" and (is_folder or mode & 0o111)):
            value = _BITS.get(permission, 1)
            bits |= sum({value << _SHIFTS[each] for each in who})
        elif permission == "s":
            bits |= (0o4000 if "u" in who else 0) | (0o2000 if "g" in who else 0)
        elif permission == "t":
            bits |= 0o1000
    return bits


def _all(who: str) -> int:
    special = (0o4000 if "u" in who else 0) | (0o2000 if "g" in who else 0)
    return sum({7 << _SHIFTS[each] for each in who}) | special
