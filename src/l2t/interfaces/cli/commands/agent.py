"""Commands of the agent, which learns from outcomes: ask, tell, suggestions and versions."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

import l2t
from l2t.exceptions import InvalidInputError
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument, file, named, number
from l2t.interfaces.cli.output import Format, print_note, select_columns, show_record, show_rows


@app.command(short_help="Ask the agent what to transfer; it learns from outcomes.")
@options.reads_files()
def ask(  # noqa: PLR0913
    source: options.Source,
    target: options.Target,
    url: options.Store = "experiences.db",
    output: options.Output = None,
    *,
    reading: options.Reading,
    labels: options.Labels = None,
    classes: options.Classes = None,
    normalize: options.Normalize = "auto",
    explore: Annotated[
        float,
        typer.Option(min=0, max=1, help="Probability of suggesting a random other candidate."),
    ] = 0.0,
    force: options.Force = False,
    seed: options.Seed = 0,
    format: options.As = Format.table,
    quiet: options.Quiet = False,
) -> None:
    """Ask the agent what to transfer from a source file to a target file.

    Like `l2t transfer`, but stores the suggestion under an id. Measure the accuracy without and with the
    transfer on the same test rows, and report both: `l2t tell ID --before 0.61 --after 0.68`. The agent
    learns from these outcomes, and from the labels of earlier targets in its store.
    """
    from l2t.interfaces.cli import results
    from l2t.interfaces.cli.reading import check_outputs, note_preparation, read_pair, shown_url

    check_outputs((output, "domain"), inputs=[source, target], store=url, force=force)
    tables, prepared = read_pair(source, target, reading=reading, how=normalize, quiet=quiet)
    pair = prepared.pair
    with l2t.open_store(url) as store:
        agent = l2t.Agent(store, explore=explore, random_state=seed)
        found = agent.ask(pair, labels, n_classes=classes)
    note_preparation(prepared, normalize, quiet)
    record = {"id": found.id, **results.expectation(source, target, pair, found)}
    if format is Format.table:
        assert found.inference is not None  # it is new
        show_record({"id": found.id, **results.for_display(record)}, format)
        show_rows(results.candidate_rows(found.inference), format)
    else:
        show_record(record | {"version": found.version}, format)
    if output is not None:
        print_note(
            results.write_side("target", tables["target"], pair.target, found, output), quiet
        )
    print_note(
        "next, with the accuracies that you measured without and with the transfer: "
        f"l2t tell {found.id} --store {shlex.quote(shown_url(url))} --before ACCURACY --after ACCURACY",
        quiet,
    )


@app.command(short_help="Report the outcome of a suggestion to the agent.")
def tell(
    id: Annotated[str, argument("ID", "Id of the suggestion, or a prefix of it.")],
    before: Annotated[
        float, typer.Option(min=0, max=1, help="Accuracy without the transfer, such as 0.61.")
    ],
    after: Annotated[
        float, typer.Option(min=0, max=1, help="Accuracy on the same rows with the transfer.")
    ],
    url: options.Store = "experiences.db",
    labels: Annotated[
        int | None, number("Number of labelled rows; by default that of 'ask'.")
    ] = None,
    correct: Annotated[
        bool, typer.Option("--correct", help="Replace the outcome reported before.")
    ] = False,
    format: options.As = Format.table,
) -> None:
    """Report the outcome of a suggestion to the agent, which learns from it."""
    with l2t.open_store(url, create=False) as store:
        agent = l2t.Agent(store, reflection=None)
        (score,) = agent.tell(id, before, after, labels, correct=correct).scores
        suggestion = store.suggestion(id)
        record = {
            "id": suggestion.id,
            "run": None if suggestion.run is None else suggestion.run[:12],
            "labels": score.n_labels,
            "measured_improvement": score.improvement_ratio,
            "predicted_improvement": suggestion.predicted,
            "version_in_use": agent.version,
        }
    show_record(record, format)


@app.command(short_help="List the suggestions without a reported outcome.")
def suggestions(
    url: options.Store = "experiences.db",
    delete: Annotated[str | None, named("Delete this suggestion first.", metavar="ID")] = None,
    format: options.As = Format.table,
) -> None:
    """List the suggestions whose outcome has not been reported yet, the newest first."""
    from l2t.interfaces.cli.results import used_rows

    with l2t.open_store(url, create=False) as store:
        if delete is not None:
            store.delete_suggestion(delete)
        verdict = "" if format is Format.table else "verdict"
        columns = f"id source target choice labels predicted {verdict} created"
        rows = [
            select_columns(suggestion, columns) | {"used": used_rows(suggestion.algorithm)}
            for suggestion in store.open_suggestions()
        ]
    if rows or format is not Format.table:
        show_rows(rows, format)
    else:
        print_note("no suggestion is waiting for its outcome")


@app.command(short_help="List the versions of the agent's reflection function.")
def versions(
    url: options.Store = "experiences.db",
    roll_back: Annotated[int | None, number("Use this version again.")] = None,
    save: Annotated[Path | None, file("Write the version in use to this JSON file.")] = None,
    force: options.Force = False,
    format: options.As = Format.table,
) -> None:
    """List all versions of the agent's reflection function, with their errors on held-out runs."""
    from l2t.interfaces.cli.reading import check_outputs

    check_outputs((save, "function"), store=url, force=force)
    with l2t.open_store(url, create=False) as store:
        agent = l2t.Agent(store, reflection=None)
        if roll_back is not None:
            agent.roll_back(roll_back)
        in_use, function = agent.version, agent.reflection
        columns = "parent origin runs held_out_runs error error_of_previous accepted created"
        rows = [
            {"version": each.number, "in_use": each.number == in_use}
            | select_columns(each, columns)
            for each in agent.versions()
        ]
    show_rows(rows, format)
    if save is not None:
        if function is None:
            raise InvalidInputError(
                f"{save} was not written: no reflection function has been learned yet"
            )
        function.save(save)
        print_note(f"function written to {save}")
