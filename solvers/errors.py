"""What the solvers refuse, with every fault found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class InvalidInstanceError(ValueError):
    """An instance of numbers that no solver can take.

    Parameters
    ----------
    faults
        Every fault, one sentence each, naming the array and the first place in it.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


class InvalidLimitsError(ValueError):
    """Limits that cannot mean anything: a negative time, NaN, a negative seed."""


class CheckError(AssertionError):
    """An answer breaks a rule of its instance: a bug in the solver that gave it.

    Parameters
    ----------
    faults
        Every broken rule, one sentence each.
    """

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)
