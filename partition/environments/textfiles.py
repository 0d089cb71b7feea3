"""Text files that an image holds because the Dockerfile put them there, for commands that read them."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from partition.environments.prefixes import program, unwrap
from partition.tasks.model import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partition.environments.copies import Copied
    from partition.environments.script import Command
    from partition.environments.stages import Step
    from partition.tasks.model import Entry

_LARGEST = 1 << 20
"""Bytes of a file that is still read."""


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text, the file to name in messages, and the line of that file that the text starts on."""

    text: str
    where: str
    first: int = 1

    def place(self, line: int) -> str:
        """Return the place of the text's line `line`, counted from 1."""
        return f"{self.where}:{self.first + line - 1}"


class TextFiles:
    """Absolute path in the image -> text, as the build goes on."""

    def __init__(self, *, context: str, by_path: Mapping[str, Entry]) -> None:
        self._context = context
        self._by_path = by_path
        self._files: dict[str, Entry | Text] = {}

    def add(self, copied: Copied) -> None:
        """Remember a file that COPY or ADD brings."""
        if copied.content is not None:
            text = Text(copied.content, f"{self._context}/Dockerfile", copied.content_line)
            self._files[copied.destination] = text
        elif copied.source in self._by_path:
            self._files[copied.destination] = self._by_path[copied.source]

    def mount(self, step: Step) -> None:
        """Remember the files that ``RUN --mount=type=bind`` shows from the context."""
        for flag in step.instruction.flags:
            if not flag.startswith("--mount="):
                continue
            options = dict(each.partition("=")[::2] for each in flag.removeprefix("--mount=").split(","))
            target = options.get("target") or options.get("dst") or options.get("destination")
            source = options.get("source") or options.get("src") or ""
            if options.get("type", "bind") != "bind" or "from" in options or not target:
                continue
            base = posixpath.normpath("/" + source).strip("/")
            target = posixpath.normpath(posixpath.join(step.workdir, target))
            for path, entry in self._by_path.items():
                if path == base:
                    self._files[target] = entry
                elif not base or path.startswith(f"{base}/"):
                    self._files[posixpath.join(target, path[len(base) :].lstrip("/"))] = entry

    def write(self, command: Command) -> None:
        """Remember what ``cat > FILE <<EOF``, ``tee FILE <<EOF`` and ``echo TEXT > FILE`` write."""
        name = program(unwrap(command.words))
        if name not in {"cat", "tee", "echo"} or command.conditional:
            return
        outputs = [each.target for each in command.redirections if each.operator in {">", ">>", "1>"}]
        appends = any(each.operator == ">>" for each in command.redirections)
        bodies = [each for each in command.redirections if each.operator == "<<"]
        if name == "tee":
            outputs = [word for word in command.words[1:] if not word.text.startswith("-")]
            appends = any(word.text == "-a" for word in command.words)
        if len(outputs) != 1 or not outputs[0].static or command.directory is None:
            return
        path = posixpath.normpath(posixpath.join(command.directory, outputs[0].text))
        dockerfile = f"{self._context}/Dockerfile"
        if name == "echo" and all(word.static for word in command.words):
            words = [word.text for word in command.words[1:] if word.text not in {"-e", "-n"}]
            new = Text(" ".join(words).replace("\\n", "\n") + "\n", dockerfile, command.line)
        elif name != "echo" and len(bodies) == 1 and len(command.words) <= 2:
            new = Text(bodies[0].target.text, dockerfile, bodies[0].line)
        else:
            self._files.pop(path, None)
            return
        old = self._files.get(path)
        self._files[path] = (
            Text(old.text + new.text, old.where, old.first) if appends and isinstance(old, Text) else new
        )

    def read(self, path: str) -> Text | None:
        """Return the text of the file at `path`, or None where the Dockerfile did not put one there."""
        found = self._files.get(path)
        if found is None or isinstance(found, Text):
            return found
        if found.kind is not Kind.FILE or found.size > _LARGEST:
            return None
        try:
            text = found.read().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return None
        return Text(text, f"{self._context}/{found.path}")
