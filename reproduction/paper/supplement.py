"""The paper's supplement: the learned beta, one example pair, and the label-count correction."""

from __future__ import annotations

import numpy as np

from l2t.inference import infer
from l2t.paper.loss import COMPONENTS
from l2t.plots import plot_transfer
from reproduction.paper.drawing import bars, curves
from reproduction.paper.section import (
    Figure,
    Section,
    Table,
    label_columns,
    mean,
    paragraph,
    standard_error,
)
from reproduction.paper.study import ALGORITHMS, Study

__all__ = ["supplement"]


def supplement(study: Study) -> Section:
    """Show the learned beta, one example pair, and the label-count correction on measured curves."""
    function = study.function
    exponents = function.kernels.exponents
    shares = function.weights / np.maximum(function.weights.sum(axis=1, keepdims=True), 1e-300)
    pair = study.setting.pairs("test")[0]
    inferred = infer(pair, function, method="paper", n_labels=15)
    table, curve = _corrected(study)
    rows = np.column_stack([exponents, shares.T]).tolist()
    return Section(
        "Supplement: beta, one pair, and the label-count correction",
        paragraph(
            "supplement",
            largest=exponents[shares.argmax(axis=1)].tolist(),
            pair=pair,
            inferred=inferred,
            c=function.c,
        ),
        [
            Table(
                "beta",
                "Learned weights by bandwidth 2^p eta, as shares of the sum of their term.",
                ("p", *COMPONENTS),
                [tuple(row) for row in rows],
            ),
            table,
        ],
        [
            Figure(
                "beta",
                "The learned weights of tau over bandwidths 2^p eta.",
                bars(exponents.tolist(), shares[2], "learned weights of tau", "p", "share"),
            ),
            Figure(
                "example",
                "The first testing pair before and after the transfer, in two principal components.",
                lambda: plot_transfer(pair, inferred),
            ),
            curve,
        ],
    )


def _corrected(study: Study) -> tuple[Table, Figure]:
    """Correct the measured ratios for the label count."""
    found = study.tested
    factors = study.function.label_curve.factor(np.array(found.label_counts, dtype=float))
    series, rows = {}, []
    for name in (*ALGORITHMS, *study.ours):
        shown = name if name in study.ours else name.upper()
        ratios = mean(found[name])
        series[shown] = (ratios * factors, standard_error(found[name]))
        rows.append((shown, *(ratios * factors).tolist()))
    title = f"l_hat, c = {study.function.c:.3f}"
    caption = (
        "Ratios corrected for the label count; the table of averages has those that were measured."
    )
    drawn = curves(found.label_counts, series, title, "labelled target rows", "l_hat")
    return (
        Table("l-hat", caption, ("method", *label_columns(found)), rows),
        Figure("l-hat", "Mean ratios corrected for the label count.", drawn),
    )
