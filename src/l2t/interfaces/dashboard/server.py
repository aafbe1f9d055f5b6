"""Serving a dashboard on an address of this machine."""

from __future__ import annotations

import errno
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.interfaces.dashboard.app import create_app
from l2t.interfaces.dashboard.settings import Settings

__all__ = ["serve"]


class _Server(uvicorn.Server):
    """A server that says when it is there."""

    started_action: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self.started_action()


def serve(
    url: str,
    settings: Settings,
    *,
    announce: Callable[[str], None] = print,
    open_browser: bool = False,
) -> None:
    """Serve the dashboard of a store until it is interrupted.

    Parameters
    ----------
    url : str
        The store; it must exist.
    settings : Settings
        Where, and what visitors may do.
    announce : callable
        Is given the address of the page when it can be opened.
    open_browser : bool
        Whether to open it.
    """
    with open_store(url, create=False) as store:
        app = create_app(store, settings)
        try:
            with _bound(settings) as listening:
                address = _address(settings, listening.getsockname()[1])

                def started() -> None:
                    announce(address)
                    if open_browser:
                        webbrowser.open(address)

                config = uvicorn.Config(app, log_level="warning", server_header=False)
                server = _Server(config)
                server.started_action = started
                with suppress(KeyboardInterrupt):  # how one ends it
                    server.run(sockets=[listening])
        finally:
            app.state.context.close()


def _bound(settings: Settings) -> socket.socket:
    host, port = settings.host, settings.port
    try:
        kind, _, _, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(kind, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            said = f"port {port} of {host} is in use by another program; choose another with --port"
        else:
            said = (
                f"the dashboard cannot listen on port {port} of {host}: {error.strerror or error}"
            )
        raise InvalidInputError(said) from None
    return listening


def _address(settings: Settings, port: int) -> str:
    host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(
        settings.host, settings.host
    )
    host = f"[{host}]" if ":" in host else host
    token = "" if settings.token is None else f"?token={settings.token}"
    return f"http://{host}:{port}/{token}"
