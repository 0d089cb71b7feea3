"""Turn bytes into text, or say where they are not UTF-8."""

from __future__ import annotations

from partition.errors import Fault, InputError


def decode(data: bytes, *, where: str, task: str | None = None) -> str:
    """Decode UTF-8 strictly.

    Raises
    ------
    InputError
        With one fault that names the line and the byte offset (counted from 0) of the first byte
        that is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = not_utf8(data[error.start], offset=error.start, line=line, where=where, task=task)
        raise InputError(f"{where} is not UTF-8", faults=[fault]) from None


def not_utf8(byte: int, *, offset: int, line: int, where: str, task: str | None = None) -> Fault:
    """Return the fault for one byte of the file `where`."""
    return Fault(
        where=f"{where}:{line}",
        what=f"byte {byte:#04x} at offset {offset} is not UTF-8",
        hint="save the file as UTF-8",
        task=task,
    )
