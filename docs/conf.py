"""The site, which `make docs` builds into site/ without network: no web font, no CDN, formulas as MathML.

The gallery, the pages of the Python API and the command reference are made during the build, from the scripts
of examples/gallery, the docstrings and the help of the commands.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # where `tools` is

from l2t import __version__  # noqa: E402
from tools.commands import command_page  # noqa: E402

mpl.use("Agg")
os.environ["COLUMNS"] = "88"  # of the tables that examples print

project = "L2T"
author = "L2T developers"
copyright = "2026, L2T developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
default_role = "literal"  # docstrings write names of the code between single backticks

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
_ROUTED = (
    "decision_function",
    "fit",
    "predict",
    "predict_log_proba",
    "predict_proba",
    "score",
    "transform",
)
autodoc_default_options = {"exclude-members": ", ".join(f"set_{name}_request" for name in _ROUTED)}
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the sections of numpydoc describe types
numpydoc_show_class_members = False  # the template of a class lists them

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",  # the others need data; the site shows what `make gallery` kept of them
    "run_stale_examples": True,  # their output depends on the package, not on the script alone
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "min_reported_time": 1e6,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"L2T {version}"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": html_title},
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"results/**": []},  # their tables are wide
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "install": [], "tutorial": []}  # they have no pages below them


def setup(app: Sphinx) -> None:
    """Write the command reference, and let browsers draw formulas by themselves."""
    (HERE / "reference" / "commands.md").write_text(command_page(), encoding="utf-8")
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda writer, node: _write_formula(writer, node, block=False), None),
        block_renderers=(lambda writer, node: _write_formula(writer, node, block=True), None),
    )


def _write_formula(writer: Any, node: nodes.Element, *, block: bool) -> None:
    try:
        writer.body.append(tex2mathml(node.astext().strip(), as_block=block))
    except MathError as error:
        getLogger(__name__).warning("formula %r: %s", node.astext(), error, location=node)
    raise nodes.SkipNode
