"""From a plan and a dataset to a dataset whose tasks share the plan's environments.

The package can be called: ``partition.rewrite`` is both the room and, as the other commands are, a function.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Rewrite(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Do what `partition.rewrite.command.rewrite_dataset` does."""
        from partition.rewrite.command import rewrite_dataset  # noqa: PLC0415 - the package comes first

        return rewrite_dataset(*arguments, **options)


sys.modules[__name__].__class__ = _Rewrite
