"""A small HTML page with the pictures inside it: one file, no network."""

from __future__ import annotations

import base64
import html
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from l2t._version import __version__
from l2t.domains import DomainPair
from l2t.domains.files._disk import check_replaceable, replacing, writing
from l2t.exceptions import MissingExtraError
from l2t.experiments.figures import draw_ratios, draw_transfer
from l2t.experiments.transfer import TransferStudy
from l2t.inference import infer
from l2t.reflection import ReflectionFunction

__all__ = ["check_report", "write_report"]

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>L2T: {title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }}
img {{ max-width: 100%; }} pre {{ overflow-x: auto; background: #f4f4f4; padding: .8rem; }}
table {{ border-collapse: collapse; }} td, th {{ padding: .2rem .8rem; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }} tr:last-child {{ font-weight: bold; }}
@media (prefers-color-scheme: dark) {{
  body {{ background: #1b1b1b; color: #ddd; }} pre {{ background: #2a2a2a; }} img {{ background: #fff; }}
}}
</style>
<h1>{title}</h1>
<p>1-NN accuracy on X W over 1-NN accuracy on X, by number of labelled target rows.</p>
<img alt="improvement ratio by number of labels" src="{ratios}">
<table><tr><th></th>{head}</tr>{rows}</table>
<h2>One new pair</h2>
<p>{pair}: verdict <b>{verdict}</b>, for {reason}.</p>
<img alt="both domains before and after W" src="{before_after}">
<h2>Why</h2>
<pre>{why}</pre>
<img alt="beta over bandwidths, and each kernel's part of 1/f" src="{beta}">
<p>l2t {version}</p>
"""


def check_report(path: Path) -> None:
    """Refuse a page that cannot be written or drawn, before anything is measured."""
    with writing(path):
        check_replaceable(path)
    if find_spec("matplotlib") is None:
        raise MissingExtraError("the pictures of the report", "plots")


def write_report(
    path: Path, study: TransferStudy, function: ReflectionFunction, title: str, pair: DomainPair
) -> None:
    """Write what was measured, one pair before and after W, and what was learned."""
    found = infer(pair, function, n_labels=15)
    named = [*zip(study.names, study.base, strict=True), ("L2T", study.l2t)]
    rows = [
        f"<tr><td>{name}</td>"
        + "".join(f"<td>{mean:.3f}</td>" for mean in study.mean(ratios))
        + "</tr>"
        for name, ratios in named
    ]
    page = PAGE.format(
        title=html.escape(title),
        ratios=_picture(lambda file: draw_ratios(study, file, title)),
        head="".join(f"<th>{count}</th>" for count in study.label_counts),
        rows="".join(rows),
        pair=html.escape(f"{pair.source.name} to {pair.target.name}"),
        verdict=found.verdict,
        reason=html.escape(found.reason),
        before_after=_picture(lambda file: draw_transfer(pair, found, file)),
        why=html.escape(str(found.explanation)),
        beta=_picture(lambda file: found.explanation.plot().figure.savefig(file, dpi=130)),
        version=__version__,
    )
    with writing(path), replacing(path) as file:
        file.write(page.encode())


def _picture(draw: Callable[[Path], None]) -> str:
    """Return a picture as the address of itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.png"
        draw(file)
        return "data:image/png;base64," + base64.b64encode(file.read_bytes()).decode()
