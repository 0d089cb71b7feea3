"""Specs -> locks: in parallel, each answer kept by content, so that a second run asks nobody."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from threading import Lock as Mutex
from typing import TYPE_CHECKING, Any

from partition.venvs.interpreters import interpreter
from partition.venvs.legacy import lock_with_pip
from partition.venvs.locked import Kind, Lock, Locked, Unlockable
from partition.venvs.resolver import Resolver, index_settings, uv_version
from partition.venvs.resolving import lock_with_uv
from partition.venvs.spec import minor_version, unlockable
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from concurrent.futures import Future
    from pathlib import Path

    from partition.venvs.interpreters import Interpreter
    from partition.venvs.platforms import Platform
    from partition.venvs.spec import VenvSpec

__all__ = ["Kind", "Lock", "Locked", "Unlockable", "lock_all"]

_FORMAT = 1
"""Changes with the meaning of what is kept."""

_PATIENCE = 3
"""Failures of the network in a row after which only the cache is asked."""


def lock_all(
    specs: Iterable[VenvSpec],
    *,
    cache: Path,
    platform: Platform,
    jobs: int = 2,
    offline: bool = False,
    given: Mapping[str, Path] | None = None,
) -> Iterator[tuple[VenvSpec, Lock | Unlockable]]:
    """Lock every spec; equal specs are asked once.

    Every answer is kept as soon as it is there, by spec, interpreter, platform, index and resolver, so that
    an interrupted run goes on where it was and a second one needs no network. Failures of the network are
    not kept.

    Parameters
    ----------
    cache
        Folder for everything that is written, uv's own cache included.
    jobs
        Resolvers that run at once.
    offline
        Ask only the cache.
    given
        Path of the program of each interpreter that the user has, by minor version.

    Yields
    ------
    spec, answer
        In the order of `specs`.

    Raises
    ------
    InputError
        uv is not installed, the cache cannot be written, or a given interpreter is another one.
    """
    locker = _Locker(cache=cache, platform=platform, offline=offline, given=dict(given or {}))
    pool = ThreadPoolExecutor(max_workers=max(1, jobs))
    try:
        asked: dict[VenvSpec, Future[Lock | Unlockable]] = {}
        order = list(specs)
        for spec in order:
            if spec not in asked:
                asked[spec] = pool.submit(locker.lock, spec)
        for spec in order:
            yield spec, asked[spec].result()
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(kw_only=True)
class _Locker:
    cache: Path
    platform: Platform
    offline: bool
    given: Mapping[str, Path]
    failures: int = 0
    mutex: Mutex = field(default_factory=Mutex)

    def lock(self, spec: VenvSpec) -> Lock | Unlockable:
        problem = _problem(spec)
        if problem:
            return Unlockable(spec=spec, reason=problem, kind="hostile")
        found = interpreter(spec.python, self.given)
        if not found.resolver:
            reason = f"uv resolves for no Python {spec.python}, and no program of it is given"
            return Unlockable(spec=spec, reason=reason, kind="interpreter")
        kept = self._place(spec, found)
        if kept.is_file():
            return _thawed(spec, json.loads(kept.read_bytes()))
        answer = self._ask(spec, found)
        with self.mutex:
            network = isinstance(answer, Unlockable) and answer.kind == "network"
            self.failures = self.failures + 1 if network else 0
        if not network:
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(kept, _frozen(answer))
        return answer

    def _ask(self, spec: VenvSpec, found: Interpreter) -> Lock | Unlockable:
        offline = self.offline or self.failures >= _PATIENCE
        if found.resolver == "pip":
            return lock_with_pip(spec, found, platform=self.platform, cache=self.cache, offline=offline)
        resolver = Resolver(
            python=found.full, platform=self.platform.uv, as_of=spec.as_of, cache=self.cache, offline=offline
        )
        return lock_with_uv(spec, resolver)

    def _place(self, spec: VenvSpec, found: Interpreter) -> Path:
        resolver = uv_version() if found.resolver == "uv" else "pip"
        question = [_FORMAT, spec.key, resolver, found.full, self.platform.uv, index_settings()]
        key = hashlib.sha256(json.dumps(question).encode()).hexdigest()
        return self.cache / "locks" / key[:2] / f"{key}.json"


def _problem(spec: VenvSpec) -> str:
    """Say what keeps a spec from any resolver; empty where nothing does."""
    problems = [f"{each!r} {why}" for each in spec.requirements if (why := unlockable(each))]
    if minor_version(spec.python) != spec.python:
        problems.insert(0, f"{spec.python!r} is no minor version of Python")
    return "\n".join(problems)


def _frozen(answer: Lock | Unlockable) -> bytes:
    fields = asdict(answer)
    del fields["spec"]
    return json.dumps(fields, sort_keys=True).encode()


def _thawed(spec: VenvSpec, fields: dict[str, Any]) -> Lock | Unlockable:
    if "reason" in fields:
        return Unlockable(spec=spec, **fields)
    packages = tuple(Locked(**each | {"hashes": tuple(each["hashes"])}) for each in fields["packages"])
    lists = {name: tuple(fields[name]) for name in ("apt", "notes")}
    return Lock(spec=spec, packages=packages, python=fields["python"], build=fields["build"], **lists)
