"""The application with its routes, pages and request checks, and the server."""

from __future__ import annotations

import errno
import socket
import subprocess
import sys
import webbrowser
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from l2t._version import __version__
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, open_store
from l2t.interfaces.dashboard import pages
from l2t.interfaces.dashboard.connections import SERVER
from l2t.interfaces.dashboard.context import Context
from l2t.interfaces.dashboard.errors import add_handlers
from l2t.interfaces.dashboard.routes import router
from l2t.interfaces.dashboard.safety import Guard
from l2t.interfaces.dashboard.settings import Settings
from l2t.labelling import LabellingSession


def create_app(
    store: ExperienceStore,
    settings: Settings | None = None,
    *,
    session: LabellingSession | None = None,
) -> FastAPI:
    """Return the dashboard of a store, and of a labelling session if there is one, as an ASGI application."""
    settings = Settings() if settings is None else settings
    context = Context(store, settings, session)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        context.close()

    app = FastAPI(
        title="L2T dashboard",
        version=__version__,
        description="Predict the classes of a table, and inspect an experience store.",
        docs_url=None,  # its page would load scripts from other sites
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.context = context
    add_handlers(app)
    app.include_router(router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    app.add_middleware(Guard, settings=settings)
    return app


def serve(
    url: str | None,
    settings: Settings,
    *,
    open_browser: bool = False,
    session: LabellingSession | None = None,
) -> None:
    """Serve the dashboard of an existing store, or without a store, until interrupted; print its address."""
    with open_store(url or "memory://", create=url is None) as store:
        app = create_app(store, settings, session=session)
        server = uvicorn.Server(uvicorn.Config(app, **SERVER))
        context = app.state.context
        with (
            _remove_on_exit(context.folder),
            closing(context),
            _listening(settings) as opened,
            suppress(KeyboardInterrupt),  # the usual way to stop it
        ):
            page = "" if session is None else "label"
            address = _address(settings, opened.getsockname()[1], page)
            # A client that connects before the server runs waits for it.
            print(f"dashboard at {address} (stop with Ctrl-C)", file=sys.stderr, flush=True)
            if open_browser:
                webbrowser.open(address)
            server.run(sockets=[opened])


@contextmanager
def _remove_on_exit(folder: str) -> Iterator[None]:
    """Remove a folder when this process ends, by another process, so that it works if this one is killed."""
    code = "import shutil, sys; sys.stdin.read(); shutil.rmtree(sys.argv[1], ignore_errors=True)"
    with subprocess.Popen(
        [sys.executable, "-I", "-c", code, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):
        yield


def _listening(settings: Settings) -> socket.socket:
    host, port = settings.host, settings.port
    both = host == "::" and socket.has_dualstack_ipv6()
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, dualstack_ipv6=both)
    except OSError as error:
        reason = f"the dashboard cannot listen on port {port} of {host}: {error.strerror or error}"
        if error.errno == errno.EADDRINUSE:
            reason = f"port {port} of {host} is in use; choose another with --port"
        raise InvalidInputError(reason) from None


def _address(settings: Settings, port: int, page: str) -> str:
    host = socket.gethostname() if settings.host in ("0.0.0.0", "::") else settings.host
    host = f"[{host}]" if ":" in host else host
    token = "" if settings.token is None else f"?token={settings.token}"
    return f"http://{host}:{port}{settings.root_path}/{page}{token}"
