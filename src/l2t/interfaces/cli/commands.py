"""The `l2t` command. Heavy imports wait until a command needs them, so that help is instant."""

from __future__ import annotations

import sys
from pathlib import Path
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
reproduce = typer.Typer(
    help="Measure published results again, on real data that you have.", no_args_is_help=True
)
store = typer.Typer(help="Look after an experience store.", no_args_is_help=True)
app.add_typer(reproduce, name="reproduce")
app.add_typer(store, name="store")

StoreUrl = Annotated[
    str,
    typer.Argument(metavar="STORE", help="A file such as experiences.db, or postgresql://..."),
]


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


@app.command(short_help="The eight base algorithms on handwritten digits, as a table.")
def demo(
    pairs: Annotated[int, typer.Option(min=2, help="How many pairs of domains to average.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the pairs.")] = 0,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the ratios to this file (.png, .svg or .pdf).")
    ] = None,
) -> None:
    """Run the eight base algorithms on handwritten digits and show what each is worth.

    Each pair takes three digits of the UCI set as the source and three other digits of MNIST as the
    target (both ship with the installation). The table shows the improvement ratio: 1-NN accuracy on
    X W over 1-NN accuracy on X, for 3 to 120 labelled target rows.
    """
    from l2t.interfaces.cli.demo import run_demo

    run_demo(pairs, seed, plot)


@app.command(short_help="Run algorithms on pairs of two files and keep every experience.")
def collect(
    source: Annotated[Path, typer.Argument(help="File of the source domain, with labels.")],
    target: Annotated[Path, typer.Argument(help="File of the target domain, with labels.")],
    url: Annotated[
        str, typer.Option("--store", help="Where experiences are kept: a file or a URL.")
    ] = "experiences.db",
    pairs: Annotated[int, typer.Option(min=1, help="How many pairs to draw.")] = 100,
    classes: Annotated[int, typer.Option(min=1, help="Classes a domain in each pair.")] = 3,
    per_class: Annotated[int, typer.Option(min=1, help="Rows a class, at most.")] = 80,
    label: Annotated[
        str | None, typer.Option(help="The label column (csv, parquet) or array (npz, mat).")
    ] = None,
    normalize: Annotated[str, typer.Option(help="rows, zscore or none.")] = "rows",
    algorithms: Annotated[
        str, typer.Option(help="Names with commas between them, or all.")
    ] = "all",
    one_per_pair: Annotated[
        bool, typer.Option("--one-per-pair", help="One random algorithm a pair, as in the paper.")
    ] = False,
    components: Annotated[int, typer.Option(min=1, help="Components of each W.")] = 20,
    jobs: Annotated[int, typer.Option(help="Local processes; -1 for all cores.")] = 1,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler to work on instead.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of everything.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Draw pairs from two labelled domains, run algorithms on them, and keep every experience.

    Stopped at any moment, the same command goes on where it was: nothing is done twice.
    """
    from l2t.interfaces.cli.collect import run_collect

    run_collect(
        source,
        target,
        url,
        sampling={"n_pairs": pairs, "n_classes": classes, "max_per_class": per_class},
        label=label,
        how=normalize,
        algorithms=algorithms,
        options={
            "one_per_pair": one_per_pair,
            "n_components": components,
            "n_jobs": jobs,
            "cluster": cluster,
            "random_state": seed,
            "progress": not quiet,
        },
    )


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


@reproduce.command("office-caltech", short_help="Twelve tasks beside published figures.")
def office_caltech(
    data: Annotated[
        Path,
        typer.Option(
            envvar="L2T_DATA",
            help="Directory that holds office-caltech-surf/{amazon,caltech,webcam,dslr}.npz.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Directory for the table.")] = Path("docs/results"),
) -> None:
    """All eight algorithms on the twelve Office-Caltech10 tasks, beside published figures."""
    from l2t.interfaces.cli.results import write_office_caltech

    write_office_caltech(data, out)
