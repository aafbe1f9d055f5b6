"""Serving a dashboard on an address of this machine."""

from __future__ import annotations

import errno
import socket
import sys
import webbrowser
from contextlib import suppress

import uvicorn

from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.interfaces.dashboard.app import create_app
from l2t.interfaces.dashboard.settings import Settings

__all__ = ["serve"]


def serve(url: str, settings: Settings, *, open_browser: bool = False) -> None:
    """Print the address of the dashboard of a store that exists, and serve it until interrupted."""
    with open_store(url, create=False) as store:
        app = create_app(store, settings)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", server_header=False))
        try:
            with _listening(settings) as opened, suppress(KeyboardInterrupt):  # how one ends it
                address = _address(settings, opened.getsockname()[1])
                # Who connects before the server runs waits for it.
                print(f"dashboard at {address} (end with Ctrl-C)", file=sys.stderr, flush=True)
                if open_browser:
                    webbrowser.open(address)
                server.run(sockets=[opened])
        finally:
            app.state.context.close()


def _listening(settings: Settings) -> socket.socket:
    host, port = settings.host, settings.port
    both = host == "::" and socket.has_dualstack_ipv6()
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, dualstack_ipv6=both)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sentence = (
                f"port {port} of {host} is in use by another program; choose another with --port"
            )
        else:
            reason = error.strerror or error
            sentence = f"the dashboard cannot listen on port {port} of {host}: {reason}"
        raise InvalidInputError(sentence) from None


def _address(settings: Settings, port: int) -> str:
    host = socket.gethostname() if settings.host in ("0.0.0.0", "::") else settings.host
    host = f"[{host}]" if ":" in host else host
    token = "" if settings.token is None else f"?token={settings.token}"
    return f"http://{host}:{port}/{token}"
