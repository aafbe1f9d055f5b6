"""Commands that collect experiences and learn from them: collect and learn."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import l2t
from l2t.exceptions import InvalidInputError
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument, file, flag, named, number
from l2t.interfaces.cli.output import Format, print_note, show_record, show_sentence
from l2t.interfaces.cli.settings import write_settings

_FUNCTION = Path("reflection.json")


@app.command(short_help="Run algorithms on pairs from two files, and store the experiences.")
@options.reads_files("labeled")
def collect(  # noqa: PLR0913
    context: typer.Context,
    source: Annotated[Path, argument("SOURCE", "File of the source domain, with labels.")],
    target: Annotated[Path, argument("TARGET", "File of the target domain, with labels.")],
    store: options.StoreOption = "experiences.db",
    pairs: Annotated[int, number("Number of pairs to draw.")] = 100,
    classes: Annotated[int, number("Number of classes of each domain in a pair.", least=2)] = 3,
    per_class: Annotated[int, number("Maximum number of rows per class.")] = 80,
    shared: Annotated[bool, flag("Draw the same classes from both files.", "--shared")] = False,
    *,
    reading: options.Reading,
    normalize: options.NormalizeOption = "rows",
    algorithms: Annotated[
        str, named("Comma-separated names of algorithms.", metavar="NAMES")
    ] = "all",
    one_per_pair: Annotated[
        bool, flag("Run one random algorithm per pair.", "--one-per-pair")
    ] = False,
    components: Annotated[int, number("Number of components.")] = 20,
    jobs: options.JobsOption = 1,
    cluster: options.ClusterOption = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what failed before.")
    ] = False,
    seed: options.SeedOption = 0,
    config: options.ConfigOption = None,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Draw pairs from two labelled domains, run algorithms on them, and store the experiences.

    Source and target of a pair have different classes, or the same with --shared; then classifiers trained
    on the source and on both are measured as well.

    If it is interrupted, run the same command again to resume. The settings are written beside the store
    (experiences.toml for experiences.db); --config repeats the run.
    """
    from l2t.experiences.collection import check_test_rows

    first, second = _labelled([source, target], reading, normalize, quiet)
    try:
        sampler = l2t.PairSampler(first, second, pairs, classes, per_class, seed, shared)
        check_test_rows(sampler, random_state=seed)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{error}; 'l2t predict' and 'l2t transfer' need no experiences if the source has three or "
            "more classes"
        ) from None
    names = algorithms if algorithms == "all" else re.split(r"\s*,\s*", algorithms.strip())
    l2t.algorithms.make_all("algorithms", names)  # or an error, before anything is written
    _collect(
        context,
        sampler,
        store,
        format,
        algorithms=names,
        one_per_pair=one_per_pair,
        n_components=components,
        n_jobs=jobs,
        cluster=cluster,
        random_state=seed,
        progress=not quiet,
        retry_failed=retry_failed,
    )


@app.command(short_help="Learn a reflection function from the experiences of a store.")
def learn(  # noqa: PLR0913
    context: typer.Context,
    store: options.StoreOption = "experiences.db",
    output: Annotated[Path, file("Write the reflection function.", "--output", "-o")] = _FUNCTION,
    neighbors: Annotated[
        list[int] | None,
        number(
            "Number of neighbours in the discriminant criterion; may be repeated to choose the best."
        ),
    ] = None,
    max_labels: Annotated[
        int, number("Maximum number of labels to learn from; others only calibrate intervals.")
    ] = 30,
    trained_on: Annotated[
        options.TrainedOnChoice, typer.Option(help="Learn from classifiers trained on these rows.")
    ] = "target",
    form: Annotated[
        options.FormChoice,
        typer.Option(help="Form of the function: the paper's, or a convex one with one optimum."),
    ] = "paper",
    force: options.ForceOption = False,
    seed: options.SeedOption = 0,
    config: options.ConfigOption = None,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Learn from a store of experiences how much a transfer improves the accuracy: a reflection function.

    Its hyperparameters are chosen and its intervals calibrated on held-out experiences. The settings are
    written beside the function (reflection.toml for reflection.json); --config repeats the run.
    """
    from l2t.interfaces.cli.reading import check_outputs, shown_url
    from l2t.interfaces.cli.results import function_summary, learning_summary

    check_outputs((output, "function"), inputs=[config], store=store, force=force)
    known = shown_url(store)
    with l2t.open_store(store, create=False) as opened:
        function = l2t.learn(
            opened.experiences(status="done"),
            store=opened,
            n_neighbors=neighbors or None,
            max_labels=max_labels,
            trained_on=trained_on,
            form=form,
            random_state=seed,
        )
    function.save(output)
    settings = write_settings(context, output, store=known)
    summary = learning_summary if format is Format.table else function_summary
    show_record(summary(function), format)
    print_note(
        f"function written to {output}; to repeat: l2t learn --config {settings} --force", quiet
    )
    if trained_on == "target":
        print_note(
            f"next: l2t transfer SOURCE TARGET --reflection {shlex.quote(str(output))}", quiet
        )


def _labelled(
    files: list[Path], reading: options.Reading, how: str, quiet: bool
) -> list[l2t.Domain]:
    from l2t.interfaces.cli.reading import note_preparation, read_files

    tables = read_files(files, reading, quiet)
    for path in (table.path for table in tables if table.domain.y is None):
        raise InvalidInputError(f"{path}: has no labels; name the label column with --label")
    prepared = l2t.prepare(tables[0].domain, tables[-1].domain, how)
    note_preparation(prepared, how, quiet)
    return [l2t.normalize(table.domain, prepared.how) for table in tables]


def _collect(
    context: typer.Context, sampler: l2t.PairSampler, url: str, format: Format, **arguments: Any
) -> None:
    """Collect into a store, write the settings beside it, and print a summary."""
    from l2t.experiences.store.address import Address
    from l2t.interfaces.cli.reading import shown_url

    address, known = Address.of(url), shown_url(url)
    with l2t.open_store(url) as store:
        place = Path(url) if address.path and "://" not in url else address.path
        settings = write_settings(context, place or Path("experiences"), store=known)
        try:
            summary = l2t.collect(sampler, store, **arguments)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"finished runs are kept in {known}; resume with: l2t collect --config {settings}"
            ) from None
        count = store.count()
    show_sentence(
        f"{summary.done} runs done, {summary.failed} failed, {summary.already_there} already stored, "
        f"in {summary.seconds:.0f} s; {known} has {count} experiences",
        asdict(summary) | {"experiences": count, "store": known, "settings": str(settings)},
        format,
    )
    quiet = not arguments["progress"]
    if why := "; ".join(dict.fromkeys(summary.lost)):
        print_note(
            f"{len(summary.lost)} runs were lost; run the command again to repeat them: {why:.300}"
        )
    if summary.failed:
        print_note(f"to see why runs failed: l2t store ls --store {known} --status failed", quiet)
        if not summary.done:
            raise typer.Exit(1)
    print_note(
        f"to repeat: l2t collect --config {settings}; next: l2t learn --store {known}", quiet
    )
