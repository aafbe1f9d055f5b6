"""Commands of the agent: agent ask, agent tell and agent list."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from typing import Annotated

import typer

import l2t
from l2t.exceptions import InvalidInputError
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument, flag, named, number
from l2t.interfaces.cli.output import Format, print_note, select_columns, show_record, show_rows

agent = typer.Typer(
    help="Ask what to transfer, and report the outcomes as experiences.", no_args_is_help=True
)
app.add_typer(agent, name="agent")


@agent.command(short_help="Ask what to transfer, and store the suggestion.")
@options.reads_files()
def ask(  # noqa: PLR0913
    source: options.Source,
    target: options.Target,
    url: options.StoreOption = "experiences.db",
    output: options.Output = None,
    *,
    reading: options.Reading,
    labels: options.LabelsOption = None,
    classes: options.ClassesOption = None,
    reflection: options.ReflectionOption = None,
    normalize: options.NormalizeOption = "auto",
    force: options.ForceOption = False,
    seed: options.SeedOption = 0,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Ask what to transfer from a source file to a target file.

    Like `l2t transfer --store`, but stores the suggestion under an id. Measure the accuracy without and with
    the transfer on the same test rows, and report both: `l2t agent tell ID --before 0.61 --after 0.68`.
    """
    from l2t.interfaces.cli import results
    from l2t.interfaces.cli.reading import check_outputs, note_preparation, read_pair, shown_url

    inputs = [source, target, reflection]
    check_outputs((output, "domain"), inputs=inputs, store=url, force=force)
    tables, prepared = read_pair(source, target, reading=reading, how=normalize, quiet=quiet)
    pair = prepared.pair
    with l2t.open_store(url) as store:
        asked = l2t.Agent(store, reflection=reflection, random_state=seed)
        suggestion = asked.ask(pair, labels, n_classes=classes)
    note_preparation(prepared, normalize, quiet)
    record = {"id": suggestion.id, **results.expectation(source, target, pair, suggestion)}
    if format is Format.table:
        assert suggestion.inference is not None  # it is new
        show_record({"id": suggestion.id, **results.for_display(record)}, format)
        show_rows(results.candidate_rows(suggestion.inference), format)
    else:
        show_record(record, format)
    if output is not None:
        print_note(
            results.write_side("target", tables["target"], pair.target, suggestion, output), quiet
        )
    store_option = shlex.join(["--store", shown_url(url)])
    print_note(
        "next, with the accuracies that you measured without and with the transfer: "
        f"l2t agent tell {suggestion.id} {store_option} --before ACCURACY --after ACCURACY",
        quiet,
    )


@agent.command(short_help="Report the outcome of a suggestion.")
def tell(
    id: Annotated[str, argument("ID", "Id of the suggestion, or a prefix of it.")],
    before: Annotated[
        float, typer.Option(min=0, max=1, help="Accuracy without the transfer, such as 0.61.")
    ],
    after: Annotated[
        float, typer.Option(min=0, max=1, help="Accuracy on the same rows with the transfer.")
    ],
    url: options.StoreOption = "experiences.db",
    labels: Annotated[
        int | None, number("Number of labelled rows; by default that of 'ask'.")
    ] = None,
    correct: Annotated[
        bool, typer.Option("--correct", help="Replace the outcome reported before.")
    ] = False,
    format: options.FormatOption = Format.table,
) -> None:
    """Report the outcome of a suggestion, which becomes an experience of the store."""
    with l2t.open_store(url, create=False) as store:
        run = l2t.Agent(store).tell(id, before, after, labels, correct=correct)
        suggestion = store.suggestion(id)
    (score,) = run.scores
    record = {
        "id": suggestion.id,
        "run": run.key[:12],
        "labels": score.n_labels,
        "measured_improvement": score.improvement_ratio,
        "predicted_improvement": suggestion.predicted,
    }
    show_record(record, format)


@agent.command("list", short_help="List the suggestions with their outcomes.")
def list_suggestions(
    url: options.StoreOption = "experiences.db",
    open_only: Annotated[bool, flag("Only suggestions without an outcome.", "--open")] = False,
    delete: Annotated[str | None, named("Delete this suggestion first.", metavar="ID")] = None,
    format: options.FormatOption = Format.table,
) -> None:
    """List the suggestions with their outcomes: first those without one, each time the newest first."""
    from l2t.interfaces.cli.results import used_rows

    with l2t.open_store(url, create=False) as store:
        if delete is not None:
            store.delete_suggestion(delete)
        suggestions = l2t.Agent(store).list(open_only=open_only)
    verdict = "" if format is Format.table else "verdict"
    rows = [
        {
            **select_columns(suggestion, f"id source target choice labels predicted {verdict}"),
            "measured": suggestion.outcome and suggestion.outcome.improvement_ratio,
            **select_columns(suggestion, "created"),
            "used": used_rows(suggestion.algorithm),
        }
        for suggestion in suggestions
    ]
    if rows or format is not Format.table:
        show_rows(rows, format)
    else:
        print_note(
            "no suggestion is waiting for its outcome" if open_only else "no suggestions yet"
        )


def _deprecated(command: Callable[..., None], old: str, new: str, **fixed: object) -> None:
    """Add a command under its name in version 0.2, which prints the new name; `fixed` are option values."""

    @functools.wraps(command)
    def run(**arguments: object) -> None:
        print_note(f"note: l2t {old} is deprecated and will be removed; write l2t {new}")
        command(**arguments | fixed)

    app.command(old, hidden=True)(run)


_deprecated(ask, "ask", "agent ask")
_deprecated(tell, "tell", "agent tell")
_deprecated(list_suggestions, "suggestions", "agent list --open", open_only=True)


@app.command(
    hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
)
def versions() -> None:
    """Say that this command was removed."""
    raise InvalidInputError(
        "l2t versions was removed in 0.3, because the agent has no versions of a function any more; "
        "l2t learn learns a reflection function from all experiences of a store"
    )
