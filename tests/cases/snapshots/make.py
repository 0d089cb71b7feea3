"""Make the golden vectors beside this script, by asking both Harbors: ``python make.py``.

Each vector is a task directory as JSON (text, base64, link or directory for each path) with the keys that
Harbor gives to its ``environment/``. Needs what ``tests/harbor_venvs.py`` makes.
"""

from __future__ import annotations

import base64
import json
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]

DOCKERFILE = "FROM python:3.12-slim\nRUN pip install numpy==1.26.4\n"
LINK = "link:"
FOLDER = None

CASES: dict[str, dict[str, str | bytes | None]] = {
    "one-dockerfile": {"Dockerfile": DOCKERFILE},
    "no-final-newline": {"Dockerfile": DOCKERFILE.rstrip("\n")},
    "crlf": {"Dockerfile": DOCKERFILE.replace("\n", "\r\n")},
    "with-comment": {"Dockerfile": "# made by a patcher\n" + DOCKERFILE},
    "nested-seeds": {
        "Dockerfile": DOCKERFILE,
        "seeds/a/data.bin": bytes(range(256)) * 4,
        "seeds/b/run.sh": "#!/bin/sh\nexit 0\n",
        "seeds/empty": FOLDER,
        "seeds/nothing.txt": b"",
    },
    "sort-order": {
        "Dockerfile": DOCKERFILE,
        "a/b": "1",
        "a.b": "2",
        "a-b": "3",
        "a b": "4",
        "a/b.c/d": "5",
        "a/b-c": "6",
        "a0": "7",
    },
    "case-only": {"Dockerfile": DOCKERFILE, "readme": "1", "README": "2", "Readme/x": "3", "dockerfile": "4"},
    "non-ascii": {
        "Dockerfile": DOCKERFILE,
        "\u00e9": "composed",
        "e\u0301": "decomposed",
        "日本語/データ": "3",
        "\uff21": "fullwidth",
        "\U0001d4b3": "beyond the basic plane",
    },
    "ignored-names": {
        "Dockerfile": DOCKERFILE,
        ".DS_Store": "mac",
        "src/.DS_Store": "mac",
        ".git/HEAD": "ref: refs/heads/main\n",
        "src/.git": "gitdir: ../../.git/modules/src\n",
        "src/__pycache__/x.cpython-312.pyc": b"\x00\x01",
        "src/deep/__pycache__/deeper/y": "1",
        "src/x.pyc": b"\x02",
        "src/.gitignore": "*.pyc\n",
    },
    "editor-leftovers": {
        "Dockerfile": DOCKERFILE,
        ".Dockerfile.swp": b"b0VIM",
        "run.sh~": "old",
        "#x#": "auto",
    },
    "dockerignored": {"Dockerfile": DOCKERFILE, ".dockerignore": "secret\n", "secret": "hidden"},
    "links": {
        "Dockerfile": DOCKERFILE,
        "to-file": LINK + "Dockerfile",
        "lib/libx.so": LINK + "libx.so.1",
        "lib/libx.so.1": b"ELF",
        "lib/up": LINK + "../Dockerfile",
        "to-folder": LINK + "lib",
        "through": LINK + "to-folder/libx.so",
        "broken": LINK + "nowhere",
        "loop": LINK + "loop",
        "here": LINK + ".",
        "slash": LINK + "Dockerfile/",
        "to-instruction": LINK + "../instruction.md",
        ".git": LINK + "lib/libx.so.1",
    },
    "dockerfile-is-a-link": {"Dockerfile": LINK + "../Dockerfile"},
    "empty": {},
    "empty-folders-only": {"a/b": FOLDER},
    "empty-with-image": {},
    "ignored-only-with-image": {".DS_Store": "mac"},
}
IMAGES = {"empty-with-image": "python:3.12", "ignored-only-with-image": "registry.example/é:1"}


def entries(files: dict[str, str | bytes | None]) -> list[dict[str, Any]]:
    """Return the task directory of one case."""
    task = [
        {"path": "Dockerfile", "text": "FROM scratch\n"},
        {"path": "environment", "directory": True},
        {"path": "instruction.md", "text": "Do it.\n"},
    ]
    folders = {"environment"}
    for path, content in files.items():
        whole = f"environment/{path}"
        parents = [parent.as_posix() for parent in Path(whole).parents if parent.as_posix() != "."]
        if content is FOLDER:
            parents.append(whole)
        elif isinstance(content, bytes):
            task.append({"path": whole, "base64": base64.b64encode(content).decode()})
        elif content.startswith(LINK):
            task.append({"path": whole, "link": content.removeprefix(LINK)})
        else:
            task.append({"path": whole, "text": content})
        task += [{"path": folder, "directory": True} for folder in sorted({*parents} - folders)]
        folders.update(parents)
    return sorted(task, key=lambda entry: entry["path"])


def write(task: list[dict[str, Any]], root: Path) -> None:
    """Write a task directory to disk."""
    for entry in task:
        path = root / entry["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if "link" in entry:
            path.symlink_to(entry["link"])
        elif "directory" in entry:
            path.mkdir(exist_ok=True)
        else:
            data = entry["text"].encode() if "text" in entry else base64.b64decode(entry["base64"])
            path.write_bytes(data)


def main() -> int:
    """Write one JSON file for each case."""
    venvs = runpy.run_path(str(TESTS / "harbor_venvs.py"))
    with tempfile.TemporaryDirectory() as folder:
        roots = {name: Path(folder) / name for name in CASES}
        for name, files in CASES.items():
            write(entries(files), roots[name])
        question = {
            "directories": [
                {"path": str(root / "environment"), "docker_image": IMAGES.get(name)}
                for name, root in roots.items()
            ]
        }
        answers = {}
        for generation in venvs["VERSIONS"]:
            python = venvs["harbor_python"](generation)
            if python is None:
                sys.stderr.write("run python tests/harbor_venvs.py first\n")
                return 1
            done = subprocess.run(
                [python, TESTS / "environments" / "harbor_keys.py"],
                input=json.dumps(question),
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            answers[generation] = json.loads(done.stdout)["directories"]
    for position, (name, files) in enumerate(CASES.items()):
        vector = {
            "harbor": venvs["VERSIONS"],
            "docker_image": IMAGES.get(name),
            "keys": {generation: answers[generation][position][generation] for generation in answers},
            "entries": entries(files),
        }
        text = json.dumps(vector, indent=1, ensure_ascii=True)
        (HERE / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
