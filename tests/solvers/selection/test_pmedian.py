"""OR-Library p-median files: known optima, what the format means, and what is refused."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.documents import DocumentError
from solvers.result import Limits, Status
from solvers.selection.pmedian import load_pmedian
from solvers.selection.select import select

BENCH = Path(__file__).parents[3].parent / "shared" / "bench" / "pmed"
needs_bench = pytest.mark.skipif(
    not BENCH.is_dir(), reason="the OR-Library files are not at ../shared/bench/pmed"
)

PATH = b"4 3 2\n1 2 1\n2 3 1\n3 4 1\n"


def faults_of(data):
    with pytest.raises(DocumentError) as raised:
        load_pmedian(data)
    return [str(fault) for fault in raised.value.faults]


@needs_bench
@pytest.mark.parametrize("number", range(1, 6))
def test_the_published_optimum_is_found_and_proven(number):
    """Optima: pmedopt.txt of the OR-Library."""
    lines = (BENCH / "pmedopt.txt").read_text(encoding="utf-8").splitlines()
    published = {name: int(cost) for name, cost in map(str.split, lines[1:])}
    median = load_pmedian((BENCH / f"pmed{number}.txt").read_bytes())
    result = select(median.instance())
    assert result.status is Status.OPTIMAL
    assert median.cost(result) == median.least_cost(result) == published[f"pmed{number}"]


@needs_bench
@pytest.mark.parametrize("number", [2, 6])
def test_without_time_the_bound_does_not_exceed_the_optimum(number):
    median = load_pmedian((BENCH / f"pmed{number}.txt").read_bytes())
    optimum = median.cost(select(median.instance()))
    hasty = select(median.instance(), Limits(deterministic_time=0))
    assert 0 < median.least_cost(hasty) <= optimum <= median.cost(hasty)


def test_distances_are_shortest_paths():
    median = load_pmedian(PATH)
    assert median.distances.tolist() == [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    assert median.cost(select(median.instance())) == 2


def test_a_repeated_edge_overrides_the_earlier_one():
    """With the shortest of repeated edges pmed1 comes to 5718; its published optimum is 5819."""
    assert load_pmedian(b"2 2 1\n1 2 3\n2 1 9\n").distances[0, 1] == 9


@pytest.mark.parametrize("longest", [1, 3, 7, 320, 321, 999_999, 1_000_000])
def test_a_distance_is_a_whole_number_of_the_solvers_units(longest):
    median = load_pmedian(f"2 1 1\n1 2 {longest}\n".encode())
    units = (1 - median.instance().probabilities) * 10**6
    assert np.allclose(units, np.rint(units), rtol=0, atol=1e-6)
    result = select(median.instance())
    assert median.cost(result) == median.least_cost(result) == longest


def test_an_edge_of_length_0_joins():
    median = load_pmedian(b"3 2 1\n1 2 0\n2 3 5\n")
    assert median.distances.tolist() == [[0, 0, 5], [0, 0, 5], [5, 5, 0]]


def test_one_vertex_costs_nothing():
    median = load_pmedian(b"1 0 1\n")
    assert median.cost(select(median.instance())) == 0


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ":1: does not begin with the numbers of vertices, edges and medians"),
        (b"4 3\n", ":1: does not begin with the numbers of vertices, edges and medians"),
        (b"four 3 2\n", ":1: four is not a whole number"),
        (b"2 1 1\n1 2 3.5\n", ":2: 3.5 is not a whole number"),
        (b"2 1 1\n1 2 +-5\n", ":2: +-5 is not a whole number"),
        (b"2 1 0\n1 2 3\n", ":1: 0 medians, not 1 to 2"),
        (b"2 1 3\n1 2 3\n", ":1: 3 medians, not 1 to 2"),
        (b"0 0 1\n", ":1: 0 vertices, not 1 to 10000"),
        (b"9999999 1 1\n1 2 3\n", ":1: 9999999 vertices, not 1 to 10000"),
        (b"2 2 1\n1 2 3\n", ":1: 2 edges are announced, 1 follow"),
        (b"2 1 1\n\n1 3 3\n", ":3: vertex 3 is not one of 1 to 2"),
        (b"2 1 1\n1 2\n", ":2: 2 numbers, not two vertices and a length"),
        (b"2 1 1\n1 2 -3\n", ":2: a length of -3, not 0 to 1000000"),
        (b"3 1 1\n1 2 3\n", "no path joins vertex 1 and vertex 3 (1 such)"),
        (b"3 2 1\n1 2 900000\n2 3 900000\n", "a distance of 1800000, above 1000000: scale the lengths down"),
    ],
)
def test_a_fault_is_named_by_its_line(data, expected):
    assert expected in faults_of(data)


def test_every_fault_is_reported():
    assert faults_of(b"2 3 5\n1 7 3\n1 2 -3\n1\n") == [
        ":1: 5 medians, not 1 to 2",
        ":2: vertex 7 is not one of 1 to 2",
        ":3: a length of -3, not 0 to 1000000",
        ":4: 1 numbers, not two vertices and a length",
    ]


@given(st.text(alphabet="0123456789 -+.e\n", max_size=60).map(str.encode) | st.binary(max_size=40))
@settings(derandomize=True, deadline=None)
def test_whatever_the_bytes_are_the_answer_is_a_problem_or_its_faults(data):
    try:
        median = load_pmedian(data)
    except DocumentError:
        return
    assert 1 <= median.p <= len(median.distances)


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 50)), max_size=20),
    st.integers(1, 6),
)
@settings(derandomize=True, deadline=None)
def test_the_cost_is_that_of_the_best_choice_of_p_vertices(extra, p):
    """Against all choices, on a path of six vertices with more edges."""
    edges = [(v, v + 1, 10) for v in range(1, 6)] + [(a, b, length) for a, b, length in extra if a != b]
    text = "\n".join(" ".join(map(str, row)) for row in [(6, len(edges), p), *edges])
    median = load_pmedian(text.encode())
    best = min(
        int(median.distances[:, chosen].min(axis=1).sum()) for chosen in map(list, combinations(range(6), p))
    )
    result = select(median.instance())
    assert (median.cost(result), median.least_cost(result)) == (best, best)
