"""Draw docs/images/architecture.svg: the folders of src/l2t as layers, and their imports.

    python -m tools.architecture

The imports come from the code, the order of the layers from the contract of import-linter.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import grimp
import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.patches import BoxStyle, ConnectionStyle, FancyArrowPatch, FancyBboxPatch

__all__ = ["MODULES", "PICTURE", "describe", "draw", "find_imports", "find_layers"]

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
PACKAGE = "l2t"
#: Modules without a folder that are layers too.
MODULES = ("task",)
WIDTH, HEIGHT, GAP = 6.6, 0.72, 0.4  # of a box, and between two of them, in inches


def find_layers() -> list[str]:
    """Return the folders, and what is a layer without one, from the top layer to the bottom one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    names = [name for layer in settings["contracts"][0]["layers"] for name in layer.split(" | ")]
    layers = [name.removeprefix(f"{PACKAGE}.") for name in names]
    return [name for name in layers if name in MODULES or _source(name).name == "__init__.py"]


def _source(name: str) -> Path:
    """Return the file that describes a layer."""
    folder = ROOT / "src" / PACKAGE / name
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def find_imports() -> set[tuple[str, str]]:
    """Return pairs of folders, the first of which imports the second."""
    graph = grimp.build_graph(PACKAGE)
    folders = find_layers()
    members = {name: {f"{PACKAGE}.{name}"} for name in folders}
    for name, modules in members.items():
        modules |= graph.find_descendants(f"{PACKAGE}.{name}")
    home = {module: name for name, modules in members.items() for module in modules}
    return {
        (importer, home[imported])
        for module, importer in home.items()
        for imported in graph.find_modules_directly_imported_by(module)
        if home.get(imported, importer) != importer
    }


def describe(imports: set[tuple[str, str]]) -> str:
    """Return imports as one line of text, which is stored in the picture so that a test can compare it."""
    return ", ".join(f"{a} -> {b}" for a, b in sorted(imports))


def draw(path: Path = PICTURE) -> None:
    """Write the picture."""
    layers, imports = find_layers(), find_imports()
    top = (HEIGHT + GAP) * len(layers) - GAP
    middle = {name: top - (HEIGHT + GAP) * i - HEIGHT / 2 for i, name in enumerate(layers)}
    figure = Figure(figsize=(9.0, top + 0.9))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-5.3, 3.7), ylim=(-0.65, top + 0.25), aspect="equal")
    axes.axis("off")
    for name, y in middle.items():
        _box(axes, name, y)
    for a, b in sorted(_reduced(imports)):
        _arrow(axes, middle[a], middle[b])
    note = "An arrow points to what is imported; arrows that follow from others are left out."
    axes.text(0, -0.4, note, ha="center", va="center", fontsize=10, color="#5a6072")
    settings = {"svg.fonttype": "none", "svg.hashsalt": PACKAGE, "font.family": "sans-serif"}
    metadata = {"Date": None, "Creator": None, "Description": describe(imports)}
    with mpl.rc_context(settings):
        figure.savefig(path, metadata=metadata, facecolor="white")


def _reduced(imports: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Leave out imports that others imply: a -> c where a -> b and b leads to c."""
    reach: dict[str, set[str]] = {}

    def below(name: str) -> set[str]:
        if name not in reach:
            direct = {b for a, b in imports if a == name}
            reach[name] = direct.union(*(below(each) for each in direct))
        return reach[name]

    return {
        (a, c)
        for a, c in imports
        if not any(c in below(b) for other, b in imports if other == a and b != c)
    }


def _box(axes: Any, name: str, y: float) -> None:
    corner = (-WIDTH / 2, y - HEIGHT / 2)
    look: dict[str, Any] = {"facecolor": "#e8eaf6", "edgecolor": "#3f51b5", "linewidth": 1.4}
    round_box = BoxStyle.Round(pad=0, rounding_size=0.12)
    axes.add_patch(FancyBboxPatch(corner, WIDTH, HEIGHT, round_box, **look))
    text = {"ha": "center", "va": "center", "color": "#1a237e"}
    axes.text(0, y + 0.14, name, fontsize=14, weight="bold", **text)
    axes.text(0, y - 0.17, _first_sentence(name), fontsize=9.5, **text)


def _first_sentence(name: str) -> str:
    """Return the first line of the docstring of a layer, without its full stop."""
    source = _source(name).read_text()
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0].rstrip(".")


def _arrow(axes: Any, start: float, end: float) -> None:
    """Draw an arrow straight down to the next layer, or on the left past those between."""
    next_layer = start - end < 1.5 * (HEIGHT + GAP)
    x, edge = (0.0, HEIGHT / 2) if next_layer else (-WIDTH / 2, 0.0)
    look: dict[str, Any] = {"color": "#3f51b5", "linewidth": 1.8, "mutation_scale": 14}
    look |= {"shrinkA": 0, "shrinkB": 0}
    bend = ConnectionStyle.Arc3(rad=0.0 if next_layer else 0.4)
    ends: dict[str, Any] = {"posA": (x, start - edge), "posB": (x, end + edge), "arrowstyle": "-|>"}
    axes.add_patch(FancyArrowPatch(**ends, connectionstyle=bend, **look))


if __name__ == "__main__":
    draw()
    print(f"written to {PICTURE.relative_to(ROOT)}")
