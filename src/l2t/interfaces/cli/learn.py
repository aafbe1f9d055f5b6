"""`l2t learn` and `l2t explain`: a reflection function from a store, and why a candidate was chosen."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import typer

from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.experiences.store.address import Address
from l2t.inference import infer
from l2t.interfaces.cli.candidates import explained
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_record, show_rows
from l2t.interfaces.cli.reading import check_overwriting
from l2t.interfaces.cli.settings import write_settings
from l2t.interfaces.cli.transfer import known_classes, read_both
from l2t.reflection import ReflectionFunction, learn, load_reflection

__all__ = ["run_explain", "run_explain_paper", "run_learn"]


def run_learn(
    context: typer.Context,
    url: str,
    out: Path,
    options: dict[str, Any],
    format: Format,
    *,
    quiet: bool,
) -> None:
    """Learn from all experiences of a store, and save the function."""
    check_overwriting([out], [context.params["config"]], store=url)
    if not out.parent.is_dir():
        raise InvalidInputError(f"the folder of --output must exist, got {str(out.parent)!r}")
    address = Address.of(url)
    with open_store(url, create=False) as store:
        function = learn(store.experiences(status="done"), store=store, **options)
    function.save(out)
    known = address.without_password if address.kind == "postgresql" else url
    settings = write_settings(context, out, store=known)
    show_record(_summary(function), format)
    say(f"written to {out}; to repeat it: l2t learn --config {settings}", quiet)
    say(f"next: l2t transfer SOURCE TARGET --reflection {shlex.quote(str(out))}", quiet)


def run_explain(
    source: Path,
    target: Path,
    *,
    reading: dict[str, Any],
    how: str,
    options: dict[str, Any],
    store: str | None,
    format: Format,
    quiet: bool,
) -> None:
    """Print what spoke for and against each candidate."""
    _, pair = read_both(source, target, reading=reading, how=how, quiet=quiet)
    found = infer(pair, known=known_classes(store, pair.n_features, quiet), **options)
    if format is Format.table:
        typer.echo("\n".join(explained(found)))
    elif format is Format.json:
        record = {"choice": found.choice, "verdict": found.verdict, "because": found.reason}
        show_record(record | {"candidates": found.candidates.records()}, format)
    else:
        show_rows(found.candidates.records(), format)


def run_explain_paper(
    reflection: str | None,
    pair: tuple[Path, Path] | None,
    *,
    reading: dict[str, Any],
    how: str,
    labels: int | None,
    store: str | None,
    plot: Path | None,
    format: Format,
    quiet: bool,
) -> None:
    """Print what a reflection function has learned; with two files, why it predicts what it predicts."""
    check_overwriting([plot], [reflection, *(pair or ())], store=store)
    if plot is not None:
        from l2t.plots import check_figure_path

        check_figure_path(plot)
    function = load_reflection("default" if reflection is None else reflection)
    if pair is None:
        _explain_function(function, format)
        return
    _, domains = read_both(*pair, reading=reading, how=how, quiet=quiet)
    found = infer(domains, function, n_labels=labels)
    assert found.search is not None  # it is the paper's method
    explanation = found.search.explanation
    if store is not None:
        with open_store(store, create=False) as opened:
            past = opened.experiences(status="done")
            explanation = function.explain(found.search.statistics, found.n_labels, past=past)
    if format is Format.table:
        typer.echo(str(explanation))
        typer.echo(f"verdict: {found.verdict}; {found.reason}")
    else:
        record = {"predicted": explanation.predicted, "verdict": found.verdict}
        show_record(record | explanation.terms, format)
    if plot is not None:
        from l2t.plots import plot_explanation

        plot_explanation(explanation).savefig(plot, dpi=150)
        say(f"drawn to {plot}", quiet)


def _explain_function(function: ReflectionFunction, format: Format) -> None:
    """Print what was learned, and which kernels count."""
    total = max(function.beta.sum(), 1e-300)
    rows = [
        {"bandwidth": f"2^{p:g} eta", "share_of_beta": float(b / total)}
        for p, b in zip(function.kernels.exponents, function.beta, strict=True)
        if b > 1e-3 * total
    ]
    if format is Format.json:
        show_record(_summary(function) | {"kernels_that_count": rows}, format)
        return
    show_record(_summary(function), format)
    if format is Format.table:
        show_rows(rows, format)


def _summary(function: ReflectionFunction) -> dict[str, Any]:
    training = function.training
    choices = [each for each in training.get("choices", []) if each.get("spearman") is not None]
    best = max((each["spearman"] for each in choices), default=None)
    names = ("experiences", "runs", "pairs", "gamma", "huber", "starts", "starts_agreeing")
    return {
        **{name: training.get(name) for name in names},
        "rank_correlation_on_held_out_pairs": best,
        "neighbors": function.n_neighbors,
        "kernels": len(function.kernels),
        "lambda": function.lambda_,
        "mu": function.mu,
        "b": function.b,
    }
