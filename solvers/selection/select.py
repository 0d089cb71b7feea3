"""The entry point: one instance, one checked answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.selection.sweep import sweep

if TYPE_CHECKING:
    from solvers.result import Limits
    from solvers.selection.instance import SelectionInstance
    from solvers.selection.result import SelectionResult


def select(instance: SelectionInstance, limits: Limits | None = None) -> SelectionResult:
    """Choose the best candidates within the caps of `instance`.

    The same instance and limits give the same result, bit for bit.

    Raises
    ------
    InvalidInstanceError
        If the instance breaks a rule of `validate`.
    """
    (result,) = sweep(instance, [instance.max_new], limits)
    return result
