"""The command ``rewrite`` as a function on plain objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partition.plan.document import Plan, load_plan
from partition.rewrite.rewrite import Options, Rewritten, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from partition.rewrite.manifest import Channel


def rewrite_dataset(
    plan: Plan | Path | str,
    source: str,
    out: str,
    *,
    channel: Channel = "healthcheck",
    max_environments: int | None = None,
    preset: str | None = None,
    private: bool | None = None,
    strict: bool = False,
) -> Rewritten:
    """Write a dataset anew, its tasks in the environments of `plan`.

    Parameters
    ----------
    plan
        A plan made from this very dataset, or the path of one.
    out
        A directory, a ``.parquet`` file or ``hf://datasets/ORG/NAME``; nothing may be there yet.
    channel
        How a task's set-up gets into its container.
    max_environments, preset
        Caps; by default those that the plan was made for.
    private
        Whether a new repository on the Hub is private; must be said for one.

    Raises
    ------
    EnvfoldError
        As ``envfold rewrite``. What was written so far stays in ``OUT.partial`` for the next call.
    """
    loaded = plan if isinstance(plan, Plan) else load_plan(plan)
    options = Options(
        channel=channel, max_environments=max_environments, preset=preset, private=private, strict=strict
    )
    return rewrite(loaded, source, out, options)
