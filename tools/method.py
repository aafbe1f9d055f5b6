"""Figures and tables of docs/method.md, README.md and pages of docs/results, taken from these pages.

    python -m tools.method

Nothing is typed by hand: each table is between two comments that name it, and is updated from the page that
it quotes.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["fill", "find_row", "find_tables", "main"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "method.md"
RESULTS = ROOT / "docs" / "results"
PICTURES = ROOT / "docs" / "images" / "method"
SHOTS = ("1", "5", "15")
#: Cells without a value.
NO_VALUE = ("", "–")
#: Rows of families.md, and their names on the page.
RATIOS = {
    "the true source, spectrum": "always spectrum",
    "noise in its place, L2T": "L2T, noise in place of the source (control)",
    "the true source, L2T": "L2T",
    "the true source, best candidate of the kind": "best candidate of each kind, in hindsight",
    "an adverse target, classes+spectrum": "adverse targets: always classes+spectrum",
    "an adverse target, L2T": "adverse targets: L2T",
}
#: Settings of answers.md with the true source, and their names on the page.
ANSWERS = {
    "1": "1",
    "5": "5",
    "20": "20",
    "8:1": "5, classes 8:1",
    "1, adverse": "1, adverse",
    "5, adverse": "5, adverse",
}


#: The heading above the table of a page that is drawn, its columns, and what they measure.
BARS = {
    "comparison": (
        "The same classes in source and target",
        ("SURF", "digits"),
        "accuracy in percent, no target label",
    ),
    "shared-classes": ("No target label", ("mean",), "mean accuracy in percent, no target label"),
    "office-caltech": (
        "Office-Caltech10, SURF features",
        ("published", "measured"),
        "mean accuracy of 1-NN in percent",
    ),
    "chains": (
        "In predictions, on nine families",
        ("1", "5", "20"),
        "mean accuracy, by labels per class",
    ),
}


def find_tables(text: str) -> dict[str, list[list[str]]]:
    """Return the rows of the tables of a page by the heading above them; column names come first."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|") and not line.startswith("|---"):
            cells = [each.strip().strip("*") for each in line.strip().strip("|").split("|")]
            found.setdefault(heading, []).append(cells)
    return found


def find_row(page: str, first: str) -> list[str]:
    """Return the cells of the row whose first cell is `first`, without that cell."""
    rows = [row for table in find_tables(_read(page)).values() for row in table]
    return next([each for each in row[1:] if each] for row in rows if row[0] == first)


def fill(text: str) -> str:
    """Return the page with all of its tables updated."""
    made = {"ratios": _ratios(), "answers": _answers(), "intervals": _intervals()}
    for name, table in made.items():
        block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if len(block.findall(text)) != 1:
            raise ValueError(f"docs/method.md must have one block {name!r}")
        text = block.sub(lambda found, table=table: f"{found[1]}{table}\n{found[2]}", text)  # type: ignore[misc]
    return text


def _read(page: str) -> str:
    return (RESULTS / page).read_text()


def _ratios() -> str:
    rows = [[name, *find_row("families.md", first)] for first, name in RATIOS.items()]
    return _table(["improvement ratio of 1-NN, labels per class:", *SHOTS], rows)


def _find_answers() -> dict[str, dict[str, str]]:
    """Return the cells of answers.md with the true source by setting and column."""
    head, *rows = find_tables(_read("answers.md"))["Accuracy of predictions"]
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    return {row["labels per class"]: row for row in cells if row["source"] == "true"}


def _answers() -> str:
    answers = _find_answers()
    columns = {
        name: (
            answers[setting]["best plain"],
            answers[setting]["L2T"],
            answers[setting]["gain"].split()[0],
            answers[setting]["kinds behind"],
        )
        for setting, name in ANSWERS.items()
    }
    names = ("best of five plain classifiers, in hindsight", "L2T", "difference",
             "families where L2T is behind")  # fmt: skip
    rows = [[name, *(column[i] for column in columns.values())] for i, name in enumerate(names)]
    return _table(["accuracy, labels per class:", *columns], rows)


def _intervals() -> str:
    shares = [float(row[2]) for row in find_tables(_read("families.md"))["Intervals of 90 %"][1:]]
    return (
        f"On kinds left out of the fit, 90 % intervals contain {100 * min(shares):.0f} to "
        f"{100 * max(shares):.0f} % of the real ratios, depending on the kind."
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _draw_ratios() -> Figure:
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    for i, (first, name) in enumerate(list(RATIOS.items())[:4]):
        values = [float(each) - 1 for each in find_row("families.md", first)]
        places = [at + 0.2 * (i - 1.5) for at in range(len(SHOTS))]
        axes.bar(places, values, width=0.18, bottom=1, label=name, color=f"C{(7, 1, 0, 2)[i]}")
    axes.axhline(1, color="k", linewidth=0.8)
    axes.set(ylabel="improvement ratio", xlabel="labels per class", xticks=range(len(SHOTS)))
    axes.set_xticklabels(SHOTS)
    axes.legend(fontsize="small")
    return figure


def _draw_accuracy() -> Figure:
    answers = _find_answers()
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    columns = {"best plain": "best of five plain classifiers, in hindsight", "L2T": "L2T"}
    for i, (column, name) in enumerate(columns.items()):
        means = [float(answers[setting][column]) for setting in list(ANSWERS)[:3]]
        places = [at + 0.4 * (i - 0.5) for at in range(len(means))]
        bars = axes.bar(places, means, width=0.36, label=name, color=("C7", "C0")[i])
        axes.bar_label(bars, fmt="%.3f")
    names = list(ANSWERS.values())[:3]
    axes.set(
        xlabel="labels per class",
        ylabel="accuracy",
        ylim=(0, 1.12),
        yticks=(0, 0.2, 0.4, 0.6, 0.8, 1),
        xticks=range(len(names)),
    )
    axes.set_xticklabels(names)
    axes.legend(loc="upper left", ncols=2)
    return figure


def _draw_bars(page: str, heading: str, columns: tuple[str, ...], measured: str) -> Figure:
    """Return horizontal bars of some columns of the table below a heading."""
    head, *rows = find_tables(_read(f"{page}.md"))[heading]
    figure = Figure(figsize=(7, 0.8 + 0.13 * len(rows) * (len(columns) + 1)), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / len(columns)
    for i, column in enumerate(columns):
        cells = [row[head.index(column)] for row in rows]
        values = [0.0 if cell in NO_VALUE else float(cell) for cell in cells]
        places = [at + height * (i - (len(columns) - 1) / 2) for at in range(len(rows))]
        bars = axes.barh(places, values, height=0.9 * height, label=column, color=f"C{i}")
        axes.bar_label(bars, labels=cells, fontsize="small", padding=2)
    axes.set(xlabel=measured, yticks=range(len(rows)))
    axes.set_yticklabels([row[0] for row in rows])
    axes.margins(x=0.15, y=0.02)
    axes.invert_yaxis()
    if len(columns) > 1:
        axes.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=len(columns))
    return figure


def main() -> None:
    """Draw the figures, and write the tables into the page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "l2t"  # the same figures give the same files
    figures = {"accuracy": _draw_accuracy(), "ratios": _draw_ratios()}
    figures |= {page: _draw_bars(page, *drawn) for page, drawn in BARS.items()}
    for name, figure in figures.items():
        figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
    PAGE.write_text(fill(PAGE.read_text()))


if __name__ == "__main__":
    main()
