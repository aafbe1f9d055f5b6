"""Everyday commands: demo, example, transfer and rank."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import l2t
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument, file, number
from l2t.interfaces.cli.output import SHOWN_DIGITS, Format, print_note, show_record, show_rows

if TYPE_CHECKING:
    from l2t.typing import JsonObject

NO_LABELS = (
    "has no labels, so L2T cannot learn from its classes, and the source adds nothing; name its label column "
    "with --label, or a store of labelled targets with --store"
)


@app.command(short_help="Run the whole method on handwritten digits, in about a minute.")
def demo(
    pairs: Annotated[int, number("Number of new pairs to test on.", least=2)] = 8,
    seed: options.SeedOption = 0,
    jobs: options.JobsOption = 2,
    plot: options.PlotOption = None,
    report: Annotated[Path, file("Write a page with pictures.")] = Path("demo.html"),
    force: options.ForceOption = False,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Collect experiences on handwritten digits, learn from them, and transfer between new pairs.

    The source of a new pair has seven digits of the UCI set, the target the three other digits of MNIST, or
    the other way round (both ship with the installation). The table shows the improvement ratio of the eight
    base algorithms, of the paper's method and of L2T: 1-NN accuracy with the transfer over 1-NN accuracy
    without, for 3 to 120 labelled target rows. A page with pictures is written as well.
    """
    from l2t.interfaces.cli.demo import run_demo
    from l2t.interfaces.cli.reading import check_outputs

    check_outputs((plot, "figure"), (report, "page"), force=force)
    run_demo(pairs, seed, jobs, plot, report, format, quiet=quiet)


@app.command(short_help="Write csv files to try the other commands on.")
def example(
    name: Annotated[Literal["digits"], argument("NAME", "The example: digits.")],
    folder: Annotated[
        Path, file("Write the files into this folder.", "--folder", metavar="FOLDER")
    ] = Path(),
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Write an example: a labelled source, a target with other classes and few labels, and its true labels.

    'digits' writes scans.csv, scans of seven digits of the UCI set; handwriting.csv, the three other digits
    from MNIST with ten labels; and answers.csv, the same with all labels. The features are 64 grey values,
    and the column of labels is 'digit'.

      l2t example digits

      l2t predict scans.csv handwriting.csv --label digit -o predictions.csv
    """
    from l2t.domains.files.disk import replacing
    from l2t.interfaces.cli.example import digit_tables
    from l2t.interfaces.cli.reading import check_outputs

    tables = {folder / f"{name}.csv": table for name, table in digit_tables().items()}
    check_outputs(*((path, "table") for path in tables), force=force)
    for path, table in tables.items():
        with replacing(path) as handle:
            table.to_csv(handle, index=False)
        print_note(f"{len(table)} rows written to {path}", quiet)
    source, target, _ = (shlex.quote(str(path)) for path in tables)
    print_note(f"next: l2t predict {source} {target} --label digit -o predictions.csv", quiet)


@app.command(short_help="Transform the features of a target so that a source helps, if it can.")
@options.reads_files()
def transfer(  # noqa: PLR0913
    context: typer.Context,
    source: options.Source,
    target: options.Target,
    output: options.Output = None,
    *,
    reading: options.Reading,
    labels: options.LabelsOption = None,
    classes: options.ClassesOption = None,
    candidates: options.CandidatesOption = None,
    store: options.KnownStoreOption = None,
    method: options.MethodOption = "l2t",
    reflection: options.ReflectionOption = None,
    components: Annotated[int | None, number("Maximum number of output features.")] = None,
    normalize: options.NormalizeOption = "auto",
    source_output: Annotated[Path | None, file("Write the transformed source.")] = None,
    w_output: Annotated[Path | None, file("Write the matrix of the transfer (.npy).")] = None,
    plot: options.PlotOption = None,
    force: options.ForceOption = False,
    seed: options.SeedOption = 0,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Find what to transfer from a source to a target, if anything, and transform the target.

    Both files have the same features, one row per line, and usually different classes; both may have a
    column of labels. csv, xlsx, parquet, npz, mat and svmlight files are read. Nothing has to be trained
    first: candidates are rehearsed on the classes of the source.

      l2t transfer photos.csv sketches.csv --label species -o sketches_z.csv

    An empty label cell in the target means that the label is unknown; known labels are evidence in the
    choice. If every target row has a label, the labels are only used to measure the improvement (with
    --labels N), unless --labeled names a column that marks the labelled rows.
    """
    from l2t.interfaces.cli import results
    from l2t.interfaces.cli.reading import check_outputs, known_classes, note_preparation, read_pair
    from l2t.progress import progress_bar

    options.check_method(method, candidates=candidates, store=store)
    wanted = options.inference_options(context) | {
        "method": method,
        "reflection": reflection,
        "n_components": components,
    }
    sides = {"target": output, "source": source_output}
    outputs = [(path, "domain") for path in sides.values()]
    outputs += [(w_output, "matrix"), (plot, "figure")]
    check_outputs(*outputs, inputs=[source, target, reflection], store=store, force=force)
    tables, prepared = read_pair(source, target, reading=reading, how=normalize, quiet=quiet)
    pair = prepared.pair
    known = known_classes(store, pair.n_features, quiet)
    if pair.source.y is None and not (known and known.n_classes):
        print_note(f"note: {source} {NO_LABELS}", quiet)
    with progress_bar(4, "", shown=not quiet) as advance:
        inference = l2t.infer(pair, known=known, callback=advance, **wanted)
    note_preparation(prepared, normalize, quiet)
    for side, path in sides.items():
        if path is not None:
            domain = getattr(pair, side)
            print_note(results.write_side(side, tables[side], domain, inference, path), quiet)
    _write_others(pair, inference, w_output, plot, quiet)
    record = results.expectation(source, target, pair, inference) | results.measured(
        pair.target, inference
    )
    if format is Format.table:
        show_record(results.for_display(record), format)
        show_rows(results.candidate_rows(inference), format)
    else:
        more = {"candidates": inference.candidates.records()} if format is Format.json else {}
        show_record(record | more, format)


@app.command(short_help="Rank several sources for a target.")
@options.reads_files()
def rank(  # noqa: PLR0913
    context: typer.Context,
    files: Annotated[list[Path], argument("SOURCE... TARGET", "Source files, then the target.")],
    *,
    reading: options.Reading,
    labels: options.LabelsOption = None,
    classes: options.ClassesOption = None,
    candidates: options.CandidatesOption = None,
    store: options.KnownStoreOption = None,
    normalize: options.NormalizeOption = "auto",
    seed: options.SeedOption = 0,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Rank sources by how much each is expected to improve the accuracy on a target.

    The target comes last, as in all commands. A source that adds 1.05 is expected to multiply the accuracy by
    1.05, compared with the best transfer that needs no source. 'predicted' is the accuracy relative to no
    transfer.
    """
    from l2t.display import finite_interval
    from l2t.interfaces.cli.reading import (
        free_path,
        known_classes,
        note_order,
        note_preparation,
        read_files,
    )

    *sources, target = files
    if not sources:
        raise typer.BadParameter("one or more sources and a target file are needed, got one file")
    tables = read_files(files, reading, quiet)
    note_order(tables, quiet, always=True, hint=" (up to version 0.2, rank took it first)")
    prepared = l2t.prepare(tables[0].domain, tables[-1].domain, normalize)
    *read, last = (l2t.normalize(table.domain, prepared.how) for table in tables)
    known = known_classes(store, last.n_features, quiet)
    ranked = l2t.rank_sources(last, read, known=known, **options.inference_options(context))
    note_preparation(prepared, normalize, quiet)
    rows: list[JsonObject] = []
    for place, source_rank in enumerate(ranked, start=1):
        low, high = finite_interval(source_rank.inference.interval) or (None, None)
        adds_nothing = format is Format.table and not _adds(source_rank.adds)
        adds = "nothing" if adds_nothing else source_rank.adds
        row = {"rank": place, "source": str(sources[source_rank.index]), "adds": adds}
        row |= {"predicted": source_rank.predicted, "low": low, "high": high}
        rows.append(row | {"choice": source_rank.inference.choice})
    show_rows(rows, format)
    if not _adds(ranked[0].adds):
        print_note("no source is expected to add to what the target alone gives", quiet)
    source, labeled = rows[0]["source"], last.labeled
    predicts = labeled is not None and labeled.any()
    if predicts or ranked[0].inference.verdict == "transfer":
        kind = "predict" if predicts else "transfer"
        typed = options.typed_options(context, kind)
        output = free_path(
            f"{target.name.partition('.')[0]}_{'predicted' if predicts else 'z'}.csv"
        )
        command = ["l2t", kind, source, str(target), *typed, "-o", str(output)]
        print_note(f"next: {shlex.join(command)}", quiet)


def _adds(ratio: float) -> bool:
    """Return whether a source adds anything in the digits that a table shows."""
    return round(ratio, SHOWN_DIGITS) > 1


def _write_others(
    pair: l2t.DomainPair,
    inference: l2t.Inference,
    matrix: Path | None,
    plot: Path | None,
    quiet: bool,
) -> None:
    """Write the matrix of the transfer, and a plot of both domains."""
    import numpy as np

    from l2t.domains.files.disk import replacing

    if matrix is not None:
        with replacing(matrix) as handle:
            W = inference.W if isinstance(inference.W, np.ndarray) else inference.W.toarray()
            np.save(handle, W, allow_pickle=False)
        print_note(f"matrix written to {matrix}", quiet)
    if plot is not None:
        from l2t.plots import plot_transfer

        plot_transfer(pair, inference).savefig(plot, dpi=150)
        print_note(f"picture written to {plot}", quiet)
