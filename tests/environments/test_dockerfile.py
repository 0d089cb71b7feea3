"""Laws of the Dockerfile parser, and the grammar's corners that folders of cases show badly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partition.environments.dockerfile import parse_dockerfile, render
from partition.environments.facts import read_facts
from partition.environments.instruction import DockerfileError
from partition.environments.outline import outline_of
from partition.environments.pieces import pieces_of
from partition.tasks.model import Tree

if TYPE_CHECKING:
    from partition.environments.dockerfile import Dockerfile
    from partition.environments.instruction import Instruction
    from partition.errors import Fault

HEADS = (
    "FROM x", "FROM y AS z", "RUN", "RUN", "RUN", "COPY", "ADD", "ENV A=", "ENV A", "ARG", "ARG B=1",
    "ONBUILD RUN", "ONBUILD COPY", 'SHELL ["bash","-c"]', "WORKDIR /x", "USER", "# c", "LABEL a=b", "CMD",
    "ENTRYPOINT", "EXPOSE", "VOLUME", "HEALTHCHECK CMD", "", "RUN --mount=type=bind,target=/x",
)  # fmt: skip
WORDS = (
    "<<EOF", "<<-E", "\nEOF\n", "\nE\n", " \\\n", "`\n", "#", "# c\n", '"a b"', "'x'", "$A", "${A:-b}", "&&",
    "||", "|", ";", "(", ")", "{", "}", "if true; then", "fi", "a", "b ", " ", "\t", "é", "\r\n", "`", "$(",
    "[", "]", '["a","b"]', "--x", '<<"X"', "\nX\n", ">", "apt-get install -y git", "pip install x",
    "git clone https://g/a/b", "for i in a b; do", "done", "bash -c ", "\\", '"', "'", "=", "cd /x", "A=1",
    "${", "cat", "\n\n", "$((1<<2))", "<(curl u)",
)  # fmt: skip

lines = st.builds(
    lambda head, words, end: f"{head} {' '.join(words)}{end}",
    st.sampled_from(HEADS),
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.sampled_from(("\n", "\n", "\n\n", "\r\n", "")),
)
files = st.builds(
    lambda first, rest: first + "FROM x\n" + "".join(rest),
    st.sampled_from(("", "", "# escape=`\n", "# syntax=docker/dockerfile:1\n", "\ufeff")),
    st.lists(lines, max_size=6),
)


def parse(text: str) -> Dockerfile:
    return parse_dockerfile(text, where="Dockerfile")


def read_or_refuse(text: str) -> tuple[tuple[Fault, ...], Dockerfile | None]:
    try:
        return (), parse(text)
    except DockerfileError as error:
        return error.faults, None


def without_lines(instruction: Instruction) -> tuple[object, ...]:
    heredocs = [(each.name, each.body, each.expand, each.chomp) for each in instruction.heredocs]
    return (instruction.original, instruction.flags, instruction.args, instruction.json, heredocs)


@settings(derandomize=True, deadline=None, max_examples=1500)
@given(files)
def test_any_text_is_read_or_refused_with_faults(text: str) -> None:
    """What is accepted renders to the same instructions and again to the same text; nothing crashes."""
    faults, dockerfile = read_or_refuse(text)
    if dockerfile is None:
        assert faults
        assert all(fault.where.startswith("Dockerfile") for fault in faults)
        return
    rendered = render(dockerfile)
    again = parse(rendered)
    assert list(map(without_lines, again.instructions)) == list(map(without_lines, dockerfile.instructions))
    assert render(again) == rendered
    outline_of(pieces_of(text, dockerfile))
    read_facts(dockerfile, Tree())


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.text(max_size=200))
def test_arbitrary_unicode_is_read_or_refused(text: str) -> None:
    faults, dockerfile = read_or_refuse("FROM x\nRUN " + text)
    if dockerfile is None:
        assert faults
    else:
        read_facts(dockerfile, Tree())


@settings(derandomize=True, deadline=None, max_examples=300)
@given(files)
def test_instructions_stand_on_their_lines(text: str) -> None:
    """Each instruction's first line holds its name, and its lines follow those of the one before."""
    _, dockerfile = read_or_refuse(text)
    if dockerfile is None:
        return
    lines = text.removeprefix("\ufeff").split("\n")
    end = 0
    for instruction in dockerfile.instructions:
        assert lines[instruction.start_line - 1].lstrip().upper().startswith(instruction.name)
        assert instruction.start_line > end
        assert [line for _, line in instruction.pieces] == sorted({line for _, line in instruction.pieces})
        end = instruction.end_line
        assert end <= len(lines)


def test_a_continued_instruction_is_joined_as_the_shell_sees_it() -> None:
    """Joining with newlines instead gives `syntax error near unexpected token &&` in a shell."""
    (_, run) = parse("FROM x\nRUN a \\\n  && b \\\n\n  # comment\n  && c\n").instructions
    assert run.args == ("a   && b   && c",)
    assert [run.line_at(run.original.index(word)) for word in "abc"] == [2, 3, 6]


def test_platform_arguments_are_known_to_from_and_after_arg() -> None:
    dockerfile = parse(
        "FROM --platform=$TARGETPLATFORM img-${TARGETARCH}\nENV A=$TARGETOS\nARG TARGETOS\nENV B=$TARGETOS\n"
    )
    assert (dockerfile.image, dockerfile.final.platform) == ("img-amd64", "linux/amd64")
    assert dict(dockerfile.final.end.environment) == {"A": "$TARGETOS", "B": "linux"}


def test_a_global_arg_is_seen_by_from_alone_until_a_stage_asks_for_it() -> None:
    dockerfile = parse("ARG V=1\nFROM x:$V\nENV A=${V:-none}\nARG V\nENV B=$V\nARG V=2\nENV C=$V\n")
    assert dockerfile.image == "x:1"
    assert dict(dockerfile.final.end.environment) == {"A": "${V:-none}", "B": "1", "C": "2"}


def test_values_on_one_env_line_see_the_line_before_only() -> None:
    dockerfile = parse("FROM x\nENV A=1\nENV A=2 B=$A\n")
    assert dict(dockerfile.final.end.environment) == {"A": "2", "B": "1"}


def test_a_stage_inherits_variables_folder_user_and_shell() -> None:
    text = 'FROM x AS one\nENV A=1\nARG B=2\nWORKDIR /w\nUSER u\nSHELL ["bash","-c"]\nFROM One\nRUN true\n'
    (step,) = parse(text).final.steps
    assert dict(step.variables) == {"A": "1", "B": "2"}
    assert (step.workdir, step.user, step.shell) == ("/w", "u", ("bash", "-c"))


def test_a_stage_name_hides_an_image_of_the_same_name_only_afterwards() -> None:
    dockerfile = parse("FROM python AS python\nFROM python\n")
    assert [stage.parent for stage in dockerfile.stages] == [None, 0]
    assert dockerfile.image == "python"


def test_heredocs_may_follow_onbuild() -> None:
    (_, onbuild, run) = parse("FROM x\nONBUILD RUN <<EOF\nCOPY no\nEOF\nRUN after\n").instructions
    assert onbuild.trigger is not None
    assert (onbuild.trigger.name, onbuild.heredocs[0].body, onbuild.heredocs[0].line) == (
        "RUN",
        "COPY no\n",
        3,
    )
    assert run.start_line == 5


def test_a_word_that_only_contains_a_marker_opens_no_heredoc() -> None:
    """BuildKit's lexer wants the marker to be a word: `cat<<EOF` is refused at the body."""
    with pytest.raises(DockerfileError) as caught:
        parse("FROM x\nRUN cat<<EOF\nbody\nEOF\n")
    assert [fault.where for fault in caught.value.faults] == ["Dockerfile:3", "Dockerfile:4"]


def test_another_frontend_may_know_other_flags() -> None:
    parse("# syntax=example.org/frontend:1\nFROM --invented=1 x\n")
    with pytest.raises(DockerfileError):
        parse("# syntax=docker.io/docker/dockerfile:1\nFROM --invented=1 x\n")


def test_faults_of_a_long_file_are_all_reported_in_order() -> None:
    text = "FROM x\n" + "import os\nRUN\n" * 200
    with pytest.raises(DockerfileError) as caught:
        parse(text)
    assert [fault.where for fault in caught.value.faults] == [f"Dockerfile:{line}" for line in range(2, 402)]


@pytest.mark.parametrize(
    "text",
    [
        "RUN " + "(" * 3000 + "a" + ")" * 3000,
        "RUN " + "$(" * 2000 + "a" + ")" * 2000,
        "RUN " + "if a; then " * 1000 + "b" + "; fi" * 1000,
        "RUN " + "bash -c " * 1000 + "a",
        "RUN cat " + " ".join(f"<<E{n}" for n in range(500)) + "\n" + "".join(f"E{n}\n" for n in range(500)),
        "ENV A=" + "${B:-" * 300 + "}" * 300,
        "COPY " + "[*" * 500 + " /x",
    ],
    ids=["parentheses", "substitutions", "ifs", "shells", "heredocs", "defaults", "patterns"],
)
def test_deep_nesting_neither_crashes_nor_hangs(text: str) -> None:
    dockerfile = parse("FROM x\n" + text)
    outline_of(pieces_of("FROM x\n" + text, dockerfile))
    read_facts(dockerfile, Tree())


def test_a_file_of_nothing_but_faults_ends_after_a_thousand_of_them():
    with pytest.raises(DockerfileError) as caught:
        parse_dockerfile("FROM a\n" + "not a Dockerfile\n" * 50_000, where="Dockerfile")
    assert len(caught.value.faults) < 1010
    assert any("1000 faults so far" in fault.what for fault in caught.value.faults)
