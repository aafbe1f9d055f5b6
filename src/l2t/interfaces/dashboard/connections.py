"""Connections within limits: idle ones are closed, and bodies must be neither large nor slow."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["SERVER", "limited", "too_large"]

_PATIENCE = (
    30.0  # seconds for a body to arrive or be read, and one more to arrive for each of these bytes
)
_BYTES_A_SECOND = 2**14


class _Connection(H11Protocol):
    """A connection that is closed unless a request arrives in time; uvicorn would wait for the first."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        wait, close = self.timeout_keep_alive, self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_later(wait, close)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; a header that arrives in drops does not gain time."""
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
        """Begin to wait for a visitor who does not read what was asked for."""
        super().pause_writing()
        self._unread = self.loop.call_later(_PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on with the answer."""
        super().resume_writing()
        self._unread.cancel()


#: How uvicorn serves; h11 allows 16 KiB of headers.
SERVER: dict[str, Any] = {
    "http": _Connection,
    "ws": "none",
    "limit_concurrency": 256,
    "timeout_keep_alive": 5,
    "timeout_graceful_shutdown": 2,
    "log_level": "error",  # not what visitors do wrong
    "server_header": False,
}


def limited(receive: Receive, most: int) -> Receive:
    """Return `receive` for a body of at most so many bytes, which must arrive in time."""
    size, more, begun = 0, True, time.monotonic()

    async def received() -> Message:
        nonlocal size, more
        if not more:
            return await receive()  # which waits until the visitor leaves
        left = begun + _PATIENCE + size / _BYTES_A_SECOND - time.monotonic()
        try:
            message = await asyncio.wait_for(receive(), left)
        except TimeoutError:
            raise HTTPException(408, f"the body is too slow: {size} bytes have arrived") from None
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        if message["type"] == "http.disconnect":
            raise HTTPException(400, f"the body broke off after {size} bytes")
        if size > most:
            raise HTTPException(413, too_large(most))
        return message

    return received


def too_large(most: int) -> str:
    """Return the sentence for a body that has more bytes."""
    shown = f"{most / 2**20:g} MiB" if most >= 2**20 else f"{most} bytes"
    return f"the body of this request may have {shown} at most, got more"
