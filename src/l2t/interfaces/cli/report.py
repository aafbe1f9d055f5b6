"""A small HTML page with the pictures inside it: one file, no network."""

from __future__ import annotations

import base64
import html
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from l2t._version import __version__
from l2t.domains import DomainPair
from l2t.domains.files._disk import check_replaceable, replacing, writing
from l2t.exceptions import MissingExtraError
from l2t.experiences import evaluate
from l2t.experiments.figures import draw_ratios, draw_transfer
from l2t.experiments.transfer import TransferStudy
from l2t.inference import infer
from l2t.reflection import ReflectionFunction

__all__ = ["check_report", "write_report"]

FEW = 15  # labels of the pair that is shown

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>L2T: {title}</title>
<style>
:root {{ --line: #d8dbe2; --soft: #f4f5f8; --dim: #5a6072; --mark: #e7f1e4; }}
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ margin-bottom: .2rem; }}
h2 {{ margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1.2rem; }}
.dim, figcaption, footer {{ color: var(--dim); }}
figure {{ margin: 1rem 0; }} figcaption {{ font-size: .9rem; }}
.finding {{ background: var(--soft); border-left: .3rem solid #3f51b5; padding: .8rem 1rem; }}
img {{ max-width: 100%; }} pre {{ overflow-x: auto; background: var(--soft); padding: .8rem; }}
table {{ border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }}
td, th {{ padding: .25rem .8rem; text-align: right; border-bottom: 1px solid var(--line); }}
th:first-child, td:first-child {{ text-align: left; }}
.best {{ background: var(--mark); font-weight: 600; }} .l2t td:first-child {{ font-weight: 700; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --line: #3a3d46; --soft: #26282f; --dim: #a0a6b6; --mark: #23402a; }}
  body {{ background: #1b1c20; color: #ddd; }} img {{ background: #fff; border-radius: .3rem; }}
}}
</style>
<h1>What should be transferred?</h1>
<p class="dim">{title}: three digits of one kind of image are the source, three other digits of another
kind the target.</p>
<p>L2T ran eight transfer algorithms on pairs of digits, learned from those {runs} runs what makes a transfer
help, and then looked for the features <b>W</b> that should help most on pairs it had never seen. A
<b>ratio</b> is the accuracy of a nearest-neighbour classifier on X W over its accuracy on X: above 1 the
transfer helped, below 1 it hurt.</p>
<p class="finding">With {fewest} labelled rows, L2T reached <b>{l2t}</b> times the accuracy without
transfer; the best single algorithm, {best}, reached {base}. Nobody knows beforehand which of the eight that
will be.</p>
<figure><img alt="improvement ratio by number of labels" src="{ratios}">
<figcaption>Mean ratio over the new pairs, with its standard error, by number of labelled target
rows.</figcaption></figure>
<table><tr><th>labelled rows</th>{head}</tr>{rows}</table>
<h2>One new pair</h2>
<p>{pair}: the verdict is <b>{verdict}</b>, as {reason}. Measured afterwards, with {few} labelled rows and
the others to be told: accuracy {after:.1%} under W instead of {before:.1%}.</p>
<figure><img alt="both domains before and after W" src="{before_after}">
<figcaption>Both domains in their two main directions, as they are and under W. Target classes in colours; L2T
did not see them.</figcaption></figure>
<h2>Why</h2>
<pre>{why}</pre>
<figure><img alt="beta over bandwidths, and each kernel's part of 1/f" src="{beta}">
<figcaption>Which widths of the kernel the learned function looks at (beta), and what each adds to
1/f.</figcaption></figure>
<h2>Next</h2>
<pre>l2t transfer SOURCE.csv TARGET.csv --label COLUMN -o transformed.csv --plot both.png
l2t rank TARGET.csv SOURCE_A.csv SOURCE_B.csv --label COLUMN
l2t collect SOURCE.npz TARGET.npz &amp;&amp; l2t learn     # experiences of your own</pre>
<footer><p>Written by l2t {version}.</p></footer>
"""


def check_report(path: Path) -> None:
    """Refuse a page that cannot be written or drawn, before anything is measured."""
    with writing(path):
        check_replaceable(path)
    if find_spec("matplotlib") is None:
        raise MissingExtraError("a report with pictures", "plots")


def write_report(
    path: Path, study: TransferStudy, function: ReflectionFunction, title: str, pair: DomainPair
) -> None:
    """Write what was measured, one pair before and after W, and what was learned."""
    found = infer(pair, function, n_labels=FEW)
    before, after = (
        float(
            evaluate(
                Z, pair.target.codes, label_counts=(FEW,), groups=pair.target.group_codes
            ).mean[0]
        )
        for Z in (pair.target.X, pair.target.X @ found.W)
    )
    bases = [float(study.mean(ratios)[0]) for ratios in study.base]
    page = PAGE.format(
        title=html.escape(title),
        runs=function.training["runs"],
        fewest=study.label_counts[0],
        l2t=f"{study.mean(study.l2t)[0]:.2f}",
        best=study.names[int(np.argmax(bases))].upper(),
        base=f"{max(bases):.2f}",
        ratios=_picture(lambda file: draw_ratios(study, file, title)),
        head="".join(f"<th>{count}</th>" for count in study.label_counts),
        rows=_rows(study),
        pair=html.escape(f"{pair.source.name} to {pair.target.name}"),
        few=FEW,
        verdict=found.verdict,
        reason=html.escape(found.reason),
        before=before,
        after=after,
        before_after=_picture(lambda file: draw_transfer(pair, found, file)),
        why=html.escape(str(found.explanation)),
        beta=_picture(lambda file: found.explanation.plot().figure.savefig(file, dpi=130)),
        version=__version__,
    )
    with writing(path), replacing(path) as file:
        file.write(page.encode())


def _rows(study: TransferStudy) -> str:
    """Return the rows of the table: no transfer, each algorithm, L2T, and what 1 means."""
    named = [*zip(study.names, study.base, strict=True), ("L2T", study.l2t)]
    means = {name: study.mean(ratios) for name, ratios in named}
    best = np.max(list(means.values()), axis=0)
    told = [_row("no transfer", ["1.000"] * len(best), [False] * len(best))]
    for name, values in means.items():
        style = "l2t" if name == "L2T" else ""
        told.append(_row(name, [f"{v:.3f}" for v in values], list(values == best), style))
    accuracy = [f"{value:.1%}" for value in study.mean(study.original)]
    told.append(_row("1.000 means", accuracy, [False] * len(best), "dim"))
    return "".join(told)


def _row(name: str, cells: list[str], marked: list[bool], style: str = "") -> str:
    told = "".join(
        f'<td class="best">{cell}</td>' if mark else f"<td>{cell}</td>"
        for cell, mark in zip(cells, marked, strict=True)
    )
    return f'<tr class="{style}"><td>{html.escape(name)}</td>{told}</tr>'


def _picture(draw: Callable[[Path], None]) -> str:
    """Return a picture as the address of itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.png"
        draw(file)
        return "data:image/png;base64," + base64.b64encode(file.read_bytes()).decode()
