"""Shell scripts, read and never run: the only module that knows the grammar package behind it."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

import tree_sitter_bash
from tree_sitter import Language, Parser

from partition.environments.grammar import (
    NESTING,
    OPERATORS,
    WORD_TYPES,
    is_word,
    separated,
    set_options,
)
from partition.environments.heredocs import extract_heredocs
from partition.environments.positions import character_counter, line_counter
from partition.environments.prefixes import inner_script
from partition.environments.script import Command, Redirection, Script, Unit, Word
from partition.environments.words import LONGEST_VALUE, Scope, fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tree_sitter import Node, Tree

_DEEPEST = 60
"""Constructs inside one another that are followed."""

_LONGEST_LOOP = 50
"""Values of a ``for`` whose body is read once each."""


def parse_shell(
    text: str,
    *,
    line_at: Callable[[int], int] | None = None,
    variables: Mapping[str, str] | None = None,
    directory: str | None = "/",
) -> Script:
    """Parse `text` as a shell script.

    Parameters
    ----------
    text
        As the shell gets it: continuations already joined by Docker, or a script with newlines.
    line_at
        Line of the file for an offset in `text`; by default lines are counted from 1.
    variables
        Values known before the script starts.
    directory
        Where it starts.

    Returns
    -------
    Script
        What could be read; where the grammar gives up, `problems` says so and reading goes on behind it.
    """
    reader = _Reader(text, line_at or line_counter(text))
    reader.scope = Scope(dict(variables or {}))
    reader.directory = directory
    return reader.read()


def ends_open(text: str) -> str | None:
    """Return the operator that `text` ends in although a command must follow it, or None."""
    stripped = text.rstrip()
    if not stripped.endswith(("&&", "||", "|")):
        return None
    blanked, _ = extract_heredocs(stripped)
    last = len(stripped.encode()) - 1
    node = _tree(blanked).root_node.descendant_for_byte_range(last, last + 1)
    return node.type if node is not None and node.type in {"&&", "||", "|"} else None


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def _tree(text: str) -> Tree:
    return _parser().parse(text.encode("utf-8", "surrogatepass"))


class _Reader:
    """Walks one syntax tree; variables and directory change as the script goes on."""

    def __init__(self, text: str, line_at: Callable[[int], int]) -> None:
        self.text = text
        self.line_of = line_at
        blanked, self.bodies = extract_heredocs(text)
        self.data = blanked.encode("utf-8", "surrogatepass")
        self.offset = character_counter(blanked)
        self.markers = sorted(self.bodies)
        self.tree = _parser().parse(self.data)
        self.scope = Scope({})
        self.directory: str | None = "/"
        self.options: set[str] = set()
        self.problems: list[tuple[int, str]] = []
        self.commands: list[Command] = []

    def read(self) -> Script:
        units = []
        for operator, node in self.statements(self.tree.root_node):
            self.commands = []
            tokens = tuple(self.tokens(node))
            self.visit(node, operator, (), 0)
            units.append(
                Unit(
                    operator=operator,
                    raw=self.raw(node),
                    tokens=tokens,
                    commands=tuple(self.commands),
                    line=self.line(node),
                    start=self.offset(node.start_byte),
                    end=self.offset(node.end_byte),
                )
            )
        if self.tree.root_node.has_error:
            self.find_problems()
        return Script(
            units=tuple(units),
            options=frozenset(self.options),
            problems=tuple(dict.fromkeys(sorted(self.problems))),
        )

    def statements(self, node: Node) -> Iterator[tuple[str, Node]]:
        """Yield (operator before, statement) of a list or program, lists inside lists flattened."""
        operator = ""
        stack: list[Node] = list(reversed(node.children))
        while stack:
            child = stack.pop()
            if child.type in OPERATORS:
                operator = child.type
            elif child.type == "list" or (child.type == "ERROR" and child.child_count):
                stack.extend(reversed(child.children))
            elif child.is_named and child.type != "comment" and not child.is_missing:
                yield operator, child
                operator = ";"

    def visit(self, node: Node, operator: str, nesting: tuple[str, ...], depth: int) -> None:
        if depth > _DEEPEST:
            self.problems.append((self.line(node), "constructs nested too deeply to be read"))
            return
        match node.type:
            case "command" | "declaration_command" | "unset_command" | "test_command":
                self.command(node, operator, nesting, [])
            case "variable_assignment" | "variable_assignments":
                self.command(node, operator, nesting, [])
            case "redirected_statement":
                self.redirected(node, operator, nesting, depth)
            case "for_statement":
                self.loop(node, operator, nesting, depth)
            case "pipeline":
                for joined, child in self.statements(node):
                    # each runs in a shell of its own
                    directory, scope = self.directory, self.scope
                    self.scope = Scope(dict(scope.variables))
                    self.visit(child, joined or operator, nesting, depth + 1)
                    self.directory, self.scope = directory, scope
            case _:
                label = NESTING.get(node.type)
                inside = (*nesting, label) if label else nesting
                self.inner(node, operator, inside, depth, own_shell=node.type == "subshell")

    def inner(
        self, node: Node, operator: str, nesting: tuple[str, ...], depth: int, *, own_shell: bool
    ) -> None:
        """Visit the statements in a construct; what a subshell or a branch changes is unknown behind it."""
        directory, scope = self.directory, self.scope
        branch = any(each in {"if", "while", "case", "for", "function"} for each in nesting[-1:])
        if own_shell or branch:
            self.scope = Scope(dict(scope.variables))
        first = True
        for joined, child in self.statements(node):
            self.visit(child, operator if first else joined, nesting, depth + 1)
            first = False
        if own_shell:
            self.directory, self.scope = directory, scope
        elif branch:
            self.directory = directory if self.directory == directory else None
            changed = self.scope.variables
            self.scope = Scope({k: v for k, v in scope.variables.items() if changed.get(k) == v})

    def loop(self, node: Node, operator: str, nesting: tuple[str, ...], depth: int) -> None:
        name = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        values = [word for each in node.children_by_field_name("value") for word in self.fields(each)]
        if name is None or body is None:
            return
        known = values and all(word.static for word in values) and len(values) <= _LONGEST_LOOP
        known = known and "for" not in nesting
        key = self.source(name)
        if not known:
            self.scope.variables.pop(key, None)
            self.inner(body, operator, (*nesting, "for"), depth, own_shell=False)
            return
        for word in values:
            self.scope = Scope({**self.scope.variables, key: word.text})
            self.inner(body, operator, (*nesting, "for"), depth, own_shell=False)

    def redirected(self, node: Node, operator: str, nesting: tuple[str, ...], depth: int) -> None:
        body = node.child_by_field_name("body")
        redirects = node.children_by_field_name("redirect")
        if body is None or body.type in {"command", "declaration_command", "variable_assignment"}:
            self.command(body or node, operator, nesting, redirects)
            return
        self.visit(body, operator, nesting, depth + 1)

    def command(self, node: Node, operator: str, nesting: tuple[str, ...], redirects: Sequence[Node]) -> None:
        assignments: list[tuple[str, Word]] = []
        words: list[Word] = []
        children = [node] if node.type == "variable_assignment" else node.children
        redirections = [self.redirection(each) for each in redirects]
        for child in children:
            if child.type == "variable_assignment":
                assignments.append(self.assignment(child))
            elif child.type in {"file_redirect", "herestring_redirect", "heredoc_redirect"}:
                redirections.append(self.redirection(child))
            elif child.type == "command_name":
                words += [word for each in child.children for word in self.fields(each)]
            elif child.type not in {"comment", "ERROR"} and not child.is_missing:
                words += self.fields(child)
        command = Command(
            words=tuple(words),
            assignments=tuple(assignments),
            redirections=tuple(redirections),
            operator=operator,
            nesting=nesting,
            directory=self.directory,
            line=self.line(node),
            variables=frozenset(self.scope.take_used()),
        )
        self.commands.append(command)
        self.commands += nested_commands(
            command, lambda offset: self.nested_line(node, offset), self.scope.variables
        )
        self.substitutions(node, nesting)
        self.apply(command)

    def apply(self, command: Command) -> None:
        """Let the command change what the rest of the script sees."""
        texts = command.texts
        if command.assignments and (not texts or texts[0] in {"export", "declare", "readonly", "local"}):
            for name, value in command.assignments:
                if value.static and not command.conditional and len(value.text) <= LONGEST_VALUE:
                    self.scope.variables[name] = value.text
                else:
                    self.scope.variables.pop(name, None)
        elif texts[:1] == ("set",):
            self.options.update(set_options(texts[1:]))
        elif texts[:1] == ("unset",):
            for name in texts[1:]:
                self.scope.variables.pop(name, None)
        elif texts[:1] in {("cd",), ("pushd",)}:
            targets = [word for word in command.words[1:] if not word.text.startswith("-")]
            known = len(targets) == 1 and targets[0].static and not targets[0].text.startswith("~")
            base = self.directory if known and not targets[0].text.startswith("/") else "/"
            self.directory = (
                posixpath.normpath(posixpath.join(base, targets[0].text)) if known and base else None
            )
        elif texts[:1] == ("popd",):
            self.directory = None

    def substitutions(self, node: Node, nesting: tuple[str, ...]) -> None:
        """Visit the commands inside ``$(...)``, which run in a shell of their own."""
        stack = [
            child
            for child in node.children
            if child.named_child_count or child.type == "command_substitution"
        ]
        while stack:
            child = stack.pop()
            if child.type in {"command_substitution", "process_substitution"}:
                self.inner(child, "", (*nesting, "substitution"), len(nesting), own_shell=True)
            else:
                stack.extend(reversed(child.children))

    def assignment(self, node: Node) -> tuple[str, Word]:
        name, _, _ = self.source(node).partition("=")
        value = node.child_by_field_name("value")
        if value is None:
            return name, Word(text="", line=self.line(node))
        parts = list(self.fields(value, split=False))
        text = "".join(part.text for part in parts)
        return name, Word(text=text, static=all(part.static for part in parts), line=self.line(node))

    def redirection(self, node: Node) -> Redirection:
        operator = "".join(self.source(child) for child in node.children if not is_word(child))
        marker = next((child.start_byte for child in node.children if child.type == "<"), None)
        body = self.bodies.get(self.offset(marker)) if marker is not None else None
        if body is not None:
            line = self.line_of(body.start)
            return Redirection(
                operator="<<", target=Word(text=body.text, static=body.quoted, line=line), line=line
            )
        targets = [word for child in node.children if is_word(child) for word in self.fields(child)]
        target = targets[0] if targets else Word(text="", static=False, line=self.line(node))
        return Redirection(operator=operator, target=target, line=self.line(node))

    def tokens(self, node: Node) -> Iterator[str]:
        """Yield the text of `node` without comments and formatting; a newline between statements is ``;``."""
        stack: list[Node | str] = [node]
        last = ""
        while stack:
            child = stack.pop()
            if isinstance(child, str):
                found = [child]
            elif child.type == "comment":
                continue
            elif child.type == "<" and (body := self.bodies.get(self.offset(child.start_byte))):
                stack.pop()
                found = [f"<<{body.text}"]
            elif child.type == "variable_assignment":
                name, value = self.assignment(child)
                found = [f"{name}={value.text}"]
            elif child.type in WORD_TYPES:
                found = [word.text for word in self.fields(child)]
            elif child.children:
                stack.extend(reversed(separated(child)))
                continue
            else:
                found = [self.source(child)]
            for text in found:
                if text and not (text == last == ";"):
                    yield text
                    last = text

    def find_problems(self) -> None:
        stack = [self.tree.root_node]
        while stack:
            node = stack.pop()
            if node.is_missing:
                self.problems.append((self.line(node), f"{node.type} expected"))
            elif node.type == "ERROR":
                shown = " ".join(self.source(node).split())[:40]
                self.problems.append((self.line(node), f"not understood: {shown}"))
            elif node.has_error:
                stack.extend(node.children)

    def fields(self, node: Node, *, split: bool = True) -> list[Word]:
        return fields(node, self.data, self.scope, line=self.line(node), split=split)

    def nested_line(self, node: Node, offset: int) -> int:
        """Return the line of an offset in the script that the last argument of `node` holds."""
        last = node.children[-1] if node.children else node
        return self.line_of(min(self.offset(last.start_byte) + 1 + offset, len(self.text)))

    def source(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def raw(self, node: Node) -> str:
        start, end = self.offset(node.start_byte), self.offset(node.end_byte)
        inside = self.markers[bisect_left(self.markers, start) : bisect_left(self.markers, end)]
        return self.text[start:end] + "".join(self.bodies[marker].text for marker in inside)

    def line(self, node: Node) -> int:
        return self.line_of(self.offset(node.start_byte))


def nested_commands(
    command: Command, line_at: Callable[[int], int], variables: Mapping[str, str]
) -> tuple[Command, ...]:
    """Return the commands of the script that ``bash -c``, ``eval`` or a shell's heredoc is given."""
    found = inner_script(command)
    if found is None or len(command.nesting) > _DEEPEST:
        return ()
    label, text, line = found
    script = parse_shell(
        text,
        line_at=line_at if line is None else line_counter(text, line),
        variables=variables,
        directory=command.directory,
    )
    return tuple(
        Command(
            words=each.words,
            assignments=each.assignments,
            redirections=each.redirections,
            operator=each.operator or command.operator,
            nesting=(*command.nesting, label, *each.nesting),
            directory=each.directory,
            line=each.line,
            variables=each.variables,
        )
        for each in script.commands
    )
