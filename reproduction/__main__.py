"""The commands: `make reproduce WHAT=COMMAND`, or `python -m reproduction COMMAND` with more options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from l2t.exceptions import L2TError
from reproduction.answers import write_answers
from reproduction.chains import write_chains
from reproduction.comparison import write_comparison
from reproduction.ensemble import answer_tasks, learn_weights, write_weights
from reproduction.forecast import write_forecast
from reproduction.kinds import SHIPPABLE
from reproduction.labelling import write_labelling
from reproduction.never_met import write_families
from reproduction.office_caltech import write_office_caltech
from reproduction.paper.recipe import write_recipe
from reproduction.paper.reproduction import PARTS, write_paper
from reproduction.paper.setting import SCALES
from reproduction.promise_tasks import PARTS as PROMISED
from reproduction.promises import write_promises
from reproduction.reflection import write_reflection
from reproduction.shared import write_shared
from reproduction.studies import write_studies
from reproduction.tables import write_tables

app = typer.Typer(
    help="Repeat the paper's experiments and the measurements of docs/results.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command()
def paper(  # noqa: PLR0913
    parts: Annotated[
        list[str] | None,
        typer.Argument(help=f"Parts to measure; by default all: {', '.join(PARTS)}."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="L2T_DATA",
            help="Folder with photo-sketch/, or with a source.npz and a target.npz of your own; "
            "without it, the embedded digits are used.",
        ),
    ] = None,
    scale: Annotated[str, typer.Option(help=f"Number of pairs: {', '.join(SCALES)}.")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("build/paper"),
    work: Annotated[
        Path, typer.Option(help="Folder for intermediate results; a later run resumes from them.")
    ] = Path("experiences"),
    jobs: Annotated[int, typer.Option(help="Number of processes; -1 for one per core.")] = 1,
    cluster: Annotated[
        str | None, typer.Option(help="A Dask scheduler whose workers can import this folder.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of all pairs.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show progress bars.")] = False,
) -> None:
    """Measure every table and figure of the paper, and questions that it leaves open, as one report.

    If interrupted, the same command resumes where it stopped.
    """
    unknown = set(parts or ()) - set(PARTS)
    if unknown:
        raise typer.BadParameter(f"{', '.join(sorted(unknown))} is none of {', '.join(PARTS)}")
    options = {"n_jobs": jobs, "cluster": cluster, "seed": seed, "progress": not quiet}
    write_paper(parts or tuple(PARTS), data, scale, work, out, **options)


@app.command("office-caltech")
def office_caltech(
    data: Annotated[
        Path, typer.Option(envvar="L2T_DATA", help="Folder with office-caltech-surf/.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
) -> None:
    """Compare the eight algorithms on the twelve Office-Caltech10 tasks with published figures.

    Needs office-caltech-surf/{amazon,caltech,webcam,dslr}.npz in the data folder.
    """
    write_office_caltech(data, out)


Data = Annotated[Path, typer.Option(envvar="L2T_DATA", help="Folder with the data sets.")]
Draws = Annotated[int, typer.Option(min=1, help="Draws per kind and mode, three targets each.")]
Work = Annotated[
    Path, typer.Option(help="Folder for intermediate results; a later run resumes from them.")
]
Jobs = Annotated[int, typer.Option(help="Number of processes; -1 for one per core.")]


@app.command()
def recipe(
    data: Data,
    out: Annotated[Path, typer.Option(help="File for the table.")] = Path("build/recipe.md"),
    work: Work = Path("experiences"),
) -> None:
    """Measure what each step of the recipe for the paper's method is worth, on photo > sketch.

    If interrupted, the same command resumes where it stopped.
    """
    write_recipe(data, out, work)


@app.command()
def reflection(
    data: Data,
    out: Annotated[Path, typer.Option(help="The file.")] = Path(
        "src/l2t/paper/shipped/default.json"
    ),
    work: Work = Path("build/reflection"),
) -> None:
    """Learn the reflection function that ships, from pairs of photographs and sketches."""
    write_reflection(data, out, work)


@app.command()
def families(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/tasks"),
    draws: Draws = 10,
    jobs: Jobs = 1,
) -> None:
    """Measure choices, predictions and intervals on kinds of data that were left out of learning."""
    write_families(data, out, work, draws, jobs)


#: Draws that the weights of the ensemble are learned from; those that are judged are earlier ones.
LEARNED = range(8, 14)


@app.command()
def answers(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/answers"),
    draws: Annotated[int, typer.Option(min=2, max=8, help="Tasks per kind of data.")] = 4,
) -> None:
    """Compare predictions with plain classifiers on nine kinds of data, each left out of learning."""
    write_answers(data, out, work, range(draws), LEARNED)


@app.command()
def promises(
    data: Data,
    parts: Annotated[
        list[str] | None,
        typer.Argument(help=f"Parts to measure; by default all: {', '.join(PROMISED)}."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/promises"),
    draws: Annotated[
        int, typer.Option(min=1, help="Draws per kind and mode, two targets each.")
    ] = 3,
    jobs: Jobs = 1,
) -> None:
    """Compare promised accuracies and probabilities with what comes true, on families, tables and controls.

    If interrupted, the same command resumes where it stopped.
    """
    unknown = set(parts or ()) - set(PROMISED)
    if unknown:
        raise typer.BadParameter(f"{', '.join(sorted(unknown))} is none of {', '.join(PROMISED)}")
    write_promises(data, out, work, parts or PROMISED, n_draws=draws, n_jobs=jobs)


@app.command()
def ensemble(
    data: Data,
    out: Annotated[Path, typer.Option(help="The file.")] = Path("src/l2t/prediction/ensemble.json"),
    work: Work = Path("build/answers"),
) -> None:
    """Learn the weights of the ensemble that ship, from all kinds of data that they may be learned from."""
    write_weights(learn_weights(answer_tasks(SHIPPABLE, LEARNED, data, work)), out)


@app.command()
def forecast(
    data: Data,
    out: Annotated[Path, typer.Option(help="The file.")] = Path("src/l2t/forecast/forecast.json"),
    work: Work = Path("build/tasks"),
    draws: Draws = 10,
    jobs: Jobs = 1,
) -> None:
    """Fit the forecast that ships, to tasks of all kinds that it may be learned from."""
    write_forecast(data, out, work, draws, jobs)


@app.command("shared-classes")
def shared_classes(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/shared"),
) -> None:
    """Measure candidates, classifiers and the choice where source and target have the same classes."""
    write_shared(data, out, work)


@app.command()
def chains(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/chains"),
    draws: Annotated[int, typer.Option(min=1, help="Number of draws per kind.")] = 12,
) -> None:
    """Measure chains of algorithms on characters, sounds and sketches."""
    write_chains(data, out, work, draws)


@app.command()
def labelling(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/labelling"),
    draws: Annotated[int, typer.Option(min=1, help="Number of draws per family.")] = 4,
) -> None:
    """Compare strategies that choose the rows to label next with random rows, on nine families."""
    write_labelling(data, out, work, draws)


@app.command()
def comparison(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/comparison"),
) -> None:
    """Compare L2T with skada, ADAPT, POT and plain classifiers on the same tasks."""
    write_comparison(data, out, work)


@app.command()
def studies(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/studies"),
) -> None:
    """Measure predictions, intervals and choices on tables, at other sizes and with own experience.

    If interrupted, the same command resumes where it stopped.
    """
    write_studies(data, out, work)


@app.command()
def tables(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("docs/results"),
    work: Work = Path("build/tables"),
    draws: Annotated[int, typer.Option(min=1, help="Draws of the labelled rows.")] = 3,
) -> None:
    """Compare predictions with plain classifiers on tables, with the true source and with misleading ones.

    If interrupted, the same command resumes where it stopped.
    """
    write_tables(data, out, work, draws)


if __name__ == "__main__":
    try:
        app(prog_name="python -m reproduction")
    except (L2TError, OSError) as error:
        sys.exit(f"reproduction: {error}")
