"""Commands that gather experience and learn from it: collect and learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import (
    As,
    Config,
    Decimal,
    Encoding,
    Ignore,
    Jobs,
    Normalize,
    Quiet,
    Seed,
    Thousands,
    ZeroBased,
)
from l2t.interfaces.cli.formats import Format, Scaling, Split

Source = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="File of the source domain, with labels.")
]
Target = Annotated[
    Path, typer.Argument(metavar="TARGET", help="File of the target domain, with labels.")
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column of labels (csv, xlsx, parquet) or the array (npz, mat), in both files.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler to work on, such as tcp://host:8786."),
]


@app.command(short_help="Run algorithms on pairs from two files, and keep every experience.")
def collect(
    context: typer.Context,
    source: Source,
    target: Target,
    store: Annotated[
        str,
        typer.Option(metavar="STORE", help="Where to keep experiences: a .db file or a URL."),
    ] = "experiences.db",
    pairs: Annotated[int, typer.Option(min=1, metavar="N", help="How many pairs to draw.")] = 100,
    classes: Annotated[
        int, typer.Option(min=1, metavar="N", help="Classes of each domain in a pair.")
    ] = 3,
    per_class: Annotated[
        int, typer.Option(min=1, metavar="N", help="Rows of a class, at most.")
    ] = 80,
    label: LabelColumn = None,
    ignore: Ignore = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    encoding: Encoding = None,
    zero_based: ZeroBased = None,
    normalize: Normalize = Scaling.rows,
    algorithms: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Algorithms, with commas between them; or 'all'."),
    ] = "all",
    one_per_pair: Annotated[
        bool, typer.Option("--one-per-pair", help="One random algorithm per pair, as in the paper.")
    ] = False,
    components: Annotated[int, typer.Option(min=1, metavar="N", help="Components of each W.")] = 20,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    seed: Seed = 0,
    config: Config = None,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Draw pairs from two labelled domains, run algorithms on them, and keep every experience.

    Stopped at any moment, the same command resumes where it was: nothing is done twice. The settings of the
    run are written beside the store (experiences.db: experiences.toml), and --config repeats it.
    """
    from l2t.interfaces.cli.collect import run_collect

    run_collect(
        context,
        source,
        target,
        store,
        sampling={"n_pairs": pairs, "n_classes": classes, "max_per_class": per_class},
        reading={
            "label": label,
            "ignore": ignore or (),
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "zero_based": zero_based,
        },
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
        format=format,
    )


@app.command(short_help="Learn a reflection function from what was collected.")
def learn(
    context: typer.Context,
    store: Annotated[
        str, typer.Option(metavar="STORE", help="Where experiences are: a .db file or a URL.")
    ] = "experiences.db",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The function to write (.json).")
    ] = Path("reflection.json"),
    neighbors: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Neighbours of the discriminant criterion; given again, the best is taken. Without it "
            "as the experiences have them.",
        ),
    ] = None,
    max_labels: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Experiences with more labels calibrate the intervals, but do not shape the function.",
        ),
    ] = 30,
    split: Annotated[
        Split, typer.Option(help="What held-out experiences may not share with the others.")
    ] = Split.pair,
    seed: Seed = 0,
    config: Config = None,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Learn a reflection function from the experiences of a store.

    Its settings are chosen on held-out experiences, and its intervals calibrated on them. The settings of the
    run are written beside the function (reflection.json: reflection.toml), and --config repeats it.
    """
    from l2t.interfaces.cli.learn import run_learn

    options = {
        "n_neighbors": neighbors or None,
        "max_labels": max_labels,
        "split": split,
        "random_state": seed,
    }
    run_learn(context, store, output, options, format, quiet=quiet)
