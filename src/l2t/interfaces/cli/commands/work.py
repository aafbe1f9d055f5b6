"""Everyday commands: demo, collect, transfer, rank, learn, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import (
    As,
    Components,
    Label,
    Labeled,
    Labels,
    Normalize,
    Plot,
    Reflection,
    Seed,
)
from l2t.interfaces.cli.formats import Format


@app.command(short_help="The whole story on handwritten digits: collect, learn, infer.")
def demo(
    pairs: Annotated[int, typer.Option(min=2, help="How many new pairs to test on.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the pairs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Local processes; -1 for all cores.")] = 2,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the ratios to this file (.png, .svg or .pdf).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write an HTML report with pictures here.")
    ] = None,
) -> None:
    """Collect experiences on handwritten digits, learn from them, and transfer between new pairs.

    Each pair takes three digits of the UCI set and three other digits of MNIST, or the other way round (both
    ship with the installation). The table shows the improvement ratio of the eight base algorithms and of
    L2T: 1-NN accuracy on X W over 1-NN accuracy on X, for 3 to 120 labelled target rows.
    """
    from l2t.interfaces.cli.demo import run_demo

    run_demo(pairs, seed, jobs, plot, report)


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


@app.command(short_help="What to transfer from one file to another, and whether to.")
def transfer(
    source: Annotated[Path, typer.Argument(help="File of the source domain.")],
    target: Annotated[Path, typer.Argument(help="File of the target domain.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the transformed target here.")
    ] = None,
    label: Label = None,
    labeled: Labeled = None,
    labels: Labels = None,
    components: Components = None,
    reflection: Reflection = "default",
    constraint: Annotated[
        str | None, typer.Option(help="soft, or the paper's: grassmann, sphere.")
    ] = None,
    normalize: Normalize = "rows",
    source_output: Annotated[
        Path | None, typer.Option(help="Write the transformed source here.")
    ] = None,
    w_output: Annotated[Path | None, typer.Option(help="Write W here (.npy).")] = None,
    plot: Plot = None,
    seed: Seed = 0,
    format: As = Format.table,
) -> None:
    """Find what to transfer from a source file to a target file, and write the transformed target.

    Needs no experience of your own: a reflection function ships with l2t. Files: npz, csv, parquet, mat or
    svmlight. An empty label cell in the target means that the label is not known; where only some labels
    are there, those vote on the verdict. Where all are there, they are for measuring alone (with --labels N),
    unless --labeled names the column that says which you really have.
    """
    from l2t.interfaces.cli.transfer import run_transfer

    run_transfer(
        source,
        target,
        label=label,
        labeled=labeled,
        how=normalize,
        options={
            "reflection": reflection,
            "n_components": components,
            "n_labels": labels,
            "constraint": constraint,
            "random_state": seed,
        },
        output=output,
        source_output=source_output,
        w_output=w_output,
        plot=plot,
        format=format,
    )


@app.command(short_help="Which of several sources to take for a target.")
def rank(
    target: Annotated[Path, typer.Argument(help="File of the target domain.")],
    sources: Annotated[list[Path], typer.Argument(help="Files of source domains.")],
    label: Label = None,
    labeled: Labeled = None,
    labels: Labels = None,
    reflection: Reflection = "default",
    normalize: Normalize = "rows",
    seed: Seed = 0,
    format: As = Format.table,
) -> None:
    """Rank sources by the improvement that is predicted for a target, before anything is trained."""
    from l2t.interfaces.cli.transfer import run_rank

    options = {"reflection": reflection, "n_labels": labels, "random_state": seed}
    run_rank(
        target, sources, label=label, labeled=labeled, how=normalize, options=options, format=format
    )


@app.command(short_help="Learn a reflection function from a store.")
def learn(
    url: Annotated[
        str, typer.Option("--store", help="The store: a file or a URL.")
    ] = "experiences.db",
    out: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path(
        "reflection.json"
    ),
    neighbors: Annotated[
        list[int] | None,
        typer.Option(
            help="Neighbours of the discriminant criterion; given again, the best is taken."
        ),
    ] = None,
    max_labels: Annotated[
        int, typer.Option(min=1, help="Experiences with more labels only calibrate.")
    ] = 30,
    split: Annotated[
        str, typer.Option(help="What may not be on both sides of a split: pair or class.")
    ] = "pair",
    seed: Seed = 0,
    format: As = Format.table,
) -> None:
    """Learn a reflection function from the experiences of a store."""
    from l2t.interfaces.cli.learn import run_learn

    options = {
        "n_neighbors": neighbors or None,
        "max_labels": max_labels,
        "split": split,
        "random_state": seed,
    }
    run_learn(url, out, options, format)


@app.command(short_help="Why: the terms and kernels behind a prediction.")
def explain(
    pair: Annotated[
        list[Path] | None, typer.Argument(help="A source and a target file, or nothing.")
    ] = None,
    reflection: Reflection = "default",
    label: Label = None,
    labels: Labels = None,
    normalize: Normalize = "rows",
    url: Annotated[
        str | None, typer.Option("--store", help="Name the nearest experiences of this store.")
    ] = None,
    plot: Plot = None,
    format: As = Format.table,
) -> None:
    """Tell what a reflection function has learned, or why it predicts what it predicts for a pair."""
    from l2t.interfaces.cli.learn import run_explain

    if pair and len(pair) != 2:
        raise typer.BadParameter(f"a source and a target file are needed, got {len(pair)} files")
    run_explain(
        reflection,
        (pair[0], pair[1]) if pair else None,
        label=label,
        how=normalize,
        labels=labels,
        store=url,
        plot=plot,
        format=format,
    )
