"""The command that serves the dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.exceptions import MissingExtraError
from l2t.interfaces.cli.commands.app import app

_NEEDED = ("fastapi", "starlette", "uvicorn", "jinja2")


@app.command(short_help="A local web page on a store.")
def dashboard(
    url: Annotated[
        str, typer.Option("--store", help="The store: a file or a URL.")
    ] = "experiences.db",
    host: Annotated[
        str, typer.Option(help="Where to listen; another than this machine needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 8765,
    token: Annotated[
        str | None, typer.Option(envvar="L2T_DASHBOARD_TOKEN", help="What visitors must know.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Only look: no uploads, no computing.")
    ] = False,
    reflection: Annotated[
        list[Path] | None,
        typer.Option(help="A file of a reflection function to show; may be given again."),
    ] = None,
    max_upload: Annotated[
        int, typer.Option(min=1, help="MiB that an uploaded file may have.")
    ] = 64,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Serve a web page on a store: see what was learned, try a transfer in the browser.

    It listens on this machine alone unless told otherwise, and ends with Ctrl-C.
    """
    try:
        from l2t.interfaces.dashboard.app import serve
        from l2t.interfaces.dashboard.settings import Settings
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise MissingExtraError("the dashboard", "dashboard") from None
    settings = Settings(
        host=host,
        port=port,
        token=token,
        read_only=read_only,
        max_upload=max_upload * 2**20,
        reflections=tuple(reflection or ()),
    )
    serve(url, settings, open_browser=open_browser)
