"""Variables that a Dockerfile's instructions see: ENV, ARG, and what only the base image could tell."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from partition.environments.stages import PLATFORM
from partition.environments.syntax import expand_word

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partition.environments.dockerfile import Dockerfile
    from partition.rewrite.base_variables import BaseVariables

PLATFORM_ARGS = {
    f"{side}{name}": value
    for side in ("BUILD", "TARGET")
    for name, value in (("PLATFORM", PLATFORM), ("OS", "linux"), ("ARCH", "amd64"), ("VARIANT", ""))
}
"""ARG that BuildKit sets itself, for whom names them."""


class Variables(dict[str, str]):
    """ENV and ARG in force; remembers which names were asked for that only the base image could tell."""

    def __init__(self, values: Mapping[str, str], base: BaseVariables) -> None:
        super().__init__(values)
        self.base = base
        self.missing: list[str] = []

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value, and remember a name that only the base image could tell."""
        found = super().get(name)
        if found is None and self.base.hides(name):
            self.missing.append(name)
        return default if found is None else found


class Unquoted(dict[str, str]):
    """The same variables; one that is not set is empty, as in a heredoc."""

    def __init__(self, variables: Variables) -> None:
        super().__init__(variables)
        self.variables = variables

    def get(self, name: str, default: Any = "") -> Any:
        """Return a value, or nothing where there is none."""
        return self.variables.get(name, default)


def global_arguments(dockerfile: Dockerfile) -> dict[str, str]:
    """Return the ARG before the first FROM that have a value."""
    escape = dockerfile.directives.escape
    values: dict[str, str] = {}
    for instruction in takewhile(lambda each: each.name != "FROM", dockerfile.instructions):
        for word in instruction.args:
            name, equals, value = word.partition("=")
            if equals:
                values[name] = expand_word(value, PLATFORM_ARGS | values, escape=escape, keep_unset=False)
    return values
