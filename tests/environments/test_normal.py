"""Normal forms: equal where no build can tell two environments apart, and nowhere else."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.environments.normal import Difference, normal_forms, read_dockerfile
from partition.environments.snapshot import content_files, legacy_files

PLAIN = "FROM python:3.12\nRUN apt-get update && apt-get install -y git\nCOPY seeds/ /seeds/\n"


def form(text: str) -> bytes:
    return read_dockerfile(text.encode()).form


def first_equal(tree, one: dict, other: dict, *, files=content_files) -> Difference | None:
    """Return the first difference whose removal makes two environments equal."""
    left, right = (normal_forms(files(tree(each))) for each in (one, other))
    return next((each for each in Difference if left[each] == right[each]), None)


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        (PLAIN, Difference.IGNORED),
        (PLAIN.replace("\n", "\r\n"), Difference.LINE_ENDINGS),
        (PLAIN.rstrip("\n"), Difference.FINAL_NEWLINE),
        (PLAIN + "\n\n", Difference.FINAL_NEWLINE),
        (PLAIN.rstrip("\n").replace("\n", "\r\n"), Difference.FINAL_NEWLINE),
        ("# made on Monday\n" + PLAIN, Difference.COMMENTS),
        (PLAIN.replace("RUN", "\n  run"), Difference.COMMENTS),
        (PLAIN.replace("-y git", "-y \\\n    # needed\n\n    git"), Difference.COMMENTS),
        (PLAIN.replace("RUN ", "RUN\t "), Difference.COMMENTS),
        (PLAIN + "# the end", Difference.COMMENTS),
        (PLAIN.replace("git", "git curl"), None),
        (PLAIN.replace("3.12", "3.11"), None),
        ("# syntax=docker/dockerfile:1\n" + PLAIN, None),
    ],
)
def test_two_dockerfiles_differ_by(tree, text, difference):
    assert first_equal(tree, {"Dockerfile": PLAIN}, {"Dockerfile": text}) is difference


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RUN cat <<'EOF' > /x\n# kept\nCOPY a b\nEOF\n", "RUN cat <<'EOF' > /x\nCOPY a b\nEOF\n"),
        ("COPY <<EOF /x\n# kept\nEOF\n", "COPY <<EOF /x\nEOF\n"),
        ("COPY <<EOF /x\n\nEOF\n", "COPY <<EOF /x\nEOF\n"),
        ("RUN echo 'a  b'\n", "RUN echo 'a b'\n"),
        ('RUN echo "a # b"\n', 'RUN echo "a "\n'),
        ("RUN echo a\\  b\n", "RUN echo a\\ b\n"),
        ("RUN echo a # not a comment of the Dockerfile\n", "RUN echo a\n"),
        ('CMD ["a", "b  c"]\n', 'CMD ["a", "b c"]\n'),
        ("CMD a b\n", 'CMD ["a", "b"]\n'),
        ("ENV A=1\n", "ENV A 1\n"),
        ("COPY --chown=1 a b\n", "COPY a b\n"),
        ("ONBUILD RUN a\n", "ONBUILD RUN b\n"),
        ("RUN <<EOF\na $X\nEOF\n", "RUN <<'EOF'\na $X\nEOF\n"),
    ],
)
def test_what_a_build_can_tell_apart_stays_apart(one, other):
    head = "FROM scratch\n"
    assert form(head + one) != form(head + other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("RUN <<-EOF\n\ta\nEOF\n", "RUN <<-EOF\na\nEOF\n"),
        ('CMD [ "a",  "b" ]\n', 'CMD ["a","b"]\n'),
        ("COPY  a   b\n", "copy a b\n"),
        ("ENV A=1   B=2\n", "ENV A=1 B=2\n"),
        ("onbuild RUN  a  b\n", "ONBUILD RUN a b\n"),
    ],
)
def test_what_no_build_can_tell_apart_is_equal(one, other):
    head = "FROM scratch\n"
    assert form(head + one) == form(head + other)


@pytest.mark.parametrize("text", ["RUN before from\nnonsense here\n", "FROM a\nRUN <<EOF\nopen\n", "\xff"])
def test_a_dockerfile_that_cannot_be_built_stays_as_it_is(text):
    data = text.encode("latin-1")
    reading = read_dockerfile(data)
    assert reading.form == hashlib.sha256(data).digest()
    assert reading.faults


def test_data_keeps_every_byte(tree):
    """A file with CR LF on purpose is not a checkout's work."""
    one = {"Dockerfile": PLAIN, "data.txt": "a\r\nb\r\n"}
    other = {"Dockerfile": PLAIN, "data.txt": "a\nb\n"}
    assert first_equal(tree, one, other) is None
    assert first_equal(tree, {"Dockerfile": PLAIN, "data": "x"}, {"Dockerfile": PLAIN, "data": "x\n"}) is None


def test_a_checkout_with_crlf_differs_only_by_line_endings(tree):
    """CASES 5: every line of every text file, and no byte of a binary one."""
    unix = {"Dockerfile": PLAIN, "run.sh": "#!/bin/sh\nexit 0\n", "a.json": "{}\n", "b.bin": b"\0\n\n"}
    windows = {
        path: text.replace("\n", "\r\n") if isinstance(text, str) else text for path, text in unix.items()
    }
    assert first_equal(tree, unix, windows) is Difference.LINE_ENDINGS
    mixed = {**windows, "a.json": "{}\n"}
    assert first_equal(tree, unix, mixed) is Difference.LINE_ENDINGS
    assert first_equal(tree, unix, {**mixed, "c.txt": "x\r\n"}) is None


def test_comments_of_a_script_are_left_alone(tree):
    one = {"Dockerfile": PLAIN, "run.sh": "#!/bin/sh\n# one\nexit 0\n"}
    other = {"Dockerfile": PLAIN, "run.sh": "#!/bin/sh\n# two\nexit 0\n"}
    assert first_equal(tree, one, other) is None
    assert first_equal(tree, one, {**one, "run.sh": one["run.sh"].rstrip()}) is Difference.FINAL_NEWLINE
    nested = {**one, "sub/Dockerfile": "# x\nFROM a\n"}
    assert first_equal(tree, nested, {**nested, "sub/Dockerfile": "FROM a\n"}) is None


def test_ignored_names_make_false_duplicates_of_the_legacy_key_only(tree):
    """CASES 3: an editor's leftovers are not among them."""
    one, other = {"Dockerfile": PLAIN}, {"Dockerfile": PLAIN, ".DS_Store": "x", "a/__pycache__/b": "y"}
    for files in (content_files, legacy_files):
        assert first_equal(tree, one, other, files=files) is Difference.IGNORED
    assert first_equal(tree, one, {**one, ".Dockerfile.swp": "x"}) is None


def test_large_files_are_data(tree):
    text = "x\n" * (1 << 19)
    one, other = ({"Dockerfile": PLAIN, "run.sh": text + end} for end in ("", "\n"))
    assert first_equal(tree, one, other) is None
    assert first_equal(tree, one, dict(one)) is Difference.IGNORED


LINES = st.lists(
    st.sampled_from(
        [
            "FROM a",
            "FROM a",
            "RUN b \\",
            "  c",
            "# d",
            "",
            "COPY e f",
            "RUN <<EOF",
            "EOF",
            "ENV G=1",
            "USER h  ",
            "ARG I",
        ]
    ),
    max_size=8,
)


@given(LINES)
@settings(derandomize=True, deadline=None, max_examples=200)
def test_comments_between_instructions_never_matter(lines):
    """Where a Dockerfile parses, so does one with a comment above it and a blank line below it."""
    text = "".join(f"{line}\n" for line in ["FROM a", *lines])
    if not read_dockerfile(text.encode()).faults:
        assert form(f"\n# comment\n{text}\n#\n") == form(text)
