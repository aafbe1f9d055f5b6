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


Scale = Annotated[
    str,
    typer.Option(help="smoke, quick (200 / 60 / 100 pairs) or paper (1,000 / 500 / 500 pairs)."),
]


def _add_part(command: str, parts: tuple[str, ...], told: str) -> None:
    """Add a command that runs parts of the paper's experiments."""

    @reproduce.command(command, short_help=told)
    def run(
        data: Annotated[
            Path | None,
            typer.Option(
                envvar="L2T_DATA",
                help="Directory with photo-sketch/, or with a source.npz and a target.npz of your own; "
                "without it, the embedded digits stand in.",
            ),
        ] = None,
        scale: Scale = "quick",
        out: Annotated[Path, typer.Option(help="Directory for the report.")] = Path("reproduction"),
        work: WorkDirectory = Path("experiences"),
        jobs: Jobs = 1,
        cluster: Annotated[
            str | None, typer.Option(help="Address of a Dask scheduler to work on instead.")
        ] = None,
        seed: Annotated[int, typer.Option(min=0, help="The seed of all pairs.")] = 0,
        quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    ) -> None:
        from l2t.interfaces.cli.results import write_paper

        options = {"n_jobs": jobs, "cluster": cluster, "seed": seed, "progress": not quiet}
        write_paper(command, parts, data, scale, work, out, options)

    run.__doc__ = f"""{told}

    Writes report.html, report.md, results.json, figures and tables. Stopped at any moment, the same command
    goes on where it was.
    """


PARTS = {
    "average": "Figure: the average improvement ratio of L2T and of eight algorithms.",
    "six-pairs": "Figure: accuracies on six testing pairs.",
    "experiences": "Table 1: which algorithms the experiences come from.",
    "number": "Figure: the number of experiences.",
    "components": "Figure: the terms of the reflection function.",
    "kernels": "Figure: narrower and wider ranges of bandwidths.",
    "supplement": "The learned beta, one example pair, the label-count correction.",
    "exhaustive": "Running all eight algorithms instead, in quality and in time.",
    "prediction": "Predicted against actual ratios, and whether verdicts were right.",
    "controls": "Is it transfer at all? The source replaced or left out.",
    "random-classes": "Classes at random, as in the paper, and disjoint.",
    "families": "Functions learned without the family that they are tested on.",
}
_add_part("all", tuple(PARTS), "Every table and figure of the paper, and more, on your data.")
for _name, _told in PARTS.items():
    _add_part(_name, (_name,), _told)


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


@reproduce.command("shipped", short_help="Learn the functions that ship with the package.")
def shipped(
    data: DataDirectory,
    out: Annotated[Path, typer.Option(help="Directory for the JSON files.")] = Path(),
    work: WorkDirectory = Path("experiences"),
    jobs: Jobs = 1,
) -> None:
    """Collect from four families of domains, learn each function that ships, and plan its searches."""
    from l2t.interfaces.cli.results import write_shipped

    write_shipped(data, out, work, jobs)
