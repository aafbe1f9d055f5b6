"""Limits of connections: idle ones are closed, and bodies must be neither too large nor too slow."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["SERVER", "limited", "too_large"]

_TIMEOUT = 30.0  # seconds for a body to arrive or be read, extended at the rate below as it arrives
_BYTES_PER_SECOND = 2**14


class _Connection(H11Protocol):
    """A connection that is closed unless a request arrives in time, the first one included."""

    def connection_made(self, transport: Any) -> None:
        """Start the timeout of the first request."""
        super().connection_made(transport)
        wait, close = self.timeout_keep_alive, self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(wait, close)

    def data_received(self, data: bytes) -> None:
        """Receive a part of a request; a header that arrives in pieces does not extend the timeout."""
        timer, self.timeout_keep_alive_task = self.timeout_keep_alive_task, None
        super().data_received(data)
        if timer is None:
            return
        if self.timeout_keep_alive_task is None and (
            self.cycle is None or self.cycle.response_complete
        ):
            self.timeout_keep_alive_task = timer
        else:
            timer.cancel()

    def pause_writing(self) -> None:
        """Start the timeout of a client that does not read the response."""
        super().pause_writing()
        self._unread = self.loop.call_later(_TIMEOUT, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timeout, and resume the response."""
        super().resume_writing()
        self._unread.cancel()


#: Settings of uvicorn; h11 limits headers to 16 KiB.
SERVER: dict[str, Any] = {
    "http": _Connection,
    "ws": "none",
    "limit_concurrency": 256,
    "timeout_keep_alive": 5,
    "timeout_graceful_shutdown": 2,
    "log_level": "error",  # no invalid requests
    "server_header": False,
}


def limited(receive: Receive, most: int) -> Receive:
    """Return `receive` with a limit on the bytes of the body and on its time."""
    size, more, begun = 0, True, time.monotonic()

    async def received() -> Message:
        nonlocal size, more
        if not more:
            return await receive()  # waits until the client disconnects
        left = begun + _TIMEOUT + size / _BYTES_PER_SECOND - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), left)
        except TimeoutError:
            raise HTTPException(408, f"the body arrived too slowly: {size} bytes so far") from None
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        if message["type"] == "http.disconnect":
            raise HTTPException(400, f"the connection closed after {size} bytes of the body")
        if size > most:
            raise HTTPException(413, too_large(most))
        return message

    return received


def too_large(most: int) -> str:
    """Return the message for a body that is too large."""
    shown = f"{most / 2**20:g} MiB" if most >= 2**20 else f"{most} bytes"
    return f"the body of this request must have at most {shown}, got more"
