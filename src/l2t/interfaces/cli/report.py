"""The page that `l2t demo` writes, with the pictures inside it: one file, no network."""

from __future__ import annotations

import base64
import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from l2t._version import __version__
from l2t.domains import DomainPair
from l2t.domains.files._disk import replacing, writing
from l2t.exceptions import MissingExtraError
from l2t.inference import infer
from l2t.inference.comparison import TransferStudy
from l2t.interfaces.cli.results import explained, measured
from l2t.plots import plot_explanation, plot_ratios, plot_transfer
from l2t.reflection import ReflectionFunction

__all__ = ["check_report", "write_report"]

FEW = 15  # labels of the pair that is shown


def check_report() -> None:
    """Raise an error where the page cannot be drawn, before anything is measured."""
    if any(find_spec(name) is None for name in ("matplotlib", "jinja2")):
        raise MissingExtraError("a report with pictures", "demo")


def write_report(
    path: Path, study: TransferStudy, function: ReflectionFunction, title: str, pair: DomainPair
) -> None:
    """Write what was measured, one pair before and after the transfer, and what was learned."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = infer(pair, n_labels=FEW)
    search = infer(pair, function, n_labels=FEW, method="paper").search
    assert search is not None  # it is the paper's method
    accuracies = measured(pair.target, found)
    named = [*zip(study.names, study.base, strict=True), ("L2T", study.l2t)]
    means = {name: study.mean(ratios).tolist() for name, ratios in named}
    bases = {name: means[name][0] for name in study.names if name != "paper"}
    loader = PackageLoader("l2t.interfaces.cli")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    page = environment.get_template("demo.html").render(
        title=title,
        runs=function.training["runs"],
        label_counts=study.label_counts,
        means=means,
        tops=np.max(list(means.values()), axis=0).tolist(),
        original=study.mean(study.original).tolist(),
        best=max(bases, key=lambda name: bases[name]),
        pair=pair,
        few=FEW,
        found=found,
        before=accuracies["accuracy_before"],
        after=accuracies["accuracy_after"],
        ratios=_picture(plot_ratios(study, title)),
        before_after=_picture(plot_transfer(pair, found)),
        why="\n".join(explained(found)),
        explanation=search.explanation,
        beta=_picture(plot_explanation(search.explanation)),
        version=__version__,
    )
    with writing(path), replacing(path) as file:
        file.write(page.encode())


def _picture(figure: Any) -> str:
    """Return a figure as a data URI."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=130)
    return "data:image/png;base64," + base64.b64encode(image.getvalue()).decode()
