"""Shell scripts are read as a shell would read them, and never run."""

from __future__ import annotations

import pytest

from partition.environments.heredocs import extract_heredocs
from partition.environments.prefixes import unwrap
from partition.environments.runs import exec_form
from partition.environments.script import Script, Word
from partition.environments.shell import ends_open, parse_shell


def texts(script: Script) -> list[tuple[str, ...]]:
    return [command.texts for command in script.commands]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("a 'b c' \"d e\" f\\ g", ("a", "b c", "d e", "f g")),
        ('a "x\\"y" "\\$HOME" "\\n" \'\\n\'', ("a", 'x"y', "$HOME", "\\n", "\\n")),
        ("a $'x\\ty'", ("a", "x\ty")),
        ("a b'c'\"d\"e", ("a", "bcde")),
        ('a foo[x]==1 "n>=1,<2"', ("a", "foo[x]==1", "n>=1,<2")),
        ("a \\\n  b", ("a", "b")),
        ('a é 日本 "ü"', ("a", "é", "日本", "ü")),
        ("a {} \\;", ("a", "{}", ";")),
    ],
)
def test_quotes_are_resolved(script: str, words: tuple[str, ...]) -> None:
    assert texts(parse_shell(script)) == [words]


def test_known_variables_are_expanded_and_unquoted_ones_split() -> None:
    script = parse_shell('P="a b"; cmd $P "$P" x${P}y ${Q:-d} ${P:-d} $Q', variables={"Q": ""})
    assert texts(script)[-1] == ("cmd", "a", "b", "a b", "xa", "by", "d", "a", "b")


def test_what_only_a_running_shell_knows_is_kept_and_marked() -> None:
    (command,) = parse_shell("cmd $X ${X:-d} `date` $((1+2)) ok").commands[:1]
    assert [word.text for word in command.words if not word.static] == ["$X", "${X:-d}", "`date`", "$((1+2))"]
    assert command.variables == {"X"}


def test_variables_set_in_a_branch_are_unknown_behind_it() -> None:
    script = parse_shell("A=1; B=1; if x; then A=2; fi; cmd $A $B; (B=3); cmd $B; unset B; cmd $B")
    shown = [command.texts for command in script.commands if command.texts[:1] == ("cmd",)]
    assert shown == [("cmd", "$A", "1"), ("cmd", "1"), ("cmd", "$B")]


def test_a_value_that_doubles_itself_is_forgotten() -> None:
    script = parse_shell("A=xxxxxxxx;" + "A=$A$A;" * 60 + "cmd $A")
    assert texts(script)[-1] == ("cmd", "$A")


@pytest.mark.parametrize(
    ("script", "directories"),
    [
        ("a; cd /x; b; cd y; c; cd ..; d", ["/w", "/w", "/x", "/x", "/x/y", "/x/y", "/x"]),
        ("(cd /x && a) && b", ["/w", "/x", "/w"]),
        ("cd $U; a; cd /k; b", ["/w", None, None, "/k"]),
        ("cd ~; a; cd -; b", ["/w", None, None, None]),
        ("if t; then cd /x; fi; a", ["/w", "/w", None]),
        ("pushd /x; a; popd; b", ["/w", "/x", "/x", None]),
        ("cd /a | cd /b; c", ["/w", "/w", "/w"]),
    ],
)
def test_the_folder_is_followed_where_it_is_known(script: str, directories: list[str | None]) -> None:
    assert [command.directory for command in parse_shell(script, directory="/w").commands] == directories


@pytest.mark.parametrize(
    ("script", "nesting"),
    [
        ("if a; then b; else c; fi", [("if",), ("if",), ("if", "if")]),
        ("for x in $y; do a; done", [("for",)]),
        ("while a; do b; done", [("while",), ("while",)]),
        ("case $x in a) b;; esac", [("case",)]),
        ("f() { a; }", [("function", "{")]),
        ("! a", [("!",)]),
        ("bash -euxc 'a && b'", [(), ("bash -c",), ("bash -c",)]),
        ('sudo -E sh -c "a"', [(), ("sh -c",)]),
        ("eval 'a b'", [(), ("eval",)]),
        ("bash -s <<EOF\na\nEOF", [(), ("bash <<",)]),
        ("echo $(a)", [(), ("substitution",)]),
    ],
)
def test_constructs_around_a_command_are_named(script: str, nesting: list[tuple[str, ...]]) -> None:
    assert [command.nesting for command in parse_shell(script).commands] == nesting


def test_a_loop_over_known_words_is_read_once_for_each() -> None:
    assert texts(parse_shell("for p in a b; do pip install $p; done")) == [
        ("pip", "install", "a"),
        ("pip", "install", "b"),
    ]


def test_operators_and_conditions_are_told() -> None:
    script = parse_shell("a && b || c; d | e & f\ng")
    assert [command.operator for command in script.commands] == ["", "&&", "||", ";", "|", "&", ";"]
    assert [command.texts[0] for command in script.commands if command.conditional] == ["c"]


def test_options_that_are_set_are_seen() -> None:
    assert parse_shell("set -eux; set -o pipefail").options == {"errexit", "nounset", "xtrace", "pipefail"}


def test_two_heredocs_on_one_line_and_what_follows_them() -> None:
    script = parse_shell('cat <<A <<-"B" > f && pip install x\n1 $V\nA\n\t2\n\tB\nlast')
    first, second, third = script.commands
    assert [(each.operator, each.target.text, each.target.static) for each in first.redirections] == [
        ("<<", "1 $V\n", False),
        ("<<", "2\n", True),
        (">", "f", True),
    ]
    assert (second.texts, third.texts, third.line) == (("pip", "install", "x"), ("last",), 6)


@pytest.mark.parametrize(
    "text",
    ["echo '<<EOF'", 'echo "<<EOF"', "echo a # <<EOF", "echo $((1<<2))", "cat <<<word", "echo \\<<EOF"],
)
def test_what_looks_like_a_heredoc_and_is_none(text: str) -> None:
    assert extract_heredocs(f"{text}\nEOF") == (f"{text}\nEOF", {})


def test_blanking_heredocs_keeps_length_and_lines() -> None:
    text = "cat <<'É X' <<B\nbody é\nÉ X\n\tmore\nB\nend"
    blanked, bodies = extract_heredocs(text)
    assert len(blanked) == len(text)
    assert blanked.count("\n") == text.count("\n")
    assert [body.text for body in bodies.values()] == ["body é\n", "\tmore\n"]


def test_a_syntax_error_is_a_problem_with_a_line_and_the_rest_is_read() -> None:
    script = parse_shell("pip install a\n\n(pip install b")
    assert [command.texts[-1] for command in script.commands if command.texts[0] == "pip"] == ["a", "b"]
    assert [line for line, _ in script.problems] == [3]


def test_units_that_differ_in_spelling_have_equal_tokens() -> None:
    one = parse_shell("if [ -f x ]; then # why\n  pip   install 'a'\nfi")
    other = parse_shell('if [ -f "x" ]\nthen pip install a; fi')
    assert one.units[0].tokens == other.units[0].tokens
    assert one.units[0].raw != other.units[0].raw


def test_statements_on_lines_of_their_own_are_not_one_statement() -> None:
    assert parse_shell("{ a\nb; }").units[0].tokens == parse_shell("{ a; b\n}").units[0].tokens
    assert parse_shell("{ a\nb; }").units[0].tokens != parse_shell("{ a b; }").units[0].tokens


@pytest.mark.parametrize(
    ("text", "operator"),
    [("a &&", "&&"), ("a || \n", "||"), ("a |", "|"), ("cat <<EOF &&", "&&"), ("echo 'a &&'", None),
     ("a # b &&", None), ("a", None), ("a \\&\\&", None)],
)  # fmt: skip
def test_an_operator_at_the_end_is_found_unless_it_is_text(text: str, operator: str | None) -> None:
    assert ends_open(text) == operator


def test_the_exec_form_has_its_words_as_they_are_and_its_shell_looked_into() -> None:
    script = exec_form(["bash", "-c", "cd /x && a $H"], line=7)
    assert [(command.texts, command.line) for command in script.commands] == [
        (("bash", "-c", "cd /x && a $H"), 7),
        (("cd", "/x"), 7),
        (("a", "$H"), 7),
    ]
    assert texts(exec_form(["a", "$B", "c && d"], line=1)) == [("a", "$B", "c && d")]


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("sudo -u x -E apt-get install", "apt-get install"),
        ("env A=1 B=2 pip install", "pip install"),
        ("time nice -n 5 make", "make"),
        ("timeout -k 5 60 make", "make"),
        ("conda run -n env --no-capture-output pip install", "pip install"),
        ("xargs -n 1 apt-get install", "apt-get install"),
        ("uv run --with x pytest", "pytest"),
        ("sudo", ""),
        ("conda create -n x", "conda create -n x"),
    ],
)
def test_commands_that_run_others_are_unwrapped(command: str, inner: str) -> None:
    words = unwrap([Word(text=text) for text in command.split()])
    assert " ".join(word.text for word in words) == inner
