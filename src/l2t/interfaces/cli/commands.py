"""The `l2t` command. Heavy imports wait until a command needs them, so that help is instant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t._version import __version__

__all__ = ["app"]

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
app.add_typer(reproduce, name="reproduce")


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


@app.command()
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


@reproduce.command("office-caltech")
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
