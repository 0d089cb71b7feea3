"""What the structural model says of a class in an environment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from partition.environments.shared import PackageSet, SetMember, SharedEnvironment
from partition.features.classes import classes_of
from partition.features.model import TaskFeatures
from partition.yields.structural import StructuralYields
from partition.yields.table import ClassTable, is_pinned, member_of, minor, version_order

_MODIN = TaskFeatures(
    task="modin-1",
    python="3.9",
    apt=("libpq-dev",),
    pip=("numpy==1.23.1",),
    requirement_files=("requirements-dev.txt",),
    repo="modin-project/modin",
    family="modin-project/modin",
    version="0.20",
)
_PLAIN = SharedEnvironment(
    name="py39", origin="interpreter", base="python:3.9-slim", python="3.9", apt=("libpq-dev",)
)


def _yields(*features: TaskFeatures) -> StructuralYields:
    return StructuralYields(ClassTable(classes_of(features)))


def _one(features: TaskFeatures, environment: SharedEnvironment) -> float:
    return float(_yields(features).predict([environment]).mean[0, 0])


def _baking(*members: SetMember | None, **changes: Any) -> SharedEnvironment:
    kept = tuple(member for member in members if member is not None)
    baked = PackageSet(name="baked", members=kept)
    return replace(_PLAIN, name="baked", origin="own", baked=baked, **changes)


def _at(version: str, task: str) -> TaskFeatures:
    return replace(_MODIN, task=task, version=version)


class TestPredictions:
    def test_baking_the_own_list_helps(self) -> None:
        assert _one(_MODIN, _baking(member_of(_MODIN))) > _one(_MODIN, _PLAIN)

    def test_a_neighbouring_release_is_between_own_and_run_time_and_fades_with_distance(self) -> None:
        series = [_at(f"0.{number}", f"t{number}") for number in range(10, 30)]
        yields = _yields(*series)
        near = yields.predict([_baking(member_of(series[10]))]).mean[:, 0]
        plain = yields.predict([_PLAIN]).mean[:, 0]
        order = np.argsort([float(item.version) for item in yields.table.features])
        left, right = near[order][:11], near[order][10:]
        assert (np.diff(left) >= 0).all()
        assert (np.diff(right) <= 0).all()
        assert near.max() == near[order][10]
        assert (near >= plain).all()

    def test_distant_releases_fall_back_on_the_run_time_install(self) -> None:
        series = [_at(f"0.{number}", f"t{number}") for number in range(100)]
        predictions = _yields(*series).predict([_baking(member_of(series[0]))])
        assert predictions.baked.any()
        assert not predictions.baked.all()

    def test_a_wrong_interpreter_costs_by_minor_version(self) -> None:
        values = [_one(_MODIN, replace(_PLAIN, python=f"3.{number}")) for number in (9, 10, 11, 12)]
        assert values == sorted(values, reverse=True)
        assert len(set(values)) == 4

    def test_another_major_version_is_hopeless(self) -> None:
        assert _one(_MODIN, replace(_PLAIN, python="2.7")) < 0.05

    def test_a_missing_system_package_costs(self) -> None:
        assert _one(_MODIN, replace(_PLAIN, apt=())) < _one(_MODIN, _PLAIN)

    def test_an_unneeded_system_package_costs_nothing(self) -> None:
        assert _one(_MODIN, replace(_PLAIN, apt=("cmake", "libpq-dev"))) == _one(_MODIN, _PLAIN)

    def test_merging_other_lists_costs(self) -> None:
        other = SetMember(family="dask/dask", version="2021.1", repo="dask/dask", pip=("dask",))
        assert _one(_MODIN, _baking(member_of(_MODIN), other)) < _one(_MODIN, _baking(member_of(_MODIN)))

    def test_a_date_removes_most_drift(self) -> None:
        assert _one(replace(_MODIN, created_at="2021-03-01"), _PLAIN) > _one(_MODIN, _PLAIN)

    def test_complete_pins_do_not_drift(self) -> None:
        pinned = replace(_MODIN, requirement_files=(), pip=("numpy==1.23.1", "pandas==1.5.0"))
        assert _one(pinned, _PLAIN) > _one(_MODIN, _PLAIN)

    def test_nothing_exceeds_the_ceiling(self) -> None:
        features = replace(_MODIN, outcomes=(("a", "fail"), ("b", "fail")))
        yields = _yields(features)
        share = yields.ceiling[0, 0] / yields.ceiling[0].sum()
        assert _one(features, _baking(member_of(_MODIN))) <= share


class TestRuledOut:
    def test_offline_tasks_cannot_install_at_run_time(self) -> None:
        offline = TaskFeatures(task="t", family="f", python="3.9", pip=("numpy",), network_mode="no-network")
        yields = _yields(offline)
        own = member_of(offline)
        assert own is not None
        allowed = yields.predict([_PLAIN, _baking(own)]).allowed[0]
        assert allowed.tolist() == [False, True]

    def test_offline_tasks_need_their_system_packages_baked(self) -> None:
        offline = TaskFeatures(task="t", family="f", apt=("cmake",), network_mode="no-network")
        allowed = _yields(offline).predict([_PLAIN, replace(_PLAIN, apt=("cmake",))]).allowed[0]
        assert allowed.tolist() == [False, True]

    def test_alpine_and_debian_do_not_mix_while_debian_and_ubuntu_do(self) -> None:
        debian = replace(_MODIN, distribution="debian", release="bookworm")
        places = [("alpine", None), ("ubuntu", "jammy"), ("debian", "bullseye"), ("debian", "bookworm")]
        environments = [replace(_PLAIN, distribution=name, release=release) for name, release in places]
        predictions = _yields(debian).predict(environments)
        assert predictions.allowed[0].tolist() == [False, True, True, True]
        assert np.diff(predictions.mean[0, 1:]).min() > 0

    def test_a_pair_that_is_ruled_out_predicts_zero(self) -> None:
        offline = replace(_MODIN, network_mode="no-network")
        predictions = _yields(offline).predict([_PLAIN])
        assert predictions.mean[0, 0] == 0
        assert not predictions.allowed[0, 0]


class TestIntervals:
    def test_the_band_holds_its_mean_and_depends_on_the_seed_only(self) -> None:
        yields = _yields(*(_at(f"0.{number}", f"t{number}") for number in range(5)))
        band = yields.band([_PLAIN], [0] * 5, seed=1)
        assert band.low < band.mean < band.high
        assert band == yields.band([_PLAIN], [0] * 5, seed=1)
        expected = float(yields.predict([_PLAIN]).mean[:, 0].mean())
        assert band.mean == pytest.approx(expected)

    def test_unserved_classes_count_as_failures(self) -> None:
        yields = _yields(*(_at(f"0.{number}", f"t{number}") for number in range(4)))
        whole = yields.band([_PLAIN], [0, 0, 0, 0], seed=1).mean
        assert yields.band([_PLAIN], [0, 0, -1, -1], seed=1).mean == pytest.approx(whole / 2)

    def test_a_prediction_says_what_it_rests_on(self) -> None:
        line = _yields(_MODIN).because(0, replace(_PLAIN, python="3.11", apt=()))
        assert line.startswith("at run time: ceiling 0.90")
        assert "interpreter x2" in line
        assert "system package x1" in line


class TestCeiling:
    def test_recorded_outcomes_move_a_task_and_its_family(self) -> None:
        good = replace(_MODIN, task="a", outcomes=(("x", "pass"),))
        bad = replace(_MODIN, task="b", outcomes=(("x", "fail"),))
        silent = replace(_MODIN, task="c")
        yields = _yields(good, bad, silent)
        share = dict(
            zip(
                (item.tasks[0] for item in yields.table.classes),
                yields.ceiling[:, 0] / yields.ceiling.sum(axis=1),
                strict=True,
            )
        )
        assert share["b"] < share["c"] < share["a"]

    def test_passing_only_with_network_is_a_failure_without(self) -> None:
        online = replace(_MODIN, outcomes=(("x", "network"),))
        offline = replace(online, network_mode="no-network")
        assert _yields(offline).ceiling[0, 1] > _yields(online).ceiling[0, 1]


class TestReading:
    @pytest.mark.parametrize(
        ("requirement", "pinned"),
        [
            ("numpy==1.23.1", True),
            ("numpy==1.*", False),
            ("numpy<2", False),
            ("numpy", False),
            ("x @ git+https://example.invalid/x", True),
            ("openssl=3.0.15", True),
        ],
    )
    def test_pins(self, requirement: str, pinned: bool) -> None:
        assert is_pinned(requirement) is pinned

    def test_versions_sort_as_people_number_them(self) -> None:
        names = ["0.10", "0.9", "2021.3", "1.0", "stable", "1.0rc1"]
        assert sorted(names, key=version_order) == ["0.9", "0.10", "1.0rc1", "1.0", "2021.3", "stable"]

    def test_no_two_versions_sort_alike(self) -> None:
        names = ["2.3", "2.03", "2.3.0", "v2.3", "x", "X"]
        assert len({version_order(name) for name in names}) == len(names)

    def test_minor_versions(self) -> None:
        assert minor("3.9") == 9
        assert minor("3.12.1") == 12
        assert minor("2.7") == -993
        assert np.isnan(minor(None))

    def test_a_task_without_packages_has_no_list(self) -> None:
        assert member_of(TaskFeatures(task="t", family="f", python="3.9")) is None
