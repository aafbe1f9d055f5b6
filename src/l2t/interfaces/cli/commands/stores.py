"""Commands that look after an experience store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import As, StoreUrl
from l2t.interfaces.cli.formats import Format

store = typer.Typer(help="Look after an experience store.", no_args_is_help=True)
app.add_typer(store, name="store")


@store.command("ls", short_help="List experiences.")
def store_ls(
    url: StoreUrl,
    algorithm: Annotated[str | None, typer.Option(help="Only of this algorithm.")] = None,
    domain: Annotated[str | None, typer.Option(help="Only with this source or target.")] = None,
    labels: Annotated[int | None, typer.Option(help="Only at this number of labels.")] = None,
    status: Annotated[str | None, typer.Option(help="Only done, failed or asked.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 20,
    order: Annotated[
        str, typer.Option(help="created_at, algorithm, duration, improvement_ratio or n_labels.")
    ] = "created_at",
    format: As = Format.table,
) -> None:
    """List experiences, the newest or the largest first."""
    from l2t.interfaces.cli.stores import run_ls

    filters = {"algorithm": algorithm, "domain": domain, "n_labels": labels, "status": status}
    run_ls(url, filters, limit, order, format)


@store.command("show", short_help="One run in full.")
def store_show(
    url: StoreUrl,
    key: Annotated[str, typer.Argument(help="The beginning of the run's key.")],
    format: As = Format.table,
) -> None:
    """Show one run in full, with its accuracies at every number of labels."""
    from l2t.interfaces.cli.stores import run_show

    run_show(url, key, format)


@store.command("rm", short_help="Delete runs.")
def store_rm(
    url: StoreUrl,
    keys: Annotated[list[str], typer.Argument(help="The beginnings of the runs' keys.")],
) -> None:
    """Delete runs, with the domains and arrays that nothing else refers to."""
    from l2t.interfaces.cli.stores import run_rm

    run_rm(url, keys)


@store.command("check", short_help="Read and hash everything again.")
def store_check(url: StoreUrl) -> None:
    """Read and hash everything in a store again; exit code 1 if anything is wrong."""
    from l2t.experiences import open_store

    with open_store(url, create=False) as opened:
        problems = opened.check()
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(1)
    typer.echo("sound")


@store.command("upgrade")
def store_upgrade(url: StoreUrl) -> None:
    """Bring a store that an older version made to the form of this one."""
    from l2t.experiences import upgrade_store

    upgrade_store(url)
    typer.echo("up to date")


@store.command("rescue", short_help="Take what is whole out of a damaged SQLite store.")
def store_rescue(
    url: StoreUrl,
    into: Annotated[str, typer.Argument(help="The store that takes over what is whole.")],
) -> None:
    """Take every run that can still be read out of a damaged SQLite store, which is left as it is."""
    from l2t.experiences import open_store, rescue_store

    with open_store(into) as opened:
        typer.echo(f"{rescue_store(url, opened)} runs taken over")


@store.command("export")
def store_export(url: StoreUrl, file: Path) -> None:
    """Write everything in a store to one portable file."""
    from l2t.experiences import open_store

    with open_store(url, create=False) as opened:
        opened.export(file)
    typer.echo(f"written to {file}")


@store.command("import", short_help="Add the runs of an exported file.")
def store_import(url: StoreUrl, file: Path) -> None:
    """Add the runs of an exported file to a store; what is there already stays as it is."""
    from l2t.experiences import open_store

    with open_store(url) as opened:
        typer.echo(f"{opened.merge(file)} runs added")
