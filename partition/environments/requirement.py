"""One spelling for each pip requirement, so that equal requirements compare equal."""

from __future__ import annotations

from functools import lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name


@lru_cache(maxsize=65536)
def canonical_requirement(text: str) -> str:
    """Return `text` as a canonical PEP 508 requirement, or stripped as written where it is not one.

    Names are normalised (PEP 503), extras and specifiers sorted, white space removed:
    ``Foo_Bar [b, a] >=1 , <2`` becomes ``foo-bar[a,b]<2,>=1``.
    """
    try:
        requirement = Requirement(text.strip())
    except InvalidRequirement:
        return text.strip()
    name = canonicalize_name(requirement.name)
    extras = (
        f"[{','.join(sorted(canonicalize_name(e) for e in requirement.extras))}]"
        if requirement.extras
        else ""
    )
    if requirement.url:
        head = f"{name}{extras} @ {requirement.url}"
        return f"{head} ; {requirement.marker}" if requirement.marker else head
    head = f"{name}{extras}{','.join(sorted(str(each) for each in requirement.specifier))}"
    return f"{head}; {requirement.marker}" if requirement.marker else head


def requirement_name(text: str) -> str | None:
    """Return the normalised project name that `text` asks for, or None where it is not PEP 508."""
    try:
        return str(canonicalize_name(Requirement(text.strip()).name))
    except InvalidRequirement:
        return None
