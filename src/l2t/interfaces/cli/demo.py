"""`l2t demo`: the whole method on bundled data, as a table and a self-contained page with pictures."""

from __future__ import annotations

import base64
import io
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from l2t._version import __version__
from l2t.algorithms import PAPER, make
from l2t.algorithms.base import fit_quietly
from l2t.domains import Domain, DomainPair, PairSampler, digits, mnist, normalize
from l2t.domains.files.disk import replacing, writing
from l2t.domains.sampling import some_rows
from l2t.exceptions import MissingExtraError
from l2t.experiences import collect, evaluate, improvement_ratio, open_store
from l2t.experiences.executors import Executor
from l2t.inference import infer
from l2t.interfaces.cli.output import Format, print_note, show_rows
from l2t.interfaces.cli.results import explanation_lines, measured
from l2t.paper import Reflection, learn
from l2t.plots import plot_explanation, plot_ratios, plot_transfer
from l2t.progress import progress_bar
from l2t.typing import JsonObject, Matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINING_PAIRS = 12
#: Classes of a target, and maximum number of rows per class.
N_CLASSES, MAX_PER_CLASS = 3, 80
DEMO_LABEL_COUNTS = (3, 15, 30, 60, 120)
FEW = 15  # labelled rows of the pair in the report


def run_demo(
    n_pairs: int,
    seed: int,
    jobs: int,
    plot: Path | None,
    report: Path,
    format: Format,
    *,
    quiet: bool,
) -> None:
    """Collect, learn and transfer; print a table, and write a page with pictures."""
    if any(find_spec(name) is None for name in ("matplotlib", "jinja2")):
        raise MissingExtraError("a report with pictures", "demo")
    start = time.perf_counter()
    print_note(
        f"1/3 collecting: eight algorithms on {TRAINING_PAIRS} pairs of digit classes", quiet
    )
    with open_store("memory://") as store:
        pairs = digit_pairs(TRAINING_PAIRS, 2 * seed)
        collect(pairs, store, algorithms=PAPER, n_jobs=jobs, progress=not quiet)
        print_note(f"2/3 learning the reflection function from {store.count()} experiences", quiet)
        function = learn(store.experiences())
    print_note(f"3/3 testing on {n_pairs} new pairs", quiet)
    tests = wide_pairs(n_pairs, 2 * seed + 1)
    study = measure_demo(tests, function, n_jobs=jobs, progress=not quiet)
    if format is Format.table:
        print("Improvement ratio by number of labelled target rows (± standard error)")
        show_rows(_table(study), format)
        print(
            f"{n_pairs} new pairs, UCI digits <-> MNIST: the source has seven digits of one data set, the\n"
            "target the other three of the other. A ratio above 1 means that the transfer helped; 1 is\n"
            "1-NN without transfer. 'paper' searches with the function that was just learned. L2T\n"
            "rehearses on the classes of the source, and does not transfer if no candidate is expected\n"
            f"to help. Took {time.perf_counter() - start:.0f} s."
        )
    else:
        show_rows(demo_rows(study), format)
    title = f"UCI digits <-> MNIST, mean of {n_pairs} new pairs"
    if plot is not None:
        plot_ratios(study, title).savefig(plot, dpi=150)
        print_note(f"Picture: {plot}", quiet)
    _write_report(report, study, function, title, tests[0])
    print_note(f"Report with pictures: {report}", quiet)
    print_note(
        "Next, with your own files:\n"
        "  l2t predict SOURCE.csv TARGET.csv --label COLUMN -o predictions.csv\n"
        "  l2t collect SOURCE.npz TARGET.npz && l2t learn   # your own experiences",
        quiet,
    )


def digit_pairs(n_pairs: int, random_state: int) -> list[DomainPair]:
    """Draw pairs of three digits each, alternating UCI digits to MNIST and MNIST to UCI digits."""
    first, second = normalize(digits()), normalize(mnist())
    per_direction = -(-n_pairs // 2)
    samplers = [
        PairSampler(first, second, per_direction, random_state=2 * random_state),
        PairSampler(second, first, per_direction, random_state=2 * random_state + 1),
    ]
    return [samplers[i % 2][i // 2] for i in range(n_pairs)]


def wide_pairs(n_pairs: int, random_state: int) -> list[DomainPair]:
    """Draw pairs whose source has the seven digits that the target does not have."""
    sides = normalize(digits()), normalize(mnist())
    pairs = []
    for i in range(n_pairs):
        rng = np.random.default_rng([random_state, i])
        source, target = sides if i % 2 == 0 else sides[::-1]
        digit = rng.permutation(np.array(target.classes))
        drawn = some_rows(rng, source, sorted(digit[N_CLASSES:]), MAX_PER_CLASS)
        aimed = some_rows(rng, target, sorted(digit[:N_CLASSES]), MAX_PER_CLASS)
        pairs.append(DomainPair(drawn, aimed))
    return pairs


def measure_demo(
    pairs: list[DomainPair], function: Reflection, *, n_jobs: int, progress: bool
) -> pd.DataFrame:
    """Measure the base algorithms, the paper's search with a function, and L2T.

    Returns one row per pair, method and number of labels: the accuracy without transfer (`before`), and the
    improvement ratio.
    """
    tasks = [(i, pair, function) for i, pair in enumerate(pairs)]
    rows: list[JsonObject] = []
    with progress_bar(len(pairs), "testing", shown=progress) as advance:
        for rows_of_pair in Executor(n_jobs).map(_measured, tasks):
            rows += rows_of_pair
            advance("testing")
    return pd.DataFrame(rows).sort_values("pair", kind="stable", ignore_index=True)


def _measured(task: tuple[int, DomainPair, Reflection]) -> list[JsonObject]:
    """Return the rows of one pair; its target labels are only used to measure."""
    index, pair, function = task
    target = pair.target
    unlabelled = DomainPair(pair.source, Domain(target.X, prepared=target.prepared))
    before = evaluate(target.X, target.codes, label_counts=DEMO_LABEL_COUNTS)
    rows: list[JsonObject] = []

    def add(method: str, Z: Matrix, counts: tuple[int, ...]) -> None:
        after = evaluate(Z, target.codes, label_counts=counts)
        for count, accuracy in zip(counts, after.mean, strict=True):
            at = before.label_counts.index(count)
            ratio = improvement_ratio(before.mean[at], accuracy, before.n_test[at])
            row = {"pair": index, "method": method, "labels": count, "before": before.mean[at]}
            rows.append(row | {"ratio": float(ratio)})

    for name in PAPER:
        add(name, fit_quietly(make(name), pair).transform(target), before.label_counts)
    for method, reflection in (("paper", function.paper), ("L2T", None)):
        for count in before.label_counts:
            inference = infer(unlabelled, reflection, n_labels=count, n_classes=N_CLASSES)
            add(method, inference.transform(target), (count,))
    return rows


def demo_rows(study: pd.DataFrame) -> list[JsonObject]:
    """Return one row per method and number of labels."""
    summary = study.groupby(["method", "labels"], sort=False)["ratio"].agg(["mean", "sem"])
    summary = summary.rename(columns={"mean": "ratio", "sem": "standard_error"}).reset_index()
    rows: list[JsonObject] = summary.to_dict("records")
    return [row | {"method": row["method"].lower()} for row in rows]


def _means(study: pd.DataFrame) -> dict[str, list[float]]:
    """Return the mean ratios of each method, by number of labels."""
    means = study.groupby(["method", "labels"], sort=False)["ratio"].mean()
    return {name: means[name].tolist() for name in study["method"].unique()}


def _table(study: pd.DataFrame) -> list[dict[str, str]]:
    """Return one row per method, with one column per number of labels."""
    counts = study["labels"].unique().tolist()
    cells = {"no transfer": ["1.000" for _ in counts]}
    for row in demo_rows(study):
        name = "L2T" if row["method"] == "l2t" else row["method"]
        cell = f"{row['ratio']:.3f}±{row['standard_error']:.2f}".replace("±0", "±")
        cells.setdefault(name, []).append(cell)
    before = study.groupby("labels", sort=False)["before"].mean()
    cells["1.000 means"] = [f"{100 * accuracy:.1f} %" for accuracy in before]
    columns = ("", *map(str, counts))
    return [dict(zip(columns, (name, *row), strict=True)) for name, row in cells.items()]


def _write_report(
    path: Path, study: pd.DataFrame, function: Reflection, title: str, pair: DomainPair
) -> None:
    """Write the page: the measurements, one pair before and after the transfer, and the function."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    inference = infer(pair, n_labels=FEW)
    search = infer(pair, function, n_labels=FEW, method="paper").search
    assert search is not None  # it is the paper's method
    accuracies = measured(pair.target, inference)
    means = _means(study)
    loader = PackageLoader("l2t.interfaces.cli")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    page = environment.get_template("demo.html").render(
        title=title,
        runs=function.training["runs"],
        label_counts=study["labels"].unique().tolist(),
        means=means,
        tops=np.max(list(means.values()), axis=0).tolist(),
        original=study.groupby("labels", sort=False)["before"].mean().tolist(),
        best=max(PAPER, key=lambda name: means[name][0]),
        pair=pair,
        few=FEW,
        found=inference,
        before=accuracies["accuracy_before"],
        after=accuracies["accuracy_after"],
        ratios=_picture(plot_ratios(study, title)),
        before_after=_picture(plot_transfer(pair, inference)),
        why="\n".join(explanation_lines(inference)),
        explanation=search.explanation,
        beta=_picture(plot_explanation(search.explanation)),
        version=__version__,
    )
    with writing(path), replacing(path) as file:
        file.write(page.encode())


def _picture(figure: Figure) -> str:
    """Return a figure as a data URI."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=130)
    return "data:image/png;base64," + base64.b64encode(image.getvalue()).decode()
