"""What every stand-in for the Hub has: a local server, and answers as `huggingface_hub` reads them."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "hf_token_of_the_tests"

HubT = TypeVar("HubT")


class Handler(BaseHTTPRequestHandler):
    """Answers one request; `hub` is what the server knows."""

    protocol_version = "HTTP/1.1"
    hub: Any

    @property
    def authorised(self) -> bool:
        """Whether the request carries `TOKEN`."""
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def error(self, status: int, code: str, message: str) -> None:
        """Answer as the Hub does when something is wrong."""
        headers = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        self.send(json.dumps({"error": message}).encode(), headers, status=status)

    def send(
        self,
        body: bytes,
        headers: dict[str, str] | None = None,
        *,
        status: int = 200,
        kind: str = "application/json",
    ) -> None:
        """Answer with these bytes, or with none to HEAD."""
        self.send_response(status)
        fields = {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Keep quiet."""


@contextmanager
def serving(hub: HubT, handler: type[Handler]) -> Iterator[HubT]:
    """Serve `hub` on a free local port; its `address` is set meanwhile."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Handler", (handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
