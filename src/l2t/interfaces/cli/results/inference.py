"""L2T on new pairs, beside the eight base algorithms."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import typer

from l2t._version import __version__
from l2t.experiments.families import FAMILIES, draw_pairs
from l2t.experiments.shipped import SHIPPED, VALIDATION_PAIRS, learn_shipped
from l2t.experiments.transfer import measure_transfer
from l2t.experiments.verdicts import LABEL_COUNTS, RULES, measure_verdicts
from l2t.interfaces.cli.results.writing import markdown_table, write
from l2t.reflection import ReflectionFunction, load_reflection

__all__ = ["write_inference", "write_shipped"]

TEXT = """# L2T on new pairs

Improvement ratio over 1-NN on the original features (mean over pairs, ± standard error), with one reflection
function for all four tables: the default one that ships with the package. It was learned from training pairs
of these families ({trained}; eight algorithms each), and its plans were chosen, and its predictions
calibrated, on {validation} validation pairs of each of them. Testing pairs share no class with those
(photo-sketch), no underlying picture (photo-style) or, where there are only ten classes, no pair. Made by

    l2t reproduce inference --data DIR --jobs 2

with l2t {version}, in {minutes:.0f} minutes; the function by `l2t reproduce shipped --data DIR`.

"L2T's W, always" is W whatever the verdict; "L2T" uses W where the verdict is to transfer and X elsewhere,
each draw of labelled rows deciding for itself. p: two-sided paired t-test of L2T against the best base
algorithm at that number of labels.

{tables}

## The plans

How W is searched at each number of labels, and the mean ratio of every candidate over the validation pairs
of all families, with the verdict. Steps are those of conjugate gradient on 1/f; "grassmann" is the paper's
search with orthonormal columns, "soft" begins at the discriminant spectrum. With 0 steps W is that
spectrum itself.

{plans}

Chosen: {chosen}.

## The verdict

At 3 labels each class has one row, and nobody can vote. From 15 on, labelled rows decide. How else they
could, on validation pairs with the same W, by mean ratio at {counts} labels:

{verdicts}

"leave-one-out" compares 1-NN on the labelled rows in X W and in X; "triples" the share of triples (a row,
another of its class, one of another class) in which the row of the same class is nearer. The last row decides
by the test rows, which nobody can.
"""


def write_shipped(data: Path, out: Path, work: Path, jobs: int) -> None:
    """Learn the functions that ship with the package."""
    for name in SHIPPED:
        path = out / f"{name}.json"
        learn_shipped(name, data, work, n_jobs=jobs).save(path)
        typer.echo(f"written to {path}")


def write_inference(data: Path, out: Path, pairs: int, jobs: int) -> None:
    """Measure L2T beside the base algorithms on testing pairs of every family."""
    start = time.perf_counter()
    function = load_reflection("default")
    tables, verdicts = [], []
    for family in FAMILIES:
        study = measure_transfer(draw_pairs(family, "test", pairs, data), function, n_jobs=jobs)
        tables.append(f"## {family}, {pairs} testing pairs\n\n{study.markdown()}")
        typer.echo(tables[-1] + "\n")
        held = draw_pairs(family, "validation", VALIDATION_PAIRS, data)
        verdicts.append(measure_verdicts(held, function, n_jobs=jobs))
    text = TEXT.format(
        version=__version__,
        minutes=(time.perf_counter() - start) / 60,
        trained=", ".join(f"{n} of {family}" for family, n in SHIPPED["default"].items()),
        validation=VALIDATION_PAIRS,
        tables="\n\n".join(tables),
        plans=_plans(function.training["plans"]),
        chosen=_chosen(function),
        counts=" / ".join(str(count) for count in LABEL_COUNTS),
        verdicts=markdown_table(
            ("rule", *FAMILIES),
            [(rule, *(_means(found[at]) for found in verdicts)) for at, rule in enumerate(RULES)],
        ),
    )
    write(out / "inference.md", text)


def _means(values: np.ndarray[Any, Any]) -> str:
    return " ".join("–" if np.isnan(value) else f"{value:.3f}" for value in values)


def _plans(told: dict[str, Any]) -> str:
    rows = []
    for each in told["candidates"]:
        name = f"{each['constraint']}, {each['n_iter']} steps, "
        soft = each["constraint"] == "soft"
        name += f"power {each['power']:g}" if soft else f"{each['n_components']} columns"
        rows.append((name, *(f"{ratio:.3f}" for ratio in each["ratios"])))
    return markdown_table(("plan", *(str(count) for count in told["label_counts"])), rows)


def _chosen(function: ReflectionFunction) -> str:
    told = []
    for count, plan in function.plans:
        power = f", power {plan.power:g}" if plan.constraint == "soft" else ""
        told.append(f"{plan.constraint} with {plan.n_iter} steps{power} at {count} labels")
    return "; ".join(told)
