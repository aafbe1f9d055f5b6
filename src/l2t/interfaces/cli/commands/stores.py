"""Commands that look after an experience store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import As, StoreUrl
from l2t.interfaces.cli.formats import Format, Order, Status

store = typer.Typer(help="Look after an experience store.", no_args_is_help=True)
app.add_typer(store, name="store")

File = Annotated[Path, typer.Argument(metavar="FILE", help="The exported file (.zip).")]


@store.command("ls", short_help="List experiences.")
def store_ls(
    url: StoreUrl,
    algorithm: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this algorithm.")
    ] = None,
    domain: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only with this source or target.")
    ] = None,
    labels: Annotated[
        int | None, typer.Option(metavar="N", help="Only at this number of labels.")
    ] = None,
    status: Annotated[Status | None, typer.Option(help="Only runs that ended so.")] = None,
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="How many.")] = 20,
    order: Annotated[Order, typer.Option(help="The newest or the largest first.")] = (
        Order.created_at
    ),
    format: As = Format.table,
) -> None:
    """List experiences, the newest or the largest first."""
    from l2t.interfaces.cli.stores import run_ls

    filters = {"algorithm": algorithm, "domain": domain, "n_labels": labels, "status": status}
    run_ls(url, filters, limit, order, format)


@store.command("show", short_help="One run in full.")
def store_show(
    url: StoreUrl,
    key: Annotated[
        str, typer.Argument(metavar="RUN", help="The beginning of its key, as 'store ls' shows it.")
    ],
    format: As = Format.table,
) -> None:
    """Show one run in full, with its accuracies at every number of labels."""
    from l2t.interfaces.cli.stores import run_show

    run_show(url, key, format)


@store.command("rm", short_help="Delete runs.")
def store_rm(
    url: StoreUrl,
    keys: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="The beginnings of their keys, as 'store ls' shows."),
    ],
    format: As = Format.table,
) -> None:
    """Delete runs, with the domains and arrays that nothing else refers to."""
    from l2t.interfaces.cli.stores import run_rm

    run_rm(url, keys, format)


@store.command("check", short_help="Read and hash everything again.")
def store_check(url: StoreUrl, format: As = Format.table) -> None:
    """Read and hash everything in a store again; exit code 1 if anything is wrong."""
    from l2t.interfaces.cli.stores import run_check

    if not run_check(url, format):
        raise typer.Exit(1)


@store.command("upgrade", short_help="Bring an older store to the form of this version.")
def store_upgrade(url: StoreUrl, format: As = Format.table) -> None:
    """Bring a store that an older version made to the form of this one."""
    from l2t.interfaces.cli.stores import run_upgrade

    run_upgrade(url, format)


@store.command("rescue", short_help="Take what is whole out of a damaged SQLite store.")
def store_rescue(
    url: StoreUrl,
    into: Annotated[
        str, typer.Argument(metavar="NEW", help="The store that takes over what is whole.")
    ],
    format: As = Format.table,
) -> None:
    """Take every run that can still be read out of a damaged SQLite store, which is left as it is."""
    from l2t.interfaces.cli.stores import run_rescue

    run_rescue(url, into, format)


@store.command("export", short_help="Write everything to one portable file.")
def store_export(url: StoreUrl, file: File, format: As = Format.table) -> None:
    """Write everything in a store to one portable file."""
    from l2t.interfaces.cli.stores import run_export

    run_export(url, file, format)


@store.command("import", short_help="Add the runs of an exported file.")
def store_import(url: StoreUrl, file: File, format: As = Format.table) -> None:
    """Add the runs of an exported file to a store; what is there already stays as it is."""
    from l2t.interfaces.cli.stores import run_import

    run_import(url, file, format)
