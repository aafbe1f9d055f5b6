"""Everyday commands: transfer, rank, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import (
    As,
    Decimal,
    Encoding,
    Ignore,
    Label,
    Labeled,
    Labels,
    Normalize,
    Past,
    Plot,
    Quiet,
    Reflection,
    Seed,
    Thousands,
    ZeroBased,
)
from l2t.interfaces.cli.formats import Constraint, Format, Scaling

Source = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="File of the larger domain to learn from.")
]
Target = Annotated[
    Path, typer.Argument(metavar="TARGET", help="File of the domain with few labels or none.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the transformed target."),
]
SearchedIn = Annotated[
    Constraint | None,
    typer.Option(
        help="How W is searched: soft, or as in the paper on the grassmann manifold or the sphere. "
        "Without it as the reflection function has found best."
    ),
]
BeforeAndAfter = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw both domains before and after (.png, .svg or .pdf)."),
]


@app.command(short_help="What to transfer from one file to another, and whether to.")
def transfer(
    source: Source,
    target: Target,
    output: Output = None,
    label: Label = None,
    labeled: Labeled = None,
    ignore: Ignore = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    encoding: Encoding = None,
    zero_based: ZeroBased = None,
    labels: Labels = None,
    components: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Columns of W, at most.")
    ] = None,
    reflection: Reflection = "default",
    past: Past = None,
    constraint: SearchedIn = None,
    normalize: Normalize = Scaling.rows,
    source_output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the transformed source.")
    ] = None,
    w_output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write W (.npy).")] = None,
    plot: BeforeAndAfter = None,
    seed: Seed = 0,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Find what to transfer from a source to a target, say whether to, and write the transformed target.

    Both files have the same features, one row a line, and other classes as a rule; a column of labels may be
    in both. csv, xlsx, parquet, npz, mat and svmlight files are read. Nothing is to be learned first: a
    reflection function ships with l2t.

      l2t transfer photos.csv sketches.csv --label species -o sketches_z.csv

    An empty label cell in the target means that the label is not known. The labels that are there vote on the
    verdict. Where every row of the target has a label, they are not used but for measuring the improvement
    (with --labels N), unless --labeled names the column that says which of them you really have.
    """
    from l2t.interfaces.cli.transfer import run_transfer

    run_transfer(
        source,
        target,
        reading={
            "label": label,
            "labeled": labeled,
            "ignore": ignore or (),
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "zero_based": zero_based,
        },
        how=normalize,
        options={
            "reflection": reflection,
            "n_components": components,
            "n_labels": labels,
            "constraint": constraint,
            "random_state": seed,
        },
        past=past,
        outputs={
            "target": output,
            "source": source_output,
            "W": w_output,
            "plot": plot,
        },
        format=format,
        quiet=quiet,
    )


@app.command(short_help="Which of several sources to take for a target.")
def rank(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="File of the target domain.")],
    sources: Annotated[
        list[Path], typer.Argument(metavar="SOURCE", help="Files of source domains.")
    ],
    label: Label = None,
    labeled: Labeled = None,
    ignore: Ignore = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    encoding: Encoding = None,
    zero_based: ZeroBased = None,
    labels: Labels = None,
    reflection: Reflection = "default",
    past: Past = None,
    normalize: Normalize = Scaling.rows,
    seed: Seed = 0,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Rank sources by the improvement that is predicted for a target, before anything is trained.

    The target comes first, then the sources. An improvement of 1.05 means five per cent more right answers
    than without transfer.
    """
    from l2t.interfaces.cli.transfer import run_rank

    run_rank(
        target,
        sources,
        reading={
            "label": label,
            "labeled": labeled,
            "ignore": ignore or (),
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "zero_based": zero_based,
        },
        how=normalize,
        options={"reflection": reflection, "n_labels": labels, "random_state": seed},
        past=past,
        format=format,
        quiet=quiet,
    )


@app.command(short_help="Why: the terms and kernels behind a prediction.")
def explain(
    pair: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SOURCE TARGET", help="Two files, for a pair; or none."),
    ] = None,
    reflection: Reflection = "default",
    label: Label = None,
    labeled: Labeled = None,
    ignore: Ignore = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    encoding: Encoding = None,
    zero_based: ZeroBased = None,
    labels: Labels = None,
    normalize: Normalize = Scaling.rows,
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Name the nearest experiences of this store, too."),
    ] = None,
    plot: Plot = None,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Tell what a reflection function has learned; or, with two files, why it predicts what it predicts."""
    from l2t.interfaces.cli.learn import run_explain

    if pair and len(pair) != 2:
        raise typer.BadParameter(f"a source and a target file are needed, got {len(pair)} file(s)")
    if plot and not pair:
        raise typer.BadParameter("--plot draws what is behind a pair: name a source and a target")
    run_explain(
        reflection,
        (pair[0], pair[1]) if pair else None,
        reading={
            "label": label,
            "labeled": labeled,
            "ignore": ignore or (),
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "zero_based": zero_based,
        },
        how=normalize,
        labels=labels,
        store=store,
        plot=plot,
        format=format,
        quiet=quiet,
    )
