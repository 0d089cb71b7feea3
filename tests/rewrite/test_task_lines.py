"""task.toml is changed line by line where its tables stand below their headers; the rest is tomlkit's."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.rewrite.task_config import edited
from partition.rewrite.task_lines import as_item, with_lines

CHANGES = {
    ("environment", "memory_mb"): 8192,
    ("environment", "workdir"): "/app",
    ("environment", "env", "A"): "it's",
    ("environment", "healthcheck", "command"): 'test "$(id -u)" = 0',
}


def test_new_keys_stand_behind_their_table_and_comments_stay_in_front_of_the_next() -> None:
    text = """\
version = "1.0"

[environment]  # where
memory_mb = 2048 # MB
# its last line

# whom
[agent]
timeout_sec = 3
"""
    assert (
        with_lines(text, CHANGES)
        == """\
version = "1.0"

[environment]  # where
memory_mb = 8192 # MB
# its last line
workdir = "/app"

[environment.env]
A = "it's"

[environment.healthcheck]
command = 'test "$(id -u)" = 0'

# whom
[agent]
timeout_sec = 3
"""
    )


def test_a_new_table_stands_behind_those_that_it_belongs_to_or_at_the_end() -> None:
    changes = {("environment", "env", "B"): "2", ("agent", "user"): "app"}
    text = "[environment]\n[environment.env]\nA = '1'\n\n\n[metadata]\nx = 1"
    wanted = text.replace("'1'\n", "'1'\nB = \"2\"\n") + '\n\n[agent]\nuser = "app"\n'
    assert with_lines(text, changes) == wanted
    assert with_lines("", changes) is None
    assert with_lines("", {("agent", "user"): "app"}) == '[agent]\nuser = "app"\n'


UNUSUAL = [
    "environment = {cpus = 1}\n",
    "environment.cpus = 1\n",
    '["environment"]\ncpus = 1\n',
    "[environment]\r\ncpus = 1\r\n",
    "[environment]\nenv = {B = '1'}\n",
    "[environment]\nenv.B = '1'\n",
    "[environment.env]\nB = '1'\n",
    "[metadata]\nx = '''\n[environment]\n'''\n",
    '[environment]\nmemory_mb = 2048\n[environment.healthcheck]\ncommand = """\ntrue"""\n',
    "[environment]\nx = [\n  [1],\n  [2]\n]\n",
]


@pytest.mark.parametrize("text", UNUSUAL, ids=range(len(UNUSUAL)))
def test_whatever_the_tables_look_like_the_document_says_what_it_said_and_the_changes(text: str) -> None:
    wanted = tomllib.loads(text)
    for path, value in CHANGES.items():
        table = wanted
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = value
    assert tomllib.loads(edited(text.encode(), CHANGES).decode()) == wanted


@settings(derandomize=True, deadline=None)
@given(st.one_of(st.text(), st.text("'\"\\ \tü"), st.integers(-9, 9), st.floats(0, 1e6)))
def test_values_are_written_as_tomlkit_writes_them(value: str | float) -> None:
    assert with_lines("", {("a", "b"): value}) == f"[a]\nb = {as_item(value).as_string()}\n"


LINES = st.sampled_from(
    [
        "",
        "# note",
        "x = 1",
        "y = 'a # b'",
        "z = [\n  1,\n  # two\n]",
        "memory_mb = 2048",
        "workdir = '/own' # own",
    ]
)
SECTIONS = st.lists(
    st.tuples(
        st.sampled_from(["environment", "environment.env", "metadata", "agent", "verifier.environment"]),
        st.lists(LINES, max_size=5, unique=True),
    ),
    max_size=4,
    unique_by=lambda section: section[0],
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(SECTIONS, st.sets(st.sampled_from(sorted(CHANGES)), min_size=1))
def test_every_line_that_no_value_is_replaced_on_stays_in_its_place(sections, paths) -> None:
    text = "".join(f"[{name}]\n" + "".join(f"{line}\n" for line in lines) for name, lines in sections)
    changes = {path: CHANGES[path] for path in sorted(paths)}
    result = with_lines(text, changes)
    if result is None:
        return
    after = iter(result.split("\n"))
    for line in text.removesuffix("\n").split("\n"):
        if not line.startswith(("memory_mb", "workdir")):
            assert line in after
    assert edited(text.encode(), changes) == result.encode()
