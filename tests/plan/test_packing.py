from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.plan.packing import VenvItem, packing
from partition.venvs.artefacts import Package
from partition.venvs.disk import Size
from partition.venvs.wheels import Sized, layer_bytes
from solvers.composition.compose import compose
from solvers.result import Status

PYTHONS = {"3.8": 50_000, "3.9": 60_000}


def sized(name: str, *, shared: bool = True) -> Sized:
    number = sum(map(ord, name)) % 97 + 1
    return Sized(
        key=name if shared else "",
        size=Size(files=number, folders=2, bytes=900 * number, records=1024 * number),
    )


ITEMS = st.builds(
    lambda python, names, copied: VenvItem(
        python=python,
        packages={Package(name, "1"): sized(name, shared=name not in copied) for name in sorted(names)},
    ),
    st.sampled_from(sorted(PYTHONS)),
    st.sets(st.sampled_from("abcdefgh"), max_size=6),
    st.sets(st.sampled_from("gh"), max_size=1),
)
VENVS = st.dictionaries(st.sampled_from(["v1", "v2", "v3", "v4", "v5"]), ITEMS, min_size=1)


@given(VENVS, st.data())
@settings(derandomize=True, deadline=None)
def test_any_venvs_together_are_as_large_as_their_layer_and_their_interpreters(venvs, data):
    made = packing(venvs, interpreters=PYTHONS, base_bytes=7, capacity=10**9)
    some = data.draw(st.sets(st.sampled_from(sorted(venvs))))
    items = {item for name in some for item in made.instance.venvs[made.venvs.index(name)]}
    found = int(made.instance.sizes[sorted(items)].sum())
    pythons = {venvs[name].python for name in some}
    assert found == layer_bytes(venvs[name].packages for name in some) + sum(map(PYTHONS.get, pythons))


def test_what_shares_nothing_needs_an_image_each_and_what_shares_fits_together():
    big = {name: VenvItem(python="3.9", packages={Package(name, "1"): sized("z" + name)}) for name in "ab"}
    size = compose(packing(big, interpreters=PYTHONS, base_bytes=0, capacity=10**9).instance).images[0].size
    apart = compose(packing(big, interpreters=PYTHONS, base_bytes=0, capacity=size - 1).instance)
    assert (apart.status, len(apart.images)) == (Status.OPTIMAL, 2)
    same = {name: VenvItem(python="3.9", packages={Package("a", "1"): sized("a")}) for name in ("one", "two")}
    whole = packing(same, interpreters=PYTHONS, base_bytes=0, capacity=10**9)
    assert whole.packages.count("a==1 a") == 1


def test_the_order_of_the_venvs_does_not_matter_and_an_unknown_interpreter_is_named():
    items = {name: VenvItem(python="3.8", packages={Package("a", "1"): sized("a")}) for name in ("x", "y")}
    first = packing(items, interpreters=PYTHONS, base_bytes=1, capacity=5)
    second = packing(dict(reversed(items.items())), interpreters=PYTHONS, base_bytes=1, capacity=5)
    assert (first.venvs, first.packages, first.instance.venvs) == (
        second.venvs,
        second.packages,
        second.instance.venvs,
    )
    with pytest.raises(KeyError, match=r"3\.8"):
        packing(items, interpreters={}, base_bytes=1, capacity=5)
