"""Commands that predict classes: predict and apply."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import l2t
from l2t.display import ANSWERS, escape_controls
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument, file, flag, named, number
from l2t.interfaces.cli.output import Format, print_note, show_record, show_rows

if TYPE_CHECKING:
    from l2t.domains import Table
    from l2t.typing import JsonObject, Label


@app.command(short_help="Predict the class of every row of a file, with the accuracy to expect.")
@options.reads_files()
def predict(  # noqa: PLR0913
    files: Annotated[list[Path], argument("SOURCE... TARGET", "Source files, then the target.")],
    output: Annotated[
        Path | None, file("Write predictions (csv, parquet).", "--output", "-o")
    ] = None,
    save: Annotated[Path | None, file("Write the trained model, for 'l2t apply'.")] = None,
    *,
    reading: options.Reading,
    suggest: Annotated[int, number("Suggest N rows to label next.", least=0)] = 0,
    train_on: Annotated[
        Literal["auto", "target", "source", "both"],
        typer.Option(
            help="Train on labelled rows of these domains; auto: the target, and sources with its classes."
        ),
    ] = "auto",
    shared: Annotated[
        bool | None,
        typer.Option(
            "--shared/--no-shared",
            help="Whether equal labels in sources and target mean the same class. By default they do, and a "
            "target without labels has the classes of the sources.",
        ),
    ] = None,
    balanced: Annotated[
        bool, flag("All classes of the target have about the same number of rows.", "--balanced")
    ] = False,
    metric: Annotated[
        Literal["accuracy", "balanced", "f1"],
        typer.Option(
            help="Maximise the accuracy, the balanced accuracy (mean recall of the classes) or their mean F1."
        ),
    ] = "accuracy",
    normalize: Annotated[
        Literal["auto", "none", "rows", "centred", "zscore"],
        typer.Option(
            help="Scale the features of each file: rows to unit norm, centred rows to unit norm, or columns "
            "to unit variance; auto divides columns by their standard deviation if that differs widely."
        ),
    ] = "auto",
    text_encoder: Annotated[
        str | None,
        named(
            "Folder, or name in the local cache, of a model of sentence-transformers that makes features of "
            "texts; by default TF-IDF does.",
            metavar="MODEL",
        ),
    ] = None,
    store: options.KnownStoreOption = None,
    force: options.ForceOption = False,
    seed: options.SeedOption = 0,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Predict the class of every row of a target that has labels for a few of its rows, or for none.

    The output has your rows and columns in their order, without the features of very wide svmlight files, and
    three more columns: 'predicted', 'probability' and 'given' (whether the row had a label). Sources, of
    which there may be several or none, have the same features and other or the same classes. A target without
    labels is assumed to have the classes of the sources. A table shows the expected accuracy of classifiers
    without transfer and of L2T, and marks the one that is used.

    A target larger than memory is a folder of parquet files, and so is its output: the model is trained on
    20,000 random rows and as many labelled ones.

      l2t predict photos.csv sketches.csv --label species -o predictions.csv --save model.l2t

      l2t apply model.l2t new.csv -o new_predictions.csv
    """
    from l2t.domains.labels import label_key
    from l2t.exceptions import InvalidInputError
    from l2t.interfaces.cli.reading import (
        check_dataset,
        check_outputs,
        known_classes,
        note_order,
        read_files,
    )
    from l2t.progress import progress_bar

    data = files[-1] if files[-1].is_dir() else None
    results = (None if data else output, "table"), (save, "model")
    check_outputs(*results, inputs=files, store=store, force=force)
    if data is not None:
        check_dataset(data, output, reading["impute"], suggest)
    encoding = {"encode": True, "text_encoder": text_encoder}
    *sources, target = tables = read_files(files, reading | encoding, quiet, seed)
    if not store and all(table.domain.y is None for table in tables):
        raise InvalidInputError("no file has labels; name the column that has them with --label")
    note_order(tables, quiet, always=True)
    target.check_free(ANSWERS)
    domain = target.labelled
    labels = () if domain.y is None else domain.y[domain.labeled].tolist()
    if any(label_key(label) == -1 for label in labels):
        note = "the label -1 counts as a class; if it marks rows without a label, add --missing=-1"
        print_note(note, quiet)
    known = known_classes(store, target.domain.n_features, quiet)
    with progress_bar(None, "", shown=not quiet) as advance:
        prediction = l2t.predict(
            [source.domain for source in sources],
            domain,
            train_on=train_on,
            shared=shared,
            balanced=balanced,
            metric=metric,
            normalize=normalize,
            known=known,
            random_state=seed,
            callback=advance,
        )
    if data is not None and output is not None:
        chosen = {"label": target.roles.label, "labeled": target.roles.labeled, "overwrite": force}
        chosen |= {"missing": reading["missing"], "impute": reading["impute"]}
        _apply_in_chunks(prediction.model, str(data), str(output), quiet, **chosen)
    _write(prediction, None if data else target, output, save, quiet)
    _show(prediction, target, suggest, format, quiet)  # last, as a pipe may be closed


@app.command(short_help="Predict further rows with a model that 'l2t predict' saved.")
@options.reads_files("label", "labeled", "id", "ignore", "keep", "feature")
def apply(  # noqa: PLR0913
    model: Annotated[Path, argument("MODEL", "Model from 'l2t predict --save'.")],
    rows: Annotated[str, argument("DATA", "File, or parquet data set, with the model's features.")],
    output: Annotated[
        str, file("Write predictions (csv, parquet, or a folder).", "--output", "-o")
    ],
    *,
    reading: options.Reading,
    jobs: options.JobsOption = 1,
    cluster: options.ClusterOption = None,
    force: options.ForceOption = False,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Predict the class of every row of a file or a parquet data set with a saved model.

    Features are matched by name, in any order. The output has your rows and columns, 'predicted' and
    'probability'.

    A parquet data set may be larger than memory: a file, a folder of files, or a URL. Each of its files
    becomes one in the output folder. A run that was interrupted resumes with the files that are not finished.

      l2t apply model.l2t data/ -o predictions/ --jobs -1
    """
    from l2t.domains.files.dataset import is_remote
    from l2t.interfaces.cli.reading import check_outputs, is_read_in_chunks, read_features

    loaded = l2t.load_model(model)
    streamed = is_read_in_chunks(rows, output, loaded, reading["impute"])
    in_folder = streamed and (not Path(rows).is_file() or Path(output).is_dir())
    if not (in_folder or is_remote(output)):
        kind = "file" if streamed else "table"
        check_outputs((Path(output), kind), inputs=[model, rows], force=force)
    if streamed:
        chosen = {"missing": reading["missing"], "impute": reading["impute"], "overwrite": force}
        chosen |= {"n_jobs": jobs, "cluster": cluster}
        counts = _apply_in_chunks(loaded, rows, output, quiet, **chosen)
    else:
        if jobs != 1 or cluster is not None:
            print_note("note: --jobs and --cluster are for parquet data sets", quiet)
        table = read_features(Path(rows), loaded, reading, quiet)
        table.check_free(ANSWERS[:2])
        codes, probability = loaded.answer(table.domain)
        labels = loaded.classes_[codes]
        answers = (labels, probability)
        table.write(Path(output), columns=dict(zip(ANSWERS[:2], answers, strict=True)))
        counts = Counter(labels.tolist())
    shown = [{"predicted": label, "rows": count} for label, count in counts.most_common() if count]
    show_rows(shown, format)
    print_note(f"predictions written to {output}", quiet)


@app.command(short_help="Label rows of a file in the browser, those first that help most.")
@options.reads_files()
def label(
    files: Annotated[list[Path], argument("SOURCE... TARGET", "Source files, then the target.")],
    labels: Annotated[
        Path | None, file("The file of labels; by default NAME.labels.csv beside the target.")
    ] = None,
    *,
    reading: options.Reading,
    images: Annotated[
        Path | None, named("Show images of this folder that cells name.", metavar="FOLDER")
    ] = None,
    strategy: Annotated[
        Literal["informative", "diverse", "balanced", "random"],
        typer.Option(
            help="Rows that say most about others, varied uncertain ones, some per class, or any."
        ),
    ] = "informative",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")
    ] = 8765,
    open_browser: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
    seed: options.SeedOption = 0,
) -> None:
    """Label rows of a target in the browser, and see what each ten labels bring.

    The target is not changed: each label is written at once to NAME.labels.csv beside it, and the same
    command continues from there. The page has the labelled target to download. Stop it with Ctrl-C.

      l2t label photos.csv sketches.csv --label species
    """
    *sources, target = files
    l2t.label(
        target,
        sources,
        labels=labels,
        images=images,
        strategy=strategy,
        port=port,
        open_browser=open_browser,
        random_state=seed,
        **reading,
    )


def _apply_in_chunks(
    model: l2t.Model, rows: str, output: str, quiet: bool, **chosen: Any
) -> Counter[Label]:
    """Predict a parquet data set, and return the number of rows in each class."""
    from l2t.progress import progress_bar

    with progress_bar(None, "", shown=not quiet) as advance:
        done = model.predict_dataset(rows, output, **chosen, callback=advance)
    if done.n_resumed:
        finished = f"{done.n_resumed} of {done.n_files} files were finished before"
        print_note(f"note: {finished}; to write them again, pass --force", quiet)
    return Counter(done.counts)


def _write(
    prediction: l2t.Prediction,
    target: Table | None,
    output: Path | None,
    save: Path | None,
    quiet: bool,
) -> None:
    """Write the predictions of a table and the model, and note what was written."""
    if output is None:
        print_note("predictions were not written to a file; add -o predictions.csv", quiet)
    else:
        if target is not None:
            answers = (prediction.labels, prediction.probability, prediction.given)
            target.write(output, columns=dict(zip(ANSWERS, answers, strict=True)))
        print_note(f"predictions written to {output}", quiet)
    if save is not None:
        prediction.model.save(save)
        command = ["l2t", "apply", str(save), "NEW.csv", "-o", "predictions.csv"]
        print_note(f"model written to {save}; for further rows: {shlex.join(command)}", quiet)


def _show(
    prediction: l2t.Prediction, target: Table, suggest: int, format: Format, quiet: bool
) -> None:
    """Print the expected accuracy, and which rows to label next."""
    from l2t.prediction.summary import quality
    from l2t.prediction.training import NAMED
    from l2t.validation import some_of

    rows = prediction.suggest(suggest).tolist() if suggest else []
    ids = target.frame[list(target.roles.ids)].iloc[rows].to_dict("records")
    suggested = [{"row": row + 1} | id_cells for row, id_cells in zip(rows, ids, strict=True)]
    if format is Format.json:
        record = {
            "choice": prediction.choice,
            "classifier": prediction.classifier,
            "rows": len(prediction.labels),
            "labelled": int(prediction.given.sum()),
            "sentences": prediction.report.sentences,
            "metric": prediction.metric,
            "counts": prediction.counts,
            "quality": quality(prediction),
            "report": prediction.report.records(),
            "suggested": suggested,
        }
        show_record(record, format)
        return
    if format is Format.csv:
        show_rows(prediction.report.records(), format)
    else:
        show_rows([_expected(row) for row in prediction.report.records()], format)
        counts = some_of([f"{name} {count:,}" for name, count in prediction.counts.items()], NAMED)
        sentences = [*prediction.report.sentences, f"Predicted rows: {counts}."]
        typer.echo(escape_controls("\n".join(sentences)))
    if suggested:
        print_note("rows to label next, counted from 1:", quiet or format is not Format.table)
        show_rows(suggested, format)


def _expected(row: JsonObject) -> JsonObject:
    """Return a row of the report for display."""
    from l2t.prediction.decisions import METRIC_NAMES

    measured = "too few labels"
    if row["measured"] is not None:
        measured = f"{100 * row['measured']:.1f} %"
        measured += "" if row["error"] is None else f" ± {100 * row['error']:.1f}"
    expected = None if row["expected"] is None else f"{100 * row['expected']:.1f} %"
    name = f"{row['name']} (used)" if row["used"] else row["name"]
    if row["metric"] != "accuracy":
        name += f": {METRIC_NAMES[row['metric']]}"
    return {"accuracy of": name, "cross-validated": measured, "expected": expected}
