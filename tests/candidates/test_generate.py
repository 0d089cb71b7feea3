"""Which environments could exist for a set of tasks."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from partition.candidates.bases import base_of
from partition.candidates.clusters import items, jaccard_clusters
from partition.candidates.generate import Candidates, generate
from partition.candidates.merging import agreeing
from partition.candidates.pool import union_of_apt
from partition.candidates.sizes import predicted_size
from partition.environments.shared import PackageSet, SetMember, SharedEnvironment
from partition.features.classes import classes_of
from partition.features.model import TaskFeatures
from partition.yields.structural import StructuralYields
from partition.yields.table import ClassTable


def _task(number: int, **fields: object) -> TaskFeatures:
    repo = fields.pop("repo", "modin-project/modin")
    values = {"repo": repo, "family": str(repo), "python": "3.9", "version": "0.20", **fields}
    return TaskFeatures(task=f"t{number:03}", **values)  # type: ignore[arg-type]


def _table(*features: TaskFeatures) -> ClassTable:
    return ClassTable(classes_of(features))


def _mixed() -> list[TaskFeatures]:
    tasks = []
    for number in range(60):
        repo = ("modin-project/modin", "dask/dask", "getmoto/moto")[number % 3]
        tasks.append(
            _task(
                number,
                repo=repo,
                version=f"{number % 7}.0",
                python=("3.8", "3.9", None)[number % 5 % 3],
                apt=("cmake",) if number % 4 else ("libpq-dev",),
                pip=("numpy<2",) if number % 2 else ("pytest==7.4.0",),
            )
        )
    return tasks


class TestGenerated:
    def test_every_class_has_its_own_and_its_interpreters_candidate(self) -> None:
        table = _table(*_mixed())
        found = generate(table, {})
        assert (found.own >= 0).all()
        for row, index in enumerate(found.own.tolist()):
            environment = found.environments[index]
            assert environment.baked is not None
            assert environment.baked.members[0].family == table.features[row].family
            assert set(table.features[row].apt) <= set(environment.apt)
        assert all(found.environments[index].baked is None for index in found.interpreter.tolist())

    def test_own_environment_is_never_worse_than_the_interpreters(self) -> None:
        table = _table(*_mixed())
        found = generate(table, {})
        mean = StructuralYields(table).predict(found.environments).mean
        rows = np.arange(len(table.classes))
        assert (mean[rows, found.own] >= mean[rows, found.interpreter]).all()

    def test_names_are_unique_and_usable_as_path_components(self) -> None:
        names = [item.name for item in generate(_table(*_mixed()), {}).environments]
        assert len(names) == len(set(names))
        assert all(name == name.lower() and "/" not in name and not name.startswith(".") for name in names)

    def test_permuting_tasks_changes_nothing(self) -> None:
        tasks = _mixed()
        first = generate(_table(*tasks), {})
        random.Random(3).shuffle(tasks)
        assert _content(generate(_table(*tasks), {})) == _content(first)

    def test_a_recorded_commit_reaches_the_baked_list(self) -> None:
        found = generate(_table(_task(1)), {("modin-project/modin", "0.20"): "abc123"})
        assert {m.commit for e in found.environments if e.baked for m in e.baked.members} == {"abc123"}

    def test_declared_lists_merge_into_one_set_that_serves_all(self) -> None:
        tasks = [_task(n, repo=None, family="images", version="", pip=(f"package{n}",)) for n in range(12)]
        table = _table(*tasks)
        found = generate(table, {})
        sizes = [len(item.baked.members) for item in found.environments if item.baked]
        assert max(sizes) == 12
        widest = found.environments[
            int(np.argmax([len(e.baked.members) if e.baked else 0 for e in found.environments]))
        ]
        assert StructuralYields(table).predict([widest]).baked.all()


class TestMerging:
    def test_conflicting_pins_stay_apart(self) -> None:
        lists = [
            SetMember(family=name, version="", pip=pins)
            for name, pins in [("a", ("x==1",)), ("b", ("x==2",)), ("c", ("x<2", "y")), ("d", ("x>=2",))]
        ]
        assert [member.family for member in agreeing(lists)] == ["a", "c"]

    @pytest.mark.parametrize(
        ("first", "second", "agree"),
        [
            ("numpy<2", "numpy==1.26.4", True),
            ("numpy<2", "numpy==2.0.0", False),
            ("numpy==1.26.4", "numpy==1.26.4", True),
            ("NumPy==1.26.4", "numpy==1.26.5", False),
            ("numpy==1.*", "numpy==1.5", True),
            ("x @ https://a.invalid/x.whl", "x @ https://b.invalid/x.whl", False),
            ("not a requirement", "numpy==1", True),
            ("a==1.0rc1", "a>=1.0rc1", True),
        ],
    )
    def test_pairs(self, first: str, second: str, agree: bool) -> None:
        lists = [
            SetMember(family=name, version="", pip=(pin,)) for name, pin in [("a", first), ("b", second)]
        ]
        assert (len(agreeing(lists)) == 2) is agree
        assert (len(agreeing(lists[::-1])) == 2) is agree


class TestSystemPackages:
    def test_packages_that_do_not_coinstall_leave_the_less_wanted_out(self) -> None:
        tasks = [_task(n, apt=("libcurl4-gnutls-dev",)) for n in range(3)]
        tasks += [_task(n, apt=("libcurl4-openssl-dev",)) for n in range(3, 8)]
        assert union_of_apt(_table(*tasks), "", "") == ("libcurl4-openssl-dev",)

    def test_the_heavier_pin_stays(self) -> None:
        tasks = [_task(1, apt=("git=1:2.39",)), _task(2, apt=("git",)), _task(3, apt=("git",))]
        assert union_of_apt(_table(*tasks), "", "") == ("git",)

    def test_other_releases_packages_are_left_out(self) -> None:
        tasks = [
            _task(1, base="a", distribution="debian", release="bookworm", apt=("libgl1",)),
            _task(2, base="b", distribution="debian", release="bullseye", apt=("libgl1-mesa-glx",)),
        ]
        assert union_of_apt(_table(*tasks), "debian", "bookworm") == ("libgl1",)


class TestBases:
    def test_an_official_python_image_is_kept(self) -> None:
        features = _task(1, base="python:3.9-bookworm", distribution="debian", release="bookworm")
        base, python = base_of(features)
        assert (base.image, base.release, python) == ("python:3.9-bookworm", "bookworm", "3.9")

    def test_a_base_with_an_interpreter_put_onto_it_is_kept_too(self) -> None:
        base, python = base_of(_task(1, base="ubuntu:22.04", distribution="ubuntu", release="jammy"))
        assert (base.image, base.release, python) == ("ubuntu:22.04", "jammy", "3.9")

    def test_a_task_that_states_no_base_gets_the_official_image_of_its_interpreter(self) -> None:
        base, python = base_of(_task(1, base=None))
        assert (base.image, python) == ("python:3.9-slim-bookworm", "3.9")

    def test_a_task_without_python_keeps_its_base(self) -> None:
        features = _task(1, repo=None, family="f", python=None, base="node:20-bookworm")
        assert base_of(features)[0].image == "node:20-bookworm"

    def test_an_environment_file_decides_the_interpreter(self) -> None:
        base, python = base_of(_task(1, python=None, requirement_files=("environment.yml",)))
        assert base.image.startswith("condaforge/")
        assert python is None


class TestClusters:
    def test_partitions_go_from_fine_to_coarse(self) -> None:
        features = _table(*_mixed()).features
        partitions = jaccard_clusters(features)
        counts = [len(set(labels.tolist())) for labels in partitions]
        assert counts == sorted(counts, reverse=True)
        assert counts[0] > counts[-1]
        for fine, coarse in itertools.pairwise(partitions):
            pairs = set(zip(fine.tolist(), coarse.tolist(), strict=True))
            assert len(pairs) == len(set(fine.tolist()))

    def test_equal_specifications_share_a_cluster_at_every_threshold(self) -> None:
        same = _task(1)
        features = [same, replace(same, task="other"), _task(2, repo="dask/dask", python="3.8")]
        assert items(features[0]) == items(features[1])
        assert all(labels[0] == labels[1] for labels in jaccard_clusters(features))


class TestSizes:
    def test_more_inside_is_never_smaller(self) -> None:
        plain = SharedEnvironment(name="a", origin="own", base="python:3.9-slim-bookworm")
        listed = SetMember(family="f", version="", pip=("torch==2.0",))
        baked = replace(plain, baked=PackageSet(name="s", members=(listed,)))
        assert predicted_size(plain) < predicted_size(replace(plain, apt=("cmake",)))
        assert predicted_size(baked) > predicted_size(plain) + 4_000_000_000
        assert predicted_size(replace(plain, base="python:3.9")) > predicted_size(plain)


def _content(found: Candidates) -> object:
    return (
        found.environments,
        found.own.tolist(),
        found.interpreter.tolist(),
        found.family.tolist(),
        [labels.tolist() for labels in found.clusters],
    )


class TestSpecialBases:
    """Images that bring a toolchain, or nobody knows what."""

    def test_a_toolchain_image_is_kept_and_moving_off_it_costs(self) -> None:
        node = _task(1, repo=None, family="node", python=None, base="node:20-bookworm", distribution="debian")
        plain = _task(2, repo=None, family="debian", python=None, base="debian:12", distribution="debian")
        table = _table(node, plain)
        found = generate(table, {})
        mean = StructuralYields(table).predict(found.environments).mean
        row = next(r for r, item in enumerate(table.features) if item.family == "node")
        by_base = {item.base: mean[row, index] for index, item in enumerate(found.environments)}
        assert by_base["node:20-bookworm"] > 2 * by_base["debian:12"]

    def test_nothing_is_baked_onto_an_image_of_which_nothing_is_known(self) -> None:
        table = _table(_task(1, base="registry.invalid/task-1:latest", python=None, pip=("numpy",)))
        found = generate(table, {})
        assert all(item.baked is None and not item.apt for item in found.environments)
        assert found.environments[0].base == "registry.invalid/task-1:latest"


def test_a_list_inside_a_merged_set_is_served_by_it() -> None:
    small = _task(1, repo=None, family="a", version="", pip=("numpy",))
    wide = _task(2, repo=None, family="b", version="", pip=("numpy", "pandas"))
    table = _table(small, wide)
    found = generate(table, {})
    baked = StructuralYields(table).predict(found.environments).baked
    index = next(
        i
        for i, e in enumerate(found.environments)
        if e.baked and len(e.baked.members) == 1 and len(e.baked.pip) == 2
    )
    assert baked[:, index].all()
    held = found.environments[index].baked
    assert held is not None
    # the set-up of a plan goes by `holds`, the prediction by the same rule over all classes at once
    assert all(member is not None and held.holds(member) for member in table.members)
