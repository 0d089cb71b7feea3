"""Documents handed to the solvers: bytes in, plain data out, or every fault with its place."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_FAULTS = 1000
"""Faults that are kept; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with a document.

    Parameters
    ----------
    what
        One sentence without a final full stop.
    path
        Place in a JSON document, as ``probabilities[12][3]``; empty where a line says it better.
    line
        From 1; 0 where there is none to name.
    """

    what: str
    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        return self.at("")

    def at(self, source: str) -> str:
        """Return ``source:line: path: what``, without the parts that are not known."""
        place = f"{source}:{self.line}" if self.line else source
        return ": ".join(part for part in (place, self.path, self.what) if part)


class DocumentError(ValueError):
    """A document that no instance can be made of.

    Parameters
    ----------
    faults
        What is wrong, every place; at least one.
    more
        Faults beyond those.
    """

    def __init__(self, faults: Sequence[Fault], more: int = 0) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = tuple(faults)
        self.more = more


class Faults:
    """Collects what is wrong, so that all of it can be said at once."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._more = 0

    def __len__(self) -> int:
        return len(self._faults) + self._more

    def add(self, what: str, *, path: str = "", line: int = 0) -> None:
        """Note a fault."""
        if len(self._faults) < MAX_FAULTS:
            self._faults.append(Fault(what=what, path=path, line=line))
        else:
            self._more += 1

    def raise_any(self) -> None:
        """Raise `DocumentError` if anything is wrong."""
        if self._faults:
            raise DocumentError(self._faults, self._more)


def decode(data: bytes | str) -> str:
    """Return `data` as text, which it may be already.

    Raises
    ------
    DocumentError
        It is not UTF-8.
    """
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(
            [Fault(what=f"byte {error.start} is not UTF-8; save the file as UTF-8", line=line)]
        ) from error


def read_json(data: bytes | str, faults: Faults) -> Any:
    """Return the value that `data` is in JSON.

    NaN and infinities are kept for their reader to refuse by place. A key that comes twice is a fault and
    has its last value.

    Raises
    ------
    DocumentError
        It is not UTF-8, not JSON, or nested too deeply.
    """
    text = decode(data)
    repeated: list[tuple[dict[str, Any], list[str]]] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        if len(document) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.append((document, sorted(key for key, count in counts.items() if count > 1)))
        return document

    try:
        value = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg[0].lower()}{error.msg[1:]} (column {error.colno})"
        raise DocumentError([Fault(what=what, line=error.lineno)]) from error
    except RecursionError as error:
        raise DocumentError([Fault(what="nested too deeply to be an instance")]) from error
    except ValueError as error:  # all else that the parser refuses
        digits = sys.get_int_max_str_digits()
        raise DocumentError([Fault(what=f"a number has more than {digits} digits")]) from error
    if repeated:
        places = _places(value, {id(document) for document, _ in repeated})
        paths = [inside(places.get(id(document), ""), key) for document, keys in repeated for key in keys]
        for path in sorted(paths):
            faults.add("the key comes twice", path=path)
    return value


def _places(value: Any, wanted: set[int]) -> dict[int, str]:
    """Return the paths of the wanted objects, which are known by their id, within `value`."""
    places: dict[int, str] = {}
    stack = [("", value)]
    while stack:
        path, inner = stack.pop()
        if isinstance(inner, dict):
            if id(inner) in wanted:
                places[id(inner)] = path
            stack += [(inside(path, key), item) for key, item in inner.items()]
        elif isinstance(inner, list):
            stack += [
                (f"{path}[{place}]", item)
                for place, item in enumerate(inner)
                if isinstance(item, dict | list)
            ]
    return places


def inside(path: str, key: str) -> str:
    """Return the path of a key of the object at `path`."""
    return f"{path}.{shorten(key)}" if path else shorten(key)


def read_object(data: bytes | str, faults: Faults) -> dict[str, Any]:
    """Return the JSON object in `data`, as `read_json` does.

    Raises
    ------
    DocumentError
        Also if it is not an object.
    """
    document = read_json(data, faults)
    if not isinstance(document, dict):
        raise DocumentError([Fault(what=f"is {kind_of(document)}, not an object")])
    return document


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in JSON's words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    names = {dict: "an object", list: "an array", str: "a string", int: "a number", float: "a number"}
    return names[type(value)]


def shown(value: Any) -> str:
    """Return a JSON value for a message: numbers as they are, the rest by its kind."""
    text = repr(value) if type(value) in {int, float} else kind_of(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def shorten(name: str) -> str:
    """Return a name from a document so that a message can hold it: one line, not too long."""
    text = name.encode("unicode_escape").decode("ascii")
    return text if len(text) <= 60 else f"{text[:57]}..."
