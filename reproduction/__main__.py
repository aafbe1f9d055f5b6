"""The commands: `make reproduce WHAT=COMMAND`, or `python -m reproduction COMMAND` with more options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from l2t.exceptions import L2TError
from reproduction.pages.inference import write_inference
from reproduction.pages.office_caltech import write_office_caltech
from reproduction.pages.online import write_online
from reproduction.pages.paper import write_paper
from reproduction.pages.prediction import write_prediction
from reproduction.paper.reproduction import PARTS
from reproduction.paper.setting import SCALES
from reproduction.shipped import SHIPPED, learn_shipped

app = typer.Typer(
    help="Measure the paper's experiments and the pages of docs/results again.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Data = Annotated[
    Path, typer.Option(envvar="L2T_DATA", help="Folder of the data sets, one folder each.")
]
Out = Annotated[Path, typer.Option(help="Folder for the page.")]
Work = Annotated[
    Path, typer.Option(help="Folder for experiences; what is there is not done again.")
]
Jobs = Annotated[int, typer.Option(help="Processes on this machine; -1 for one per core.")]
RESULTS, WORK = Path("docs/results"), Path("experiences")


@app.command()
def paper(
    parts: Annotated[
        list[str] | None,
        typer.Argument(help=f"What to measure; everything by default: {', '.join(PARTS)}."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            envvar="L2T_DATA",
            help="Folder with photo-sketch/, or with a source.npz and a target.npz of your own; "
            "without it, the embedded digits are used.",
        ),
    ] = None,
    scale: Annotated[str, typer.Option(help=f"How many pairs: {', '.join(SCALES)}.")] = "quick",
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("build/paper"),
    work: Work = WORK,
    jobs: Jobs = 1,
    cluster: Annotated[
        str | None, typer.Option(help="A Dask scheduler whose workers can import this folder.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of all pairs.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Every table and figure of the paper, and what it leaves open, as one report.

    Stopped at any moment, the same command resumes where it was.
    """
    unknown = set(parts or ()) - set(PARTS)
    if unknown:
        raise typer.BadParameter(f"{', '.join(sorted(unknown))} is none of {', '.join(PARTS)}")
    options = {"n_jobs": jobs, "cluster": cluster, "seed": seed, "progress": not quiet}
    write_paper(parts or tuple(PARTS), data, scale, work, out, **options)


@app.command("office-caltech")
def office_caltech(data: Data, out: Out = RESULTS) -> None:
    """All eight algorithms on the twelve Office-Caltech10 tasks, beside published figures.

    Needs office-caltech-surf/{amazon,caltech,webcam,dslr}.npz in the data folder.
    """
    write_office_caltech(data, out)


@app.command()
def reflection(data: Data, out: Out = RESULTS, work: Work = WORK, jobs: Jobs = 1) -> None:
    """Learn from photo-sketch pairs, and predict the ratios of pairs with other classes.

    Needs photo-sketch/{photo,sketch}.npz in the data folder. About 15 minutes on one core.
    """
    write_prediction(data, out, work, jobs)


@app.command()
def inference(
    data: Data,
    out: Out = RESULTS,
    pairs: Annotated[int, typer.Option(min=2, help="Testing pairs of each family.")] = 100,
    jobs: Jobs = 1,
) -> None:
    """Compare L2T with the eight base algorithms on testing pairs of four families of domains.

    Needs photo-sketch, photo-style and office-caltech-surf in the data folder. About 20 minutes.
    """
    write_inference(data, out, pairs, jobs)


@app.command()
def online(
    data: Annotated[
        Path | None,
        typer.Option(envvar="L2T_DATA", help="Folder of the data sets; digits without it."),
    ] = None,
    out: Out = RESULTS,
    work: Work = WORK,
    pairs: Annotated[int, typer.Option(min=40, help="Pairs of the stream.")] = 500,
    jobs: Jobs = 1,
) -> None:
    """Measure an agent that starts from nothing over a stream of pairs, and after a change of kind.

    Also what practice is worth. About an hour on one core.
    """
    write_online(data, out, work, pairs, jobs)


@app.command()
def shipped(
    data: Data,
    out: Annotated[Path, typer.Option(help="Folder for the JSON files.")] = Path(
        "src/l2t/reflection/shipped"
    ),
    work: Work = WORK,
    jobs: Jobs = 1,
) -> None:
    """Collect from four families of domains, and learn each function that ships with the package."""
    for name in SHIPPED:
        path = out / f"{name}.json"
        learn_shipped(name, data, work, n_jobs=jobs).save(path)
        print(f"written to {path}")


if __name__ == "__main__":
    try:
        app(prog_name="python -m reproduction")
    except (L2TError, OSError) as error:
        sys.exit(f"reproduction: {error}")
