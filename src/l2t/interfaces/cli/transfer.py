"""`l2t transfer` and `l2t rank`: what to transfer between files, and which source to take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer

from l2t.domains import Domain, DomainPair, normalize, read_domain, write_domain
from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate
from l2t.inference import Inference, infer, rank_sources
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import show_record, show_rows

__all__ = ["run_rank", "run_transfer"]


def run_transfer(
    source: Path,
    target: Path,
    *,
    label: str | None,
    labeled: str | None,
    how: str,
    options: dict[str, Any],
    output: Path | None,
    source_output: Path | None,
    w_output: Path | None,
    plot: Path | None,
    format: Format,
) -> None:
    """Read both files, infer W, write what was asked for, and print what to expect."""
    if plot is not None:
        from l2t.experiments.figures import check_figure_path

        check_figure_path(plot)
    pair = DomainPair(
        normalize(read_domain(source, label=label), how),
        normalize(read_domain(target, label=label, labeled=labeled), how),
    )
    found = infer(pair, **options)
    show_record(_record(pair, found), format)
    written = {output: pair.target, source_output: pair.source}
    for path, domain in written.items():
        if path is not None:
            write_domain(
                domain.with_features(found.transform(domain)), path, label=label or "label"
            )
            typer.echo(f"written to {path}", err=True)
    if w_output is not None:
        _write_w(w_output, found)
        typer.echo(f"written to {w_output}", err=True)
    if plot is not None:
        from l2t.experiments.figures import draw_transfer

        draw_transfer(pair, found, plot)
        typer.echo(f"drawn to {plot}", err=True)


def run_rank(
    target: Path,
    sources: list[Path],
    *,
    label: str | None,
    labeled: str | None,
    how: str,
    options: dict[str, Any],
    format: Format,
) -> None:
    """Print the sources, the most promising one first."""
    ranked = rank_sources(
        normalize(read_domain(target, label=label, labeled=labeled), how),
        [normalize(read_domain(path, label=label), how) for path in sources],
        **options,
    )
    rows = []
    for place, each in enumerate(ranked, start=1):
        low, high = each.inference.interval or (None, None)
        rows.append(
            {
                "rank": place,
                "source": str(sources[each.index]),
                "predicted": each.predicted,
                "low": low,
                "high": high,
                "verdict": each.inference.verdict,
            }
        )
    show_rows(rows, format)


def _record(pair: DomainPair, found: Inference) -> dict[str, Any]:
    low, high = found.interval or (None, None)
    record: dict[str, Any] = {
        "source": repr(pair.source),
        "target": repr(pair.target),
        "labels": found.n_labels,
        "predicted_improvement": found.predicted,
        "low": low,
        "high": high,
        "verdict": found.verdict,
        "because": found.reason,
        "columns_of_W": found.W.shape[1],
        "started_from": found.start,
    }
    return record | _measured(pair.target, found)


def _measured(target: Domain, found: Inference) -> dict[str, Any]:
    """Return the measured improvement, where all labels of the target are there for it."""
    if target.y is None or target.labeled is not None or found.n_labels is None:
        return {}
    try:
        counts = (found.n_labels,)
        before = evaluate(target.X, target.codes, label_counts=counts)
        after = evaluate(target.X @ found.W, target.codes, label_counts=counts)
    except InvalidInputError:  # too few rows to measure anything
        return {}
    return {
        "accuracy_before": float(before.mean[0]),
        "accuracy_after": float(after.mean[0]),
        "measured_improvement": float(after.mean[0] / max(before.mean[0], 1e-9)),
    }


def _write_w(path: Path, found: Inference) -> None:
    if path.suffix != ".npy":
        raise InvalidInputError(f"W is written as .npy, got {path.name!r}")
    np.save(path, found.W, allow_pickle=False)
