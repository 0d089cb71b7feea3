"""COPY and ADD put files where Docker would."""

from __future__ import annotations

import pytest

from partition.environments.copies import read_copy
from partition.environments.dockerfile import parse_dockerfile
from partition.tasks.model import Entry, Kind

CONTEXT = (
    Entry(path="a b.txt", size=1),
    Entry(path="dir", kind=Kind.DIRECTORY),
    Entry(path="dir/deep", kind=Kind.DIRECTORY),
    Entry(path="dir/deep/x.csv", size=2),
    Entry(path="dir/y.csv", size=3, mode=0o755),
    Entry(path="one.txt", size=4),
    Entry(path="two.txt", size=5),
    Entry(path="w[1].txt", size=6),
)


def copied(line: str, folders: tuple[str, ...] = ()) -> dict[str, str]:
    (step,) = parse_dockerfile(f"FROM x\nWORKDIR /w\n{line}", where="D").final.steps[1:]
    return {each.destination: each.source for each in read_copy(step, CONTEXT, folders=folders).files}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("COPY one.txt /x", {"/x": "one.txt"}),
        ("COPY one.txt /x/", {"/x/one.txt": "one.txt"}),
        ("COPY one.txt .", {"/w/one.txt": "one.txt"}),
        ("COPY one.txt x/", {"/w/x/one.txt": "one.txt"}),
        ("COPY ./one.txt two.txt /x/", {"/x/one.txt": "one.txt", "/x/two.txt": "two.txt"}),
        ("COPY ../../one.txt /x", {"/x": "one.txt"}),
        ("COPY dir /x", {"/x/deep/x.csv": "dir/deep/x.csv", "/x/y.csv": "dir/y.csv"}),
        ("COPY dir/ /x/", {"/x/deep/x.csv": "dir/deep/x.csv", "/x/y.csv": "dir/y.csv"}),
        ("COPY *.txt /x/", {f"/x/{name}": name for name in ("a b.txt", "one.txt", "two.txt", "w[1].txt")}),
        ("COPY d*/y.csv /x/", {"/x/y.csv": "dir/y.csv"}),
        ("COPY o?e.txt t[wx]o.txt /x/", {"/x/one.txt": "one.txt", "/x/two.txt": "two.txt"}),
        ("COPY w[[]1].txt /x", {"/x": "w[1].txt"}),
        ('COPY ["a b.txt", "/x/"]', {"/x/a b.txt": "a b.txt"}),
        ("COPY --link --chown=1:1 one.txt two.txt /x/", {"/x/one.txt": "one.txt", "/x/two.txt": "two.txt"}),
        ("COPY --parents dir/y.csv /x/", {"/x/dir/y.csv": "dir/y.csv"}),
        ("COPY --exclude=*.csv dir /x", {"/x/deep/x.csv": "dir/deep/x.csv"}),
        ("COPY --from=img one.txt /x", {}),
        ("COPY <<a <<b /x/\n1\na\n2\nb", {"/x/a": "a", "/x/b": "b"}),
    ],
)
def test_files_land_where_docker_puts_them(line: str, expected: dict[str, str]) -> None:
    assert copied(line) == expected


def test_a_file_copied_to_an_existing_folder_lands_inside() -> None:
    assert copied("COPY one.txt /x", folders=("/x",)) == {"/x/one.txt": "one.txt"}


def test_sources_that_match_nothing_and_remote_ones_are_told() -> None:
    (step,) = parse_dockerfile("FROM x\nADD gone.txt *.md https://h.org/f /x/", where="D").final.steps
    result = read_copy(step, CONTEXT)
    assert (result.files, result.missing, result.remote) == ((), ("gone.txt", "*.md"), ("https://h.org/f",))


def test_modes_follow_chmod() -> None:
    (step,) = parse_dockerfile("FROM x\nCOPY --chmod=640 one.txt dir/y.csv /x/", where="D").final.steps
    assert [each.mode for each in read_copy(step, CONTEXT).files] == [0o640, 0o640]


def test_a_heredocs_variables_are_expanded_unless_quoted() -> None:
    text = 'FROM x\nENV V=1\nCOPY <<a <<"b" /x/\n$V "q"\na\n$V\nb\n'
    (step,) = parse_dockerfile(text, where="D").final.steps[1:]
    assert [each.content for each in read_copy(step, ()).files] == ['1 "q"\n', "$V\n"]
