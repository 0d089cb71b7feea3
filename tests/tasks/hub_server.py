"""A local HTTP server that answers as the Hub does, for the requests `huggingface_hub` really makes.

Shapes taken from the library's own client code: ``hf_api.py`` (``dataset_info``,
``list_repo_tree``), ``file_download.py`` (headers of ``resolve``), ``utils/_http.py`` (error codes).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

import local_hub
from local_hub import TOKEN

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["COMMIT", "PAGE", "TOKEN", "Hub", "serving"]

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PAGE = 3


@dataclass
class Hub:
    """What the server knows.

    Parameters
    ----------
    files
        Bytes of each file of the one repository, by path.
    private, gated
        Whether the repository needs `TOKEN`.
    requests
        (method, path, range header) of each request answered.
    """

    files: dict[str, bytes]
    name: str = "org/name"
    revisions: tuple[str, ...] = ("main", "v1", COMMIT)
    private: bool = False
    gated: bool = False
    broken: int = 0
    address: str = ""
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)


class _Handler(local_hub.Handler):
    hub: Hub

    def do_HEAD(self) -> None:  # noqa: N802 - the base class names it
        self.do_GET()

    def do_GET(self) -> None:  # noqa: N802 - the base class names it
        hub = self.hub
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        hub.requests.append((self.command, unquote(self.path), self.headers.get("Range")))
        api = parts[0] == "api"
        name = "/".join(parts[2:4] if api else parts[1:3])
        authorised = self.authorised
        if hub.broken:
            self.error(hub.broken, "", "Internal error")
        elif "Authorization" in self.headers and not authorised:
            self.error(401, "", "Invalid credentials in Authorization header")
        elif name != hub.name or (hub.private and not authorised):
            self.error(401, "RepoNotFound", "Repository not found")
        elif api:
            self._api(parts[4:], parse_qs(url.query))
        elif hub.gated and not authorised:
            self.error(401, "GatedRepo", "Access to this dataset is restricted")
        else:
            self._resolve(parts[4], "/".join(parts[5:]))

    def _api(self, parts: list[str], query: dict[str, list[str]]) -> None:
        hub = self.hub
        revision = parts[1] if parts else "main"
        if revision not in hub.revisions:
            self.error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif not parts or parts[0] == "revision":
            siblings = [{"rfilename": path} for path in sorted(hub.files)]
            info = {"id": hub.name, "sha": COMMIT, "private": hub.private, "tags": [], "siblings": siblings}
            self.send(json.dumps(info).encode())
        elif hub.gated and self.headers.get("Authorization") is None:
            self.error(403, "GatedRepo", "Access to this dataset is restricted")
        else:
            start = int(query.get("cursor", ["0"])[0])
            items = self._tree()
            headers = {}
            if start + PAGE < len(items):
                target = f"{hub.address}{urlsplit(self.path).path}?recursive=true&cursor={start + PAGE}"
                headers["Link"] = f'<{target}>; rel="next"'
            self.send(json.dumps(items[start : start + PAGE]).encode(), headers)

    def _tree(self) -> list[dict[str, object]]:
        folders = {
            "/".join(path.split("/")[:depth])
            for path in self.hub.files
            for depth in range(1, path.count("/") + 1)
        }
        items: list[dict[str, object]] = [
            {"type": "directory", "oid": "0" * 40, "size": 0, "path": folder} for folder in folders
        ]
        items += [
            {"type": "file", "oid": _etag(data), "size": len(data), "path": path}
            for path, data in self.hub.files.items()
        ]
        return sorted(items, key=lambda item: str(item["path"]))

    def _resolve(self, revision: str, path: str) -> None:
        data = self.hub.files.get(path)
        if revision not in self.hub.revisions:
            self.error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        elif data is None:
            self.error(404, "EntryNotFound", "Entry not found")
        else:
            etag = f'"{_etag(data)}"'
            headers = {
                "ETag": etag,
                "X-Repo-Commit": COMMIT,
                "X-Linked-Size": str(len(data)),
                "X-Linked-Etag": etag,
                "Accept-Ranges": "bytes",
            }
            status = 200
            if (asked := self.headers.get("Range", "")).startswith("bytes="):
                first, _, last = asked.removeprefix("bytes=").partition("-")
                end = min(int(last), len(data) - 1) if last else len(data) - 1
                headers["Content-Range"] = f"bytes {first}-{end}/{len(data)}"
                data, status = data[int(first) : end + 1], 206
            self.send(data, headers, status=status, kind="application/octet-stream")


def _etag(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def serving(hub: Hub) -> AbstractContextManager[Hub]:
    """Serve `hub` on a free local port; its `address` is set meanwhile."""
    return local_hub.serving(hub, _Handler)
