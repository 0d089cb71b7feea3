"""Read ``task.toml`` as Harbor 0.26 reads it.

Only the keys that decide about environments are read (source: ``harbor/models/task/config.py``);
Harbor ignores keys that it does not know, and so does this module. Deprecated keys are translated.
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from datetime import date, datetime, time
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from partition.errors import Fault, InputError
from partition.tasks.model import EnvironmentConfig, StepConfig, TaskConfig, VerifierConfig
from partition.tasks.text import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

_MAX_LOCATED = 1 << 14
_MAX_FAULTS = 20
_MAX_REMEMBERED = 1 << 17
_SIZE_UNITS = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}
_STEP_CHARACTERS = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
_STEP_DEVICES = re.compile(r"(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[1-9¹²³])", re.IGNORECASE)


class _OS(StrEnum):
    LINUX = "linux"
    WINDOWS = "windows"


class _NetworkMode(StrEnum):
    PUBLIC = "public"
    ALLOWLIST = "allowlist"
    NO_NETWORK = "no-network"


class _EnvironmentMode(StrEnum):
    SHARED = "shared"
    SEPARATE = "separate"


def _megabytes(size: str) -> int:
    text = size.strip().upper()
    try:
        return int(float(text[:-1]) * _SIZE_UNITS[text[-1:]])
    except (KeyError, ValueError, OverflowError):
        raise ValueError(f"{size!r} is not a size such as '2G' or '512M'") from None


class _Healthcheck(BaseModel):
    command: str


class _Environment(BaseModel):
    docker_image: str | None = None
    os: _OS = _OS.LINUX
    cpus: float | None = None
    memory_mb: int | None = None
    storage_mb: int | None = None
    gpus: int | None = None
    network_mode: _NetworkMode = _NetworkMode.PUBLIC
    allowed_hosts: list[str] | None = None
    allow_internet: bool | None = None
    env: dict[str, str] = Field(default_factory=dict)
    workdir: str | None = None
    healthcheck: _Healthcheck | None = None

    @field_validator("os", mode="before")
    @classmethod
    def _lower(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value

    @field_validator("cpus")
    @classmethod
    def _finite(cls, value: float | None) -> float | None:
        if value is not None and not math.isfinite(value):
            raise ValueError(f"cpus must be a finite number, got {value}")
        return value

    @model_validator(mode="before")
    @classmethod
    def _translate_sizes(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for old in ("memory", "storage"):
            size = data.pop(old, None)
            if isinstance(size, str):
                megabytes = _megabytes(size)
                if data.setdefault(f"{old}_mb", megabytes) != megabytes:
                    raise ValueError(f"{old} = {size!r} and {old}_mb = {data[f'{old}_mb']!r} disagree")
        return data

    @model_validator(mode="after")
    def _settle_network(self) -> Self:
        if self.network_mode is not _NetworkMode.ALLOWLIST and self.allowed_hosts:
            raise ValueError("allowed_hosts means something only with network_mode = 'allowlist'")
        said = "network_mode" in self.model_fields_set or self.allowed_hosts is not None
        if self.allow_internet is not None and not said:
            self.network_mode = _NetworkMode.PUBLIC if self.allow_internet else _NetworkMode.NO_NETWORK
        return self

    def frozen(self) -> EnvironmentConfig:
        return EnvironmentConfig(
            docker_image=self.docker_image,
            os=self.os.value,
            cpus=self.cpus,
            memory_mb=self.memory_mb,
            storage_mb=self.storage_mb,
            gpus=self.gpus,
            network_mode=self.network_mode.value,
            env=tuple(self.env.items()),
            workdir=self.workdir,
            healthcheck=self.healthcheck.command if self.healthcheck else None,
        )


class _Verifier(BaseModel):
    environment_mode: _EnvironmentMode | None = None
    environment: _Environment | None = None

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.environment_mode is _EnvironmentMode.SHARED and self.environment is not None:
            raise ValueError("environment_mode = 'shared' contradicts [verifier.environment]")
        return self

    def frozen(self) -> VerifierConfig:
        return VerifierConfig(
            environment_mode=self.environment_mode.value if self.environment_mode else None,
            environment=self.environment.frozen() if self.environment else None,
        )


class _Step(BaseModel):
    name: str
    verifier: _Verifier = Field(default_factory=_Verifier)

    @field_validator("name")
    @classmethod
    def _portable(cls, name: str) -> str:
        if (
            not name.strip()
            or name.endswith((".", " "))
            or _STEP_CHARACTERS.search(name)
            or _STEP_DEVICES.fullmatch(name.partition(".")[0].rstrip(" "))
            or len(name.encode("utf-8", "surrogatepass")) > 255
        ):
            raise ValueError(f"{name!r} cannot name a directory on every system")
        return name


class _Task(BaseModel):
    schema_version: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    environment: _Environment = Field(default_factory=_Environment)
    verifier: _Verifier = Field(default_factory=_Verifier)
    steps: list[_Step] | None = None

    @model_validator(mode="before")
    @classmethod
    def _rename_version(cls, data: dict[str, Any]) -> dict[str, Any]:
        return {"schema_version": data["version"], **data} if "version" in data else data

    @field_validator("steps")
    @classmethod
    def _distinct(cls, steps: list[_Step] | None) -> list[_Step] | None:
        seen: set[str] = set()
        for step in steps or ():
            key = unicodedata.normalize("NFC", step.name).casefold()
            if key in seen:
                raise ValueError(f"two steps are called {step.name!r} (case and Unicode form do not count)")
            seen.add(key)
        return steps

    def frozen(self) -> TaskConfig:
        return TaskConfig(
            environment=self.environment.frozen(),
            verifier=self.verifier.frozen(),
            steps=tuple(
                StepConfig(name=step.name, verifier=step.verifier.frozen()) for step in self.steps or ()
            ),
            metadata=tuple(
                sorted(
                    (key, _as_text(value))
                    for key, value in self.metadata.items()
                    if isinstance(value, str | int | float | date | time)
                )
            ),
        )


def _as_text(value: str | float | date | time) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date | datetime | time) else str(value)


def read_config(data: bytes, *, where: str, task: str | None = None) -> TaskConfig:
    """Read the bytes of a ``task.toml``.

    Parameters
    ----------
    where
        The file's name in messages.
    task
        Id of the task, for the faults.

    Raises
    ------
    InputError
        Not UTF-8, not TOML, or values that Harbor refuses; `faults` has one fault for each, with
        the line where it is known.
    """
    text = decode(data, where=where, task=task).replace("\r\n", "\n").replace("\r", "\n")
    try:
        document = document_of(data)
        return _Task.model_validate(document).frozen()
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)[:_MAX_FAULTS]
        lines = _lines_of(text, {_existing(document, details["loc"]) for details in errors})
        located = [(lines.get(_existing(document, each["loc"]), 0), _sentence(each)) for each in errors]
        faults = [
            Fault(
                where=f"{where}:{line}" if line else where,
                what=what,
                hint="Harbor refuses this value; correct it",
                task=task,
            )
            for line, what in sorted(located)
        ]
    except RecursionError:
        faults = [Fault(where=where, what="values are nested too deeply to read", task=task)]
    except ValueError as error:
        faults = [_syntax_fault(str(error), text, where, task)]
    raise InputError(f"{where} cannot be used", faults=faults)


def document_of(data: bytes) -> Mapping[str, Any]:
    """Return the TOML document in the bytes of a ``task.toml``, for reading only.

    Those read last are remembered: rewriting a task looks into the old and into the new one several times.

    Raises
    ------
    ValueError
        Not UTF-8, or not TOML.
    """
    return _remembered(data) if len(data) <= _MAX_REMEMBERED else _parsed(data)


@lru_cache(maxsize=128)
def _remembered(data: bytes) -> dict[str, Any]:
    return _parsed(data)


def _parsed(data: bytes) -> dict[str, Any]:
    return tomllib.loads(data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n"))


def _syntax_fault(message: str, text: str, where: str, task: str | None) -> Fault:
    what, _, position = message.partition(" (at ")
    line = re.match(r"line (\d+)", position)
    number = line[1] if line else str(text.count("\n") + 1) if position else ""
    return Fault(
        where=f"{where}:{number}" if number else where,
        what=f"not TOML: {what[:1].lower()}{what[1:]}",
        hint="correct the syntax",
        task=task,
    )


def _sentence(details: ErrorDetails) -> str:
    path = details["loc"]
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "model_type":
        message = "should be a table"
    return f"{name}: {message[:1].lower()}{message[1:]}" if name else message


def _holds(document: Any, path: tuple[str | int, ...]) -> bool:
    for part in path:
        try:
            document = document[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _existing(document: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return what of `path` the document has, as it is written there."""
    if path == ("schema_version",) and not _holds(document, path):
        path = ("version",)
    while not _holds(document, path):
        path = path[:-1]
    return path


def _lines_of(text: str, paths: set[tuple[str | int, ...]]) -> dict[tuple[str | int, ...], int]:
    """Return the line where the statement begins that defines each path, as far as it can be named.

    A TOML document cut after any statement is a TOML document: the first cut that holds a path
    ends the statement, and the cut before it ends the line before.
    """
    found: dict[tuple[str | int, ...], int] = {}
    missing = paths - {()}
    lines = text.split("\n") if len(text) <= _MAX_LOCATED else []
    start = 1
    for end in range(1, len(lines) + 1):
        if not missing:
            break
        try:
            before = tomllib.loads("\n".join(lines[:end]))
        except ValueError:
            continue
        found |= {path: start for path in missing if _holds(before, path)}
        missing -= found.keys()
        start = end + 1
    return found
