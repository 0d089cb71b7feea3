"""The caps that a plan must hold: K, the provider's, and the snapshots that exist already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.errors import CapExceededError, UsageError

if TYPE_CHECKING:
    from partition.environments.caps import Preset

DETERMINISTIC_TIME = 60.0
_DEFAULT = 8
"""Environments at most where nobody says: what a dataset ideally has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a plan may use.

    Parameters
    ----------
    max_environments
        K as asked for.
    max_new
        New snapshots that the caps leave room for, <= `max_environments`.
    max_total
        Snapshots of the dataset, those that exist already included; None for no cap.
    organisation
        Snapshots that may exist in all, or None.
    existing
        Snapshots that exist already.
    disk_bytes
        A larger image can never start; None for no cap.
    """

    max_environments: int
    max_new: int
    max_total: int | None = None
    preset: str | None = None
    organisation: int | None = None
    existing: int = 0
    disk_bytes: int | None = None
    deterministic_time: float = DETERMINISTIC_TIME
    seed: int = 0


def limits_for(
    max_environments: int | None, *, preset: Preset | None, existing: int, seed: int = 0
) -> Limits:
    """Combine what was asked for with what the provider allows; the stricter holds.

    Raises
    ------
    UsageError
        K is below 1.
    CapExceededError
        The organisation's snapshots already reach its cap, so that not one more may be built.
    """
    if max_environments is None:
        max_environments = (
            _DEFAULT if preset is None else preset.new_snapshots or preset.snapshots or _DEFAULT
        )
    if max_environments < 1:
        raise UsageError(
            f"at most {max_environments} environments cannot hold a task", hint="ask for at least 1"
        )
    if preset is None:
        return Limits(
            max_environments=max_environments, max_new=max_environments, existing=existing, seed=seed
        )
    caps = [max_environments, preset.new_snapshots, preset.snapshots]
    if preset.organisation_snapshots is not None:
        room = preset.organisation_snapshots - existing
        if room < 0:
            raise CapExceededError(
                f"{existing} snapshots exist and {preset.name} allows {preset.organisation_snapshots}",
                hint="remove some first",
            )
        caps.append(room)
    return Limits(
        max_environments=max_environments,
        max_new=min(cap for cap in caps if cap is not None),
        max_total=preset.snapshots,
        preset=preset.name,
        organisation=preset.organisation_snapshots,
        existing=existing,
        disk_bytes=preset.snapshot_bytes,
        seed=seed,
    )
