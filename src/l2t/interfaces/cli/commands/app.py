"""The application that the commands belong to."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from l2t._version import __version__
from l2t.exceptions import L2TError

__all__ = ["app", "main"]

app = typer.Typer(
    name="l2t",
    help="Learning to Transfer: what to transfer between two domains, learned from past transfers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command; an error is one sentence and exit code 1, an interruption exit code 130."""
    try:
        app()
    except (L2TError, OSError) as error:
        typer.echo(f"l2t: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("l2t: interrupted; what was finished is kept", err=True)
        sys.exit(130)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"l2t {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass
