"""Names of tree-sitter-bash's syntax nodes, as this package reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

OPERATORS = frozenset({"&&", "||", ";", "|", "|&", "&", ";;"})
_OPTION_LETTERS = {"e": "errexit", "u": "nounset", "x": "xtrace", "f": "noglob"}
WORD_TYPES = frozenset(
    {
        "word",
        "number",
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "brace_expression",
        "variable_assignment",
    }
)
NESTING = {
    "if_statement": "if",
    "elif_clause": "if",
    "else_clause": "if",
    "while_statement": "while",
    "case_statement": "case",
    "for_statement": "for",
    "c_style_for_statement": "for",
    "function_definition": "function",
    "subshell": "(",
    "compound_statement": "{",
    "negated_command": "!",
}

JOINING = frozenset({"list", "pipeline", "redirected_statement", "negated_command", "command_substitution"})
"""Nodes whose statements are joined by what stands between them."""

STATEMENTS = frozenset(
    {
        "command",
        "declaration_command",
        "unset_command",
        "test_command",
        "variable_assignment",
        "variable_assignments",
        "redirected_statement",
        "pipeline",
        "list",
        *NESTING,
    }
) - {"elif_clause", "else_clause"}


def is_word(node: Node) -> bool:
    """Return whether `node` stands for words of a command."""
    return node.type in WORD_TYPES


def set_options(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the names of the options that ``set`` with `arguments` turns on."""
    for index, argument in enumerate(arguments):
        if argument.startswith("-") and not argument.startswith("--"):
            yield from (_OPTION_LETTERS[letter] for letter in argument[1:] if letter in _OPTION_LETTERS)
            if argument.endswith("o") and index + 1 < len(arguments):
                yield arguments[index + 1]


def separated(node: Node) -> list[Node | str]:
    """Return the children of `node` with ``;`` behind each statement that nothing else separates."""
    result: list[Node | str] = []
    for child in node.children:
        result.append(child)
        if child.type in STATEMENTS and node.type not in JOINING:
            following = child.next_sibling
            if following is None or following.type not in OPERATORS:
                result.append(";")
    return result
