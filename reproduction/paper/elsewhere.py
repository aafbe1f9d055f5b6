"""The same methods on other families of domains, and with more classes."""

from __future__ import annotations

import numpy as np

from reproduction.paper.measuring import Measured, measure, p_values
from reproduction.paper.methods import L2T, Method
from reproduction.paper.section import Section, Table, mean, paragraph, standard_error
from reproduction.paper.setting import SCALES
from reproduction.paper.study import ALGORITHMS, THE_PAPERS, WITH_PAST, Study

__all__ = ["elsewhere"]

#: Name, family, classes of each domain, and rows of each class at most.
SETTINGS = (
    ("sketch > sketch, 3 classes", "sketch-sketch", 3, 80),
    ("characters, 3 classes", "characters", 3, 20),
    ("sounds, 3 classes", "sounds", 3, 40),
    ("photo > sketch, 10 classes", "photo-sketch", 10, 40),
    ("photo > sketch, 20 classes", "photo-sketch", 20, 20),
    ("sketch > sketch, 20 classes", "sketch-sketch", 20, 20),
)
#: Labels per class that the table shows.
SHOWN = (1, 5, 10, 20)


def elsewhere(study: Study) -> Section:
    """Compare base algorithms, the paper's method and L2T, with the source and with noise in its place."""
    here = study.setting
    scale = "smoke" if here.scale == "smoke" else "small"
    rows: list[tuple[object, ...]] = []
    if here.family == "photo-sketch":  # the others are in the same folder
        for name, family, n_classes, max_per_class in SETTINGS:
            other = Study(here.elsewhere(family, scale, n_classes, max_per_class), tuned=False)
            with here.timed("other families and more classes"):
                rows += _rows(name, other)
    columns = ["domains", "method"]
    for shots in SHOWN:
        columns += [f"{shots} per class", f"{shots} per class, standard error"]
    columns.append("p against the best base algorithm")
    table = Table("elsewhere", "Mean improvement ratio.", tuple(columns), rows)
    text = paragraph("elsewhere", sizes=SCALES[scale])
    return Section("Other families, and more classes", text, [table])


def _rows(name: str, study: Study) -> list[tuple[object, ...]]:
    found = study.tested
    controls: dict[str, Method] = {
        f"{THE_PAPERS}, noise source": study.paper(study.function, "noise"),
        "L2T, noise source": L2T(source="noise"),
        "L2T, permuted labels": L2T(source="permuted"),
    }
    if study.past is not None:
        controls[f"{WITH_PAST}, noise source"] = L2T(study.past, "noise")
    replaced = measure(controls, study.setting.pairs("test"), study.setting, "controls elsewhere")
    means = np.array([mean(found[base]) for base in ALGORITHMS])
    best = means.argmax(axis=0)
    every = np.array([found[base] for base in ALGORITHMS])
    strongest = every[best, :, np.arange(len(best))].T
    names = ", ".join(sorted({ALGORITHMS[at].upper() for at in best}))
    ratios = {f"best base algorithm ({names})": strongest}
    ratios |= {each: found[each] for each in study.ours}
    ratios |= {each: replaced[each] for each in controls}
    return [
        (name, method, *_cells(found, study, each, strongest)) for method, each in ratios.items()
    ]


def _cells(found: Measured, study: Study, ratios: object, strongest: object) -> list[object]:
    """Return mean and standard error at each number of labels shown, and the p of the fewest."""
    table = np.asarray(ratios, dtype=float)
    cells: list[object] = []
    for shots in SHOWN:
        count = shots * study.setting.n_classes
        if count in found.label_counts:
            at = found.label_counts.index(count)
            cells += [float(mean(table)[at]), float(standard_error(table)[at])]
        else:
            cells += [None, 0.0]
    p = p_values(table[:, :1], np.asarray(strongest, dtype=float)[:, :1])[0]
    return [*cells, float(p)]
