"""`l2t explain`: why a candidate was chosen, and what a reflection function has learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import l2t
from l2t.display import escape_controls
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument
from l2t.interfaces.cli.output import Format, print_note, show_record, show_rows

if TYPE_CHECKING:
    from l2t.paper import Reflection
    from l2t.typing import JsonObject


@app.command(short_help="Explain what 'l2t transfer' chooses: the evidence on each candidate.")
@options.reads_files()
def explain(  # noqa: PLR0913
    context: typer.Context,
    pair: Annotated[list[Path] | None, argument("SOURCE TARGET", "Two files, or none.")] = None,
    *,
    reading: options.Reading,
    labels: options.LabelsOption = None,
    classes: options.ClassesOption = None,
    candidates: options.CandidatesOption = None,
    store: options.KnownStoreOption = None,
    method: options.MethodOption = "l2t",
    reflection: options.ReflectionOption = None,
    normalize: options.NormalizeOption = "auto",
    plot: options.PlotOption = None,
    force: options.ForceOption = False,
    seed: options.SeedOption = 0,
    format: options.FormatOption = Format.table,
    quiet: options.QuietOption = False,
) -> None:
    """Explain what 'l2t transfer' chooses for two files, and why: the evidence on each candidate.

    With --method paper, the prediction of the paper's reflection function is split into its terms and
    kernels, --plot plots them, and --store lists the nearest experiences of a store. Without files, the
    parameters of the reflection function are shown.
    """
    from l2t.interfaces.cli.reading import check_outputs, known_classes, note_preparation, read_pair

    if pair and len(pair) != 2:
        raise typer.BadParameter(f"a source and a target file are needed, got {len(pair)} of them")
    options.check_method(method, candidates=candidates)
    if plot and not (pair and method == "paper"):
        raise typer.BadParameter(
            "--plot needs a source, a target and --method paper: it plots a prediction of that method"
        )
    inputs = [reflection, *(pair or ())]
    check_outputs((plot, "figure"), inputs=inputs, store=store, force=force)
    function = l2t.load_reflection(reflection or "default")
    if not pair:
        _show_function(function, format)
        return
    _, prepared = read_pair(pair[0], pair[1], reading=reading, how=normalize, quiet=quiet)
    domains = prepared.pair
    if method == "paper":
        inference = l2t.infer(domains, function, n_labels=labels, method="paper")
    else:
        known = known_classes(store, domains.n_features, quiet)
        inference = l2t.infer(domains, function, known=known, **options.inference_options(context))
    note_preparation(prepared, normalize, quiet)
    if method == "paper":
        _show_prediction(inference, store, plot, format)
    else:
        _show_candidates(inference, format)
    if plot is not None:
        print_note(f"picture written to {plot}", quiet)


def _show_candidates(inference: l2t.Inference, format: Format) -> None:
    """Print the evidence for and against each candidate."""
    from l2t.interfaces.cli.results import explanation_lines, used_rows

    if format is Format.table:
        typer.echo(escape_controls("\n".join(explanation_lines(inference))))
    elif format is Format.json:
        record = {"choice": inference.choice, "verdict": inference.verdict}
        record |= {"used": used_rows(inference.choice), "because": inference.reason}
        show_record(record | {"candidates": inference.candidates.records()}, format)
    else:
        show_rows(inference.candidates.records(), format)


def _show_prediction(
    inference: l2t.Inference, store: str | None, plot: Path | None, format: Format
) -> None:
    """Print the parts of a prediction, and plot them."""
    from l2t.interfaces.cli.results import used_rows

    assert inference.search is not None  # it is the paper's method
    explanation = inference.search.explanation
    if store is not None:
        with l2t.open_store(store, create=False) as opened:
            past = opened.experiences(status="done")
            explanation = inference.search.reflection.explain(
                inference.search.statistics, inference.n_labels, past=past
            )
    if format is Format.table:
        used = f"used: {used_rows(inference.choice)}"
        typer.echo(escape_controls(f"{explanation}\n{used}\nwhy: {inference.reason}"))
    else:
        record: JsonObject = {"predicted": explanation.predicted, "verdict": inference.verdict}
        record |= {"used": used_rows(inference.choice)}
        show_record(record | explanation.terms, format)
    if plot is not None:
        from l2t.plots import plot_explanation

        plot_explanation(explanation).savefig(plot, dpi=150)


def _show_function(function: Reflection, format: Format) -> None:
    """Print the parameters of a function, and the kernels with a weight."""
    from l2t.interfaces.cli.results import function_summary

    total = max(function.kernel_weights.sum(), 1e-300)
    rows = [
        {"bandwidth": f"2^{p:g} eta", "share_of_beta": float(weight / total)}
        for p, weight in zip(function.kernels.exponents, function.kernel_weights, strict=True)
        if weight > 1e-3 * total
    ]
    more = {"kernels_that_count": rows} if format is Format.json else {}
    show_record(function_summary(function) | more, format)
    if format is Format.table:
        show_rows(rows, format)
