"""`l2t explain`: why a candidate was chosen, and what a reflection function has learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import l2t
from l2t.display import escape_controls
from l2t.interfaces.cli.commands import options
from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import argument
from l2t.interfaces.cli.output import Format, print_note, show_record, show_rows

if TYPE_CHECKING:
    from l2t.paper import Reflection


@app.command(short_help="Explain a choice: the evidence for and against each candidate.")
@options.reads_files()
def explain(  # noqa: PLR0913
    context: typer.Context,
    pair: Annotated[list[Path] | None, argument("SOURCE TARGET", "Two files, or none.")] = None,
    *,
    reading: options.Reading,
    labels: options.Labels = None,
    classes: options.Classes = None,
    candidates: options.Candidates = None,
    store: options.KnownStore = None,
    method: options.How = "l2t",
    reflection: options.Reflection = None,
    normalize: options.Normalize = "auto",
    plot: options.Plot = None,
    force: options.Force = False,
    seed: options.Seed = 0,
    format: options.As = Format.table,
    quiet: options.Quiet = False,
) -> None:
    """Explain the choice for two files: rehearsal, labelled rows and expected accuracy of each candidate.

    With --method paper, the prediction of the paper's reflection function is split into its terms and
    kernels, --plot plots them, and --store lists the nearest experiences of a store. Without files, the
    parameters of the reflection function are shown.
    """
    from l2t.interfaces.cli.reading import check_outputs, known_classes, note_preparation, read_pair

    if pair and len(pair) != 2:
        raise typer.BadParameter(f"a source and a target file are needed, got {len(pair)} file(s)")
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
        found = l2t.infer(domains, function, n_labels=labels, method="paper")
    else:
        known = known_classes(store, domains.n_features, quiet)
        found = l2t.infer(domains, function, known=known, **options.inference_options(context))
    note_preparation(prepared, normalize, quiet)
    if method == "paper":
        _show_prediction(function, found, store, plot, format)
    else:
        _show_candidates(found, format)
    if plot is not None:
        print_note(f"picture written to {plot}", quiet)


def _show_candidates(found: l2t.Inference, format: Format) -> None:
    """Print the evidence for and against each candidate."""
    from l2t.interfaces.cli.results import explanation_lines, used_rows

    if format is Format.table:
        typer.echo(escape_controls("\n".join(explanation_lines(found))))
    elif format is Format.json:
        record = {"choice": found.choice, "verdict": found.verdict}
        record |= {"used": used_rows(found.choice), "because": found.reason}
        show_record(record | {"candidates": found.candidates.records()}, format)
    else:
        show_rows(found.candidates.records(), format)


def _show_prediction(
    function: Reflection,
    found: l2t.Inference,
    store: str | None,
    plot: Path | None,
    format: Format,
) -> None:
    """Print the parts of a prediction, and plot them."""
    from l2t.interfaces.cli.results import used_rows

    assert found.search is not None  # it is the paper's method
    explanation = found.search.explanation
    if store is not None:
        with l2t.open_store(store, create=False) as opened:
            past = opened.experiences(status="done")
            function = found.search.reflection
            explanation = function.explain(found.search.statistics, found.n_labels, past=past)
    if format is Format.table:
        used = f"used: {used_rows(found.choice)}"
        typer.echo(escape_controls(f"{explanation}\n{used}\nwhy: {found.reason}"))
    else:
        record: dict[str, Any] = {"predicted": explanation.predicted, "verdict": found.verdict}
        record |= {"used": used_rows(found.choice)}
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
