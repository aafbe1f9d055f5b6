"""The picture of the folders is that of the code as it is."""

from __future__ import annotations

import html
import re

import pytest

from tools.architecture import MODULES, PICTURE, ROOT, describe, draw, find_imports, find_layers

pytestmark = pytest.mark.docs


def test_every_folder_is_a_layer_and_has_a_sentence():
    folders = {path.parent.name for path in (ROOT / "src" / "l2t").glob("*/__init__.py")}
    assert set(find_layers()) == folders | set(MODULES)
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert re.findall(r"^- `(\w+)`: ", page, re.MULTILINE) == find_layers()[::-1]


def test_imports_point_down():
    layers = find_layers()
    imports = find_imports()
    assert ("agent", "inference") in imports
    for importer, imported in imports:
        assert layers.index(importer) < layers.index(imported)


def test_the_picture_shows_every_folder(tmp_path):
    draw(tmp_path / "drawn.svg")
    drawn = (tmp_path / "drawn.svg").read_text()
    for name in find_layers():
        assert f">{name}</text>" in drawn


def test_the_picture_is_up_to_date():
    picture = html.unescape(PICTURE.read_text())
    assert describe(find_imports()) in picture, "make docs draws it again"
