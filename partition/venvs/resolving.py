"""One spec -> its lock, by uv, without running anything of a package.

uv may not build here. It is told of a package without wheels by a wheel that holds its metadata alone, read
from the source distribution. Where the newest release that fits has no wheel and an older one has, the older
one is taken, unlike pip.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import Version

from partition.environments.requirement import requirement_name
from partition.errors import InputError
from partition.venvs.locked import Lock, Locked, Unlockable
from partition.venvs.resolver import index_settings
from partition.venvs.sources import apt_needs, source_of, stub_wheel
from partition.writing import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from partition.venvs.locked import Kind
    from partition.venvs.resolver import Found, Resolver
    from partition.venvs.sources import Source
    from partition.venvs.spec import VenvSpec

UNDATED = "no date: resolved against the index as it was that day, so that later releases count (drift)"

_BUILD_TOOLS = (
    "cython", "flit-core", "hatchling", "meson-python", "numpy", "pip", "poetry-core", "pybind11",
    "scikit-build", "setuptools", "setuptools-scm", "wheel",
)  # fmt: skip
_PIN = re.compile(r"===?[^*]+\Z")
_ROUNDS = 60
"""Source distributions that one spec may have uv told of."""

_NETWORK = (
    "error sending request",
    "client error (Connect)",
    "dns error",
    "Failed to fetch",
    "network was disabled",
    "not found in the cache",
    "Request failed after",
    "timed out",
)
_NEEDS_WHEEL = re.compile(r"Wheels are required for `([^`]+)`")
_MISSING = re.compile(r"no versions? of ([\w.-]+)|Because ([\w.-]+) was not found")


def lock_with_uv(spec: VenvSpec, resolver: Resolver) -> Lock | Unlockable:
    """Return the lock of a spec, or uv's reason why there is none.

    Of a whole environment (`VenvSpec.exact`), every requirement that the index lacks is named.
    A spec that pins releases newer than its date was written later than its task: the date moves to the
    newest pin's, and a note says so.
    """
    try:
        if spec.exact:
            return _exact(spec, replace(resolver, as_of=None))
        pins = [each for each in spec.requirements if _PIN.search(each)]
        known = replace(resolver, as_of=None).look_up(pins).packages if pins else ()
        later = [each for each in known or () if spec.as_of and each.released > spec.as_of.isoformat()]
        if not later:
            return _resolved(spec, resolver, known or ())
        newest = max(each.uploaded for each in later)
        moved = _resolved(spec, replace(resolver, as_of=dt.date.fromisoformat(newest)), known or ())
        if isinstance(moved, Unlockable):
            return moved
        note = f"pins of {newest} are newer than {spec.as_of}: resolved as of {newest}"
        return replace(moved, notes=(note, *moved.notes))
    except InputError as error:
        return Unlockable(spec=spec, reason=f"{error.message} ({error.hint})", kind="network")


def kind_of(words: str) -> Kind:
    """Return what kind of failure uv's words tell of."""
    if any(each in words for each in _NETWORK):
        return "network"
    if "filtered by `exclude-newer`" in words:
        return "not-yet"
    if "was not found in the package registry" in words or re.search(
        r"there is no version of [\w.-]+==", words
    ):
        return "vanished"
    if _NEEDS_WHEEL.search(words):
        return "source"
    return "unsatisfiable"


def _resolved(spec: VenvSpec, resolver: Resolver, known: Iterable[Found]) -> Lock | Unlockable:
    """Return the lock; `known` are releases that are asked for: none of them takes a round of its own."""
    told: dict[str, dict[str, tuple[Found, Source]]] = {}
    for each in known:
        if each.source_only and each.sha256:
            told[each.name] = {each.version: (each, _source(each, resolver))}
    words = ""
    for _ in range(_ROUNDS):
        newest = {name: list(versions)[-1] for name, versions in told.items()}
        stubs = (
            stub_wheel(name, version, source)
            for name, versions in told.items()
            for version, (_, source) in versions.items()
        )
        answer = resolver.resolve(
            spec.requirements,
            constraints=[f"{name}<={version}" for name, version in newest.items()],
            wheels=dict(stubs),
            undated=told,
        )
        if answer.packages is not None:
            packages = [
                told.get(each.name, {}).get(each.version, (each, None))[0] for each in answer.packages
            ]
            return _lock(spec, packages, resolver, answer.warnings)
        words = answer.words
        found = next(_untold(spec, words, told, resolver), None)
        if found is None:
            break
        versions = told.get(found.name, {}) | {found.version: (found, _source(found, resolver))}
        told[found.name] = dict(sorted(versions.items(), key=lambda each: Version(each[0])))
    return Unlockable(spec=spec, reason=words, kind=kind_of(words))


def _untold(
    spec: VenvSpec, words: str, told: dict[str, dict[str, tuple[Found, Source]]], resolver: Resolver
) -> Iterator[Found]:
    """Yield source distributions that the words call for and uv was not told of."""
    for name in sorted({*_NEEDS_WHEEL.findall(words)}):
        own = [each for each in spec.requirements if requirement_name(each) == name]
        said = re.findall(rf"(?<![\w.-]){re.escape(name)}((?:[<>=!~]=?[\w.*+!]+,?)+)", words)
        asked = [own, *([f"{name}{each.rstrip(',')}"] for each in sorted({*said})), [name]]
        for requirements in filter(None, asked):
            answer = resolver.look_up(requirements)
            for found in answer.packages or ():
                if found.source_only and found.sha256 and found.version not in told.get(found.name, {}):
                    yield found


def _exact(spec: VenvSpec, resolver: Resolver) -> Lock | Unlockable:
    packages, gone, warnings = _look_up(spec.requirements, resolver)
    if not gone:
        # whoever wrote the list down built it no earlier than its newest package
        days = [dt.date.fromisoformat(each.uploaded) for each in packages if each.uploaded]
        return _lock(spec, packages, replace(resolver, as_of=max(days, default=spec.as_of)), warnings)
    kinds = [kind_of(words) for words in gone]
    kind: Kind = next((each for each in ("network", "unsatisfiable") if each in kinds), kinds[0])
    return Unlockable(spec=spec, reason="\n".join(gone), kind=kind)


def _look_up(
    requirements: Iterable[str], resolver: Resolver
) -> tuple[list[Found], list[str], tuple[str, ...]]:
    """Return the packages that the index has, uv's words on each of the others, and its warnings."""
    asked = list(requirements)
    gone: list[str] = []
    while asked:
        answer = resolver.look_up(asked)
        if answer.packages is not None:
            return list(answer.packages), gone, answer.warnings
        gone.append(answer.words)
        named = {first or second for first, second in _MISSING.findall(answer.words)}
        named |= {*re.findall(r"you require ([\w.-]+?)(?:\[[^\]]*\])?[<>=!~]", answer.words)}
        left = [each for each in asked if requirement_name(each) not in named]
        if len(left) == len(asked) or kind_of(answer.words) == "network":
            return [], gone, ()
        asked = left
    return [], gone, ()


def _lock(spec: VenvSpec, packages: Iterable[Found], resolver: Resolver, warnings: tuple[str, ...]) -> Lock:
    packages = sorted(packages, key=lambda each: each.name)
    sources = [(each.name, _source(each, resolver)) for each in packages if each.source_only]
    notes = [*warnings]
    if spec.as_of is None and not spec.exact:
        notes.append(UNDATED)
    notes += [
        f"{name} does not say what it needs, so that nothing is added for it"
        for name, source in sources if source.requires is None and not spec.exact
    ]  # fmt: skip
    tools = {*_BUILD_TOOLS}.union(*(source.build for _, source in sources))
    return Lock(
        spec=spec,
        packages=tuple(
            Locked(
                name=each.name,
                version=each.version,
                hashes=tuple(f"sha256:{digest}" for digest in each.sha256),
                url=each.url or None,
                source_only=each.source_only,
            )
            for each in packages
        ),
        python=resolver.python,
        build=_bounds(tools, resolver) if resolver.as_of else "",
        apt=apt_needs(sources),
        notes=tuple(notes),
    )


def _source(found: Found, resolver: Resolver) -> Source:
    digest = found.sha256[0] if found.sha256 else ""
    return source_of(found.url, digest, cache=resolver.cache, offline=resolver.offline)


def _bounds(tools: Iterable[str], resolver: Resolver) -> str:
    """Return ``name<=version`` for each build tool: the newest that there was on the date."""
    asked = sorted({*tools})
    question = json.dumps([asked, resolver.python, resolver.platform, str(resolver.as_of), index_settings()])
    kept = resolver.cache / "bounds" / f"{hashlib.sha256(question.encode()).hexdigest()}.txt"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    packages, gone, _ = _look_up(asked, resolver)
    for words in gone:
        if kind_of(words) == "network":
            raise InputError("the index cannot be reached", hint="lock again; what is done is kept")
    text = "".join(f"{each.name}<={each.version}\n" for each in packages)
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, text.encode())
    return text
