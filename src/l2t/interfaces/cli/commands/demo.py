"""The command that shows the whole story: demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import As, Jobs, Quiet
from l2t.interfaces.cli.formats import Format


@app.command(short_help="The whole story on handwritten digits, in a minute or two.")
def demo(
    pairs: Annotated[
        int, typer.Option(min=2, metavar="N", help="How many new pairs to test on.")
    ] = 10,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of the pairs.")] = 0,
    jobs: Jobs = 2,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the ratios (.png, .svg or .pdf)."),
    ] = None,
    report: Annotated[
        Path, typer.Option(metavar="FILE", help="The page with pictures to write.")
    ] = Path("demo.html"),
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Collect experiences on handwritten digits, learn from them, and transfer between new pairs.

    Each pair takes three digits of the UCI set and three other digits of MNIST, or the other way round (both
    ship with the installation). The table shows the improvement ratio of the eight base algorithms and of
    L2T: 1-NN accuracy on X W over 1-NN accuracy on X, for 3 to 120 labelled target rows. A page with pictures
    is written beside.
    """
    from l2t.interfaces.cli.demo import run_demo

    run_demo(pairs, seed, jobs, plot, report, format, quiet=quiet)
