"""Commands that look after an experience store."""

from __future__ import annotations

from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import As, StoreUrl
from l2t.interfaces.cli.formats import Format, Order, Status

store = typer.Typer(help="Look after an experience store.", no_args_is_help=True)
app.add_typer(store, name="store")


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


@store.command("merge", short_help="Copy other stores into one.")
def store_merge(
    url: Annotated[
        str, typer.Argument(metavar="TARGET", help="A file or a URL; made where there is none.")
    ],
    sources: Annotated[list[str], typer.Argument(metavar="SOURCE", help="Stores to copy.")],
    format: As = Format.table,
) -> None:
    """Copy what other stores have into a store, without duplicates; exit code 1 if some is damaged."""
    from l2t.interfaces.cli.stores import run_merge

    if not run_merge(url, sources, format):
        raise typer.Exit(1)
