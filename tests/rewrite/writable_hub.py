"""A local HTTP server on which repositories can be made and written, as `huggingface_hub` asks for it.

Shapes taken from the library's client code: ``hf_api.py`` (``create_repo``, ``dataset_info``,
``create_commit``), ``_commit_api.py`` (``preupload``, lines of a commit), ``lfs.py`` (batch request, upload).
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import local_hub
from local_hub import TOKEN

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["TOKEN", "Hub", "Repository", "serving"]


@dataclass
class Repository:
    """One dataset repository."""

    private: bool
    files: dict[str, bytes] = field(default_factory=lambda: {".gitattributes": b"*.parquet filter=lfs\n"})
    commits: int = 1

    @property
    def sha(self) -> str:
        return hashlib.sha1(str(self.commits).encode(), usedforsecurity=False).hexdigest()


@dataclass
class Hub:
    """What the server knows, and what it was asked.

    Parameters
    ----------
    broken_commits
        Requests for a commit that are answered with an error before one succeeds.
    """

    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    broken_commits: int = 0
    address: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)


class _Handler(local_hub.Handler):
    hub: Hub

    def do_GET(self) -> None:  # noqa: N802 - the base class names it
        self._note()
        parts = self.path.split("?")[0].strip("/").split("/")
        name = "/".join(parts[2:4])
        repository = self.hub.repositories.get(name)
        if parts[:2] != ["api", "datasets"] or repository is None:
            self.error(404, "RepoNotFound", "Repository not found")
            return
        siblings = [{"rfilename": path} for path in sorted(repository.files)]
        self._send({"id": name, "sha": repository.sha, "private": repository.private, "siblings": siblings})

    def do_POST(self) -> None:  # noqa: N802 - the base class names it
        self._note()
        body = self._body()
        parts = self.path.split("?")[0].strip("/").split("/")
        if not self.authorised:
            self.error(401, "", "Invalid credentials in Authorization header")
        elif parts == ["api", "repos", "create"]:
            self._create(json.loads(body))
        elif parts[-3:] == ["lfs", "objects", "batch"]:
            self._batch(json.loads(body))
        elif parts[4] == "preupload":
            files = [
                {
                    "path": each["path"],
                    "uploadMode": "lfs" if each["path"].endswith(".parquet") else "regular",
                    "shouldIgnore": False,
                }
                for each in json.loads(body)["files"]
            ]
            self._send({"files": files})
        elif parts[4] == "commit":
            self._commit("/".join(parts[2:4]), body)

    def do_PUT(self) -> None:  # noqa: N802 - the base class names it
        self._note()
        data = self._body()
        oid = self.path.rpartition("/")[2]
        assert hashlib.sha256(data).hexdigest() == oid
        self.hub.objects[oid] = data
        self._send({})

    def _create(self, asked: dict[str, Any]) -> None:
        name = f"{asked['organization']}/{asked['name']}"
        if name in self.hub.repositories:
            self.error(409, "", "You already created this dataset repo")
            return
        private = asked.get("private", asked.get("visibility") == "private")
        self.hub.repositories[name] = Repository(private=private)
        self._send({"url": f"{self.hub.address}/datasets/{name}"})

    def _batch(self, asked: dict[str, Any]) -> None:
        objects = [
            {**each, "actions": {"upload": {"href": f"{self.hub.address}/objects/{each['oid']}"}}}
            for each in asked["objects"]
        ]
        self._send({"transfer": "basic", "objects": objects})

    def _commit(self, name: str, body: bytes) -> None:
        repository = self.hub.repositories[name]
        header, *lines = [json.loads(line) for line in body.splitlines()]
        if self.hub.broken_commits:
            self.hub.broken_commits -= 1
            self.error(400, "", "Not today")
            return
        if header["value"].get("parentCommit") not in {None, repository.sha}:
            self.error(412, "", "A commit has happened since")
            return
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                repository.files[value["path"]] = base64.b64decode(value["content"])
            else:
                repository.files[value["path"]] = self.hub.objects[value["oid"]]
        repository.commits += 1
        url = f"{self.hub.address}/datasets/{name}/commit/{repository.sha}"
        self._send({"commitUrl": url, "commitOid": repository.sha, "success": True})

    def _note(self) -> None:
        self.hub.requests.append((self.command, self.path))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, document: Any) -> None:
        self.send(json.dumps(document).encode())


def serving(hub: Hub) -> AbstractContextManager[Hub]:
    """Serve `hub` on a free local port; its `address` is set meanwhile."""
    return local_hub.serving(hub, _Handler)
