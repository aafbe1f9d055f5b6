"""`l2t ask`, `tell`, `suggestions` and `versions`: the agent that keeps learning."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer

from l2t.agent import Agent
from l2t.domains.files import check_writable
from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.experiences.store.address import Address
from l2t.interfaces.cli.candidates import candidate_rows
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_record, show_rows
from l2t.interfaces.cli.reading import check_overwriting
from l2t.interfaces.cli.transfer import expectation, for_people, read_both, write_side

__all__ = ["run_ask", "run_suggestions", "run_tell", "run_versions"]


def run_ask(
    source: Path,
    target: Path,
    url: str,
    *,
    reading: dict[str, Any],
    labels: int | None,
    classes: int | None,
    how: str,
    explore: float,
    seed: int,
    output: Path | None,
    format: Format,
    quiet: bool,
) -> None:
    """Read both files, ask, write the transformed target, and print what to expect and what to do next."""
    check_overwriting([output], [source, target], store=url)
    if output is not None:
        check_writable(output)
    raw, pair = read_both(source, target, reading=reading, how=how, quiet=quiet)
    with open_store(url) as store:
        agent = Agent(store, explore=explore, random_state=seed)
        found = agent.ask(pair, labels, n_classes=classes)
    record = {"id": found.id, **expectation(source, target, pair, found)}
    if format is Format.table:
        assert found.inference is not None  # it was asked just now
        show_record({"id": found.id, **for_people(record)}, format)
        show_rows(candidate_rows(found.inference), format)
    else:
        show_record(record | {"version": found.version}, format)
    if output is not None:
        say(f"target {write_side('target', raw, pair, found, output, reading['label'])}", quiet)
    address = Address.of(url)
    place = address.without_password if address.kind == "postgresql" else url
    say(
        "next, with the accuracies that you measured without and with the transfer: "
        f"l2t tell {found.id} --store {shlex.quote(place)} --before ACCURACY --after ACCURACY",
        quiet,
    )


def run_tell(
    url: str, id: str, before: float, after: float, labels: int | None, format: Format
) -> None:
    """Report an outcome to the agent, and print it beside what was predicted."""
    with open_store(url, create=False) as store:
        agent = Agent(store, reflection=None)
        (score,) = agent.tell(id, before, after, labels).scores
        suggestion = store.suggestion(id)
        record = {
            "id": suggestion.id,
            "run": suggestion.run,
            "labels": score.n_labels,
            "measured_improvement": score.improvement_ratio,
            "predicted_improvement": suggestion.predicted,
            "version_in_use": agent.version,
        }
    show_record(record, format)


def run_suggestions(url: str, delete: str | None, format: Format) -> None:
    """Print the suggestions whose outcome is open, the newest first."""
    with open_store(url, create=False) as store:
        if delete is not None:
            store.delete_suggestion(delete)
        rows = [
            {
                "id": each.id,
                "source": each.source_name,
                "target": each.target_name,
                "choice": each.algorithm,
                "labels": each.n_labels,
                "predicted": each.predicted,
                "verdict": each.verdict,
                "created": each.created_at.isoformat(timespec="seconds"),
            }
            for each in store.open_suggestions()
        ]
    show_rows(rows, format)


def run_versions(url: str, go_back: int | None, save: Path | None, format: Format) -> None:
    """Print all versions, the newest last."""
    check_overwriting([save], [], store=url)
    with open_store(url, create=False) as store:
        agent = Agent(store, reflection=None)
        if go_back is not None:
            agent.go_back(go_back)
        in_use, function = agent.version, agent.reflection
        rows = [
            {
                "version": each.number,
                "parent": each.parent,
                "origin": each.origin,
                "runs": each.n_runs,
                "judged_on": each.n_judged,
                "error": each.error,
                "error_of_incumbent": each.incumbent_error,
                "took_over": each.took_over,
                "in_use": each.number == in_use,
                "created": each.created_at.isoformat(timespec="seconds"),
            }
            for each in agent.versions()
        ]
    show_rows(rows, format)
    if save is not None:
        if function is None:
            raise InvalidInputError(
                f"{save} cannot be written, as no reflection function has been learned yet"
            )
        function.save(save)
        typer.echo(f"written to {save}", err=True)
