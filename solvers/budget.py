"""Work counted instead of timed, so that the same limits stop at the same place on every machine."""

from __future__ import annotations

from dataclasses import dataclass

_UNITS_A_STEP = 4e-5
_UNITS_A_CELL = 1.5e-9


@dataclass(slots=True)
class Budget:
    """Deterministic time units left (one is about a second on a slow core).

    Parameters
    ----------
    left
        What may still be spent.
    whole
        The budget that this is a part of; what is charged here is charged there too.
    """

    left: float
    whole: Budget | None = None

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def part(self, share: float) -> Budget:
        """Return a budget of the given share of what is left."""
        return Budget(left=share * self.left, whole=self)

    def charge(self, units: float) -> None:
        """Take `units` off."""
        self.left -= units
        if self.whole is not None:
            self.whole.charge(units)

    def charge_steps(self, steps: int, cells: int) -> None:
        """Take off what `steps` passes over a matrix of `cells` numbers cost."""
        self.charge(steps * (_UNITS_A_STEP + _UNITS_A_CELL * cells))
