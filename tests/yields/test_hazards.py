"""Surviving a hazard: the closed form, its laws, and the documented numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from partition.yields.hazards import HAZARDS, draw, log_survival

_DOCS = Path(__file__).parents[2] / "docs" / "yield-model.md"


def _alone(index: int, units: float) -> np.ndarray:
    exposure = np.zeros(len(HAZARDS))
    exposure[index] = units
    return exposure


@pytest.mark.parametrize("index", range(len(HAZARDS)), ids=lambda index: HAZARDS[index].name)
@pytest.mark.parametrize("units", [1.0, 2.0, 7.0])
def test_closed_form_is_the_mean_over_the_prior(index: int, units: float) -> None:
    """B(a, b + x) / B(a, b) equals the integral of (1 - q) ** x over the Beta prior."""
    hazard = HAZARDS[index]
    prior = beta(hazard.failures, hazard.passes)
    expected = prior.expect(lambda q: (1 - q) ** units)
    assert np.exp(log_survival(_alone(index, units))) == pytest.approx(expected, rel=1e-6)


def test_no_exposure_survives_for_certain() -> None:
    assert log_survival(np.zeros((3, len(HAZARDS)))).tolist() == [0.0, 0.0, 0.0]


@settings(derandomize=True, deadline=None)
@given(
    st.lists(st.floats(0, 50), min_size=len(HAZARDS), max_size=len(HAZARDS)),
    st.integers(0, len(HAZARDS) - 1),
    st.floats(0.1, 10),
)
def test_more_exposure_never_helps(exposure: list[float], index: int, more: float) -> None:
    before = np.array(exposure)
    after = before.copy()
    after[index] += more
    assert log_survival(after) <= log_survival(before) + 1e-9


def test_draws_follow_the_prior_and_the_seed() -> None:
    draws = draw(4000, seed=7)
    means = [hazard.failures / (hazard.failures + hazard.passes) for hazard in HAZARDS]
    assert draws.mean(axis=0) == pytest.approx(means, abs=0.01)
    assert (draw(10, seed=7) == draws[:10]).all()
    assert not (draw(10, seed=8) == draws[:10]).any()


def test_every_pseudo_count_is_documented() -> None:
    """docs/yield-model.md has one row a hazard with the counts that the code uses."""
    text = _DOCS.read_text(encoding="utf-8")
    for hazard in HAZARDS:
        row = f"| {hazard.name} | {hazard.failures:g} | {hazard.passes:g} | {hazard.unit} |"
        assert row in text
