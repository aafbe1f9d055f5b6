"""Everyday commands: demo, transfer, rank, explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import (
    As,
    Candidates,
    Classes,
    How,
    Jobs,
    KnownStore,
    Labels,
    Normalize,
    Quiet,
    Reading,
    Reflection,
    Seed,
    inference_options,
    reads_files,
    typed_options,
)
from l2t.interfaces.cli.formats import Format

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
BeforeAndAfter = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw both domains before and after (.png, .svg or .pdf)."),
]


@app.command(short_help="The whole story on handwritten digits, in about a minute.")
def demo(
    pairs: Annotated[
        int, typer.Option(min=2, metavar="N", help="How many new pairs to test on.")
    ] = 8,
    seed: Seed = 0,
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

    The source of a new pair has seven digits of the UCI set, the target the three other digits of MNIST, or
    the other way round (both ship with the installation). The table shows the improvement ratio of the eight
    base algorithms, of the paper's method and of L2T: 1-NN accuracy with the transfer over 1-NN accuracy
    without, for 3 to 120 labelled target rows. A page with pictures is written beside.
    """
    from l2t.interfaces.cli.demo import run_demo

    run_demo(pairs, seed, jobs, plot, report, format, quiet=quiet)


@app.command(short_help="What to transfer from one file to another, and whether to.")
@reads_files()
def transfer(
    context: typer.Context,
    source: Source,
    target: Target,
    output: Output = None,
    *,
    reading: Reading,
    labels: Labels = None,
    classes: Classes = None,
    candidates: Candidates = None,
    store: KnownStore = None,
    method: How = None,
    reflection: Reflection = None,
    components: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Columns of the output, at most.")
    ] = None,
    normalize: Normalize = "rows",
    source_output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the transformed source.")
    ] = None,
    w_output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the matrix of the transfer (.npy).")
    ] = None,
    plot: BeforeAndAfter = None,
    seed: Seed = 0,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Find what to transfer from a source to a target, say whether to, and write the transformed target.

    Both files have the same features, one row per line, and usually different classes; both may have a
    column of labels. csv, xlsx, parquet, npz, mat and svmlight files are read. Nothing has to be trained
    first: candidates are rehearsed on the classes of the source.

      l2t transfer photos.csv sketches.csv --label species -o sketches_z.csv

    An empty label cell in the target means that the label is not known; the labels that are there are
    weighed as evidence. Where every row of the target has a label, they are only used to measure the
    improvement (with --labels N), unless --labeled names the column that says which of them you have.
    """
    from l2t.interfaces.cli.transfer import run_transfer

    run_transfer(
        source,
        target,
        reading=reading,
        how=normalize,
        options=inference_options(context)
        | {
            "method": _method(method, reflection, candidates=candidates, store=store),
            "reflection": reflection,
            "n_components": components,
        },
        store=store,
        outputs={"target": output, "source": source_output, "matrix": w_output, "plot": plot},
        format=format,
        quiet=quiet,
    )


@app.command(short_help="Which of several sources to take for a target.")
@reads_files()
def rank(
    context: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="File of the target domain.")],
    sources: Annotated[
        list[Path], typer.Argument(metavar="SOURCE", help="Files of source domains.")
    ],
    *,
    reading: Reading,
    labels: Labels = None,
    classes: Classes = None,
    candidates: Candidates = None,
    store: KnownStore = None,
    normalize: Normalize = "rows",
    seed: Seed = 0,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Rank sources by what each should add for a target, before anything is trained.

    The target comes first, then the sources. A source that adds 1.05 should multiply the accuracy by 1.05,
    compared with the best transfer that needs no source. 'predicted' is the accuracy ratio over no transfer.
    """
    from l2t.interfaces.cli.transfer import run_rank

    run_rank(
        target,
        sources,
        reading=reading,
        how=normalize,
        options=inference_options(context),
        store=store,
        typed=typed_options(context),
        format=format,
        quiet=quiet,
    )


@app.command(short_help="Why: what spoke for and against each candidate.")
@reads_files()
def explain(
    context: typer.Context,
    pair: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SOURCE TARGET", help="Two files, for a pair; or none."),
    ] = None,
    *,
    reading: Reading,
    labels: Labels = None,
    classes: Classes = None,
    candidates: Candidates = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="STORE",
            help="Also learn from the labelled targets of this store; with --method paper, name its "
            "nearest experiences.",
        ),
    ] = None,
    method: How = None,
    reflection: Reflection = None,
    normalize: Normalize = "rows",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw a picture (.png, .svg or .pdf).")
    ] = None,
    seed: Seed = 0,
    format: As = Format.table,
    quiet: Quiet = False,
) -> None:
    """Explain the choice for two files: rehearsals, labelled rows and expectation of each candidate.

    With --method paper the prediction of the paper's reflection function is split into its terms and
    kernels, and --plot draws them. Without files, tell what the reflection function has learned.
    """
    from l2t.interfaces.cli.learn import run_explain, run_explain_paper

    if pair and len(pair) != 2:
        raise typer.BadParameter(f"a source and a target file are needed, got {len(pair)} file(s)")
    files = (pair[0], pair[1]) if pair else None
    paper = _method(method, reflection, candidates=candidates) == "paper"
    if plot and not (files and paper):
        raise typer.BadParameter(
            "--plot draws a prediction of the paper's method: name a source and a target, and add "
            "--method paper"
        )
    if files is None or paper:
        run_explain_paper(
            reflection,
            files,
            reading=reading,
            how=normalize,
            labels=labels,
            store=store,
            plot=plot,
            format=format,
            quiet=quiet,
        )
        return
    run_explain(
        *files,
        reading=reading,
        how=normalize,
        options=inference_options(context),
        store=store,
        format=format,
        quiet=quiet,
    )


def _method(method: str | None, reflection: str | None, **options: Any) -> str:
    """Return the method; options of the other one are wrong usage."""
    chosen = method or ("l2t" if reflection is None else "paper")
    if chosen == "l2t" and reflection is not None:
        raise typer.BadParameter("--reflection is an option of --method paper")
    for name, value in options.items():
        if chosen == "paper" and value is not None:
            raise typer.BadParameter(f"--{name} is an option of --method l2t")
    return chosen
