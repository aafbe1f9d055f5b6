"""Commands that measure published results again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import DataDirectory, Jobs, OutDirectory, WorkDirectory

reproduce = typer.Typer(
    help="Measure published results again, on real data that you have.", no_args_is_help=True
)
app.add_typer(reproduce, name="reproduce")


@reproduce.command("office-caltech", short_help="Twelve tasks beside published figures.")
def office_caltech(data: DataDirectory, out: OutDirectory = Path("docs/results")) -> None:
    """All eight algorithms on the twelve Office-Caltech10 tasks, beside published figures.

    Needs office-caltech-surf/{amazon,caltech,webcam,dslr}.npz in the data directory.
    """
    from l2t.interfaces.cli.results import write_office_caltech

    write_office_caltech(data, out)


@reproduce.command("reflection", short_help="How well ratios of unseen classes are predicted.")
def reflection(
    data: DataDirectory,
    out: OutDirectory = Path("docs/results"),
    work: WorkDirectory = Path("experiences"),
    jobs: Jobs = 1,
) -> None:
    """Learn from photo-sketch pairs, and predict the ratios of pairs with other classes.

    Needs photo-sketch/{photo,sketch}.npz in the data directory. About 15 minutes on one core.
    """
    from l2t.interfaces.cli.results import write_reflection

    write_reflection(data, out, work, jobs)


@reproduce.command("inference", short_help="L2T beside the eight algorithms on new pairs.")
def inference(
    data: DataDirectory,
    out: OutDirectory = Path("docs/results"),
    pairs: Annotated[int, typer.Option(min=2, help="Testing pairs of each family.")] = 100,
    jobs: Jobs = 1,
) -> None:
    """Compare L2T with the eight base algorithms on testing pairs of four families of domains.

    Needs photo-sketch, photo-style and office-caltech-surf in the data directory. About 20 minutes.
    """
    from l2t.interfaces.cli.results import write_inference

    write_inference(data, out, pairs, jobs)


@reproduce.command("default", short_help="Learn the function that ships with the package.")
def default(
    data: DataDirectory,
    out: Annotated[Path, typer.Option(help="The JSON file to write.")] = Path("default.json"),
    work: WorkDirectory = Path("experiences"),
    jobs: Jobs = 1,
) -> None:
    """Collect from four families of domains, learn a reflection function, and plan its searches."""
    from l2t.interfaces.cli.results import write_default

    write_default(data, out, work, jobs)
