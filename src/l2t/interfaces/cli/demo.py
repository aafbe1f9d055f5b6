"""`l2t demo`: the whole story on embedded data, as a table and a page with the pictures inside it."""

from __future__ import annotations

import base64
import io
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from l2t._version import __version__
from l2t.algorithms import PAPER
from l2t.domains import DomainPair, PairSampler, digits, mnist, normalize
from l2t.domains.files._disk import replacing, writing
from l2t.domains.sampling import some_rows
from l2t.exceptions import MissingExtraError
from l2t.experiences import collect, open_store
from l2t.inference import infer
from l2t.inference.comparison import TransferStudy, measure_transfer
from l2t.interfaces.cli.output import Format, say, show_rows
from l2t.interfaces.cli.results import explained, measured
from l2t.plots import plot_explanation, plot_ratios, plot_transfer
from l2t.reflection import ReflectionFunction, learn
from l2t.typing import Array

__all__ = ["demo_rows", "digit_pairs", "measure_demo", "run_demo", "wide_pairs"]

TRAINING_PAIRS = 12
#: Classes of a target, and rows of a class at most.
N_CLASSES, MAX_PER_CLASS = 3, 80
FEW = 15  # labels of the pair that the report shows


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
    """Collect, learn, transfer, and print a table to standard output."""
    if any(find_spec(name) is None for name in ("matplotlib", "jinja2")):
        raise MissingExtraError("a report with pictures", "demo")
    start = time.perf_counter()
    say(f"1/3 collecting: eight algorithms on {TRAINING_PAIRS} pairs of digit classes", quiet)
    with open_store("memory://") as store:
        pairs = digit_pairs(TRAINING_PAIRS, 2 * seed)
        collect(pairs, store, algorithms=PAPER, n_jobs=jobs, progress=not quiet)
        say(f"2/3 learning the reflection function from {store.count()} experiences", quiet)
        function = learn(store.experiences())
    say(f"3/3 testing on {n_pairs} new pairs", quiet)
    tests = wide_pairs(n_pairs, 2 * seed + 1)
    study = measure_demo(tests, function, n_jobs=jobs, progress=not quiet)
    if format is Format.table:
        print("Improvement ratio by number of labelled target rows (± standard error)")
        show_rows(_table(study), format)
        print(
            f"{n_pairs} new pairs, UCI digits <-> MNIST: the source has seven digits of one kind, the\n"
            "target the other three of the other kind. A ratio above 1 means that the transfer helped;\n"
            "1 stands for 1-NN without transfer. 'paper' searches with the function that was just\n"
            "learned. L2T rehearses on the classes of the source, and does not transfer where nothing\n"
            f"should help. Took {time.perf_counter() - start:.0f} s."
        )
    else:
        show_rows(demo_rows(study), format)
    title = f"UCI digits <-> MNIST, mean of {n_pairs} new pairs"
    if plot is not None:
        plot_ratios(study, title).savefig(plot, dpi=150)
        say(f"Picture: {plot}", quiet)
    _write_report(report, study, function, title, tests[0])
    say(f"Report with pictures: {report}", quiet)
    say(
        "Next, with files of your own:\n"
        "  l2t predict SOURCE.csv TARGET.csv --label COLUMN -o predictions.csv\n"
        "  l2t collect SOURCE.npz TARGET.npz && l2t learn   # experiences of your own",
        quiet,
    )


def digit_pairs(n_pairs: int, random_state: int) -> list[DomainPair]:
    """Draw pairs of three and three digits of UCI and MNIST, by turns from one to the other and back."""
    first, second = normalize(digits()), normalize(mnist())
    each = -(-n_pairs // 2)
    samplers = [
        PairSampler(first, second, each, random_state=2 * random_state),
        PairSampler(second, first, each, random_state=2 * random_state + 1),
    ]
    return [samplers[i % 2][i // 2] for i in range(n_pairs)]


def wide_pairs(n_pairs: int, random_state: int) -> list[DomainPair]:
    """Draw pairs whose source has all digits that the target does not have, seven of them."""
    sides = normalize(digits()), normalize(mnist())
    pairs = []
    for i in range(n_pairs):
        rng = np.random.default_rng([random_state, i])
        source, target = sides if i % 2 == 0 else sides[::-1]
        digit = rng.permutation(target.classes)
        drawn = some_rows(rng, source, sorted(digit[N_CLASSES:]), MAX_PER_CLASS)
        aimed = some_rows(rng, target, sorted(digit[:N_CLASSES]), MAX_PER_CLASS)
        pairs.append(DomainPair(drawn, aimed))
    return pairs


def measure_demo(
    pairs: list[DomainPair], function: ReflectionFunction, *, n_jobs: int, progress: bool
) -> TransferStudy:
    """Measure the base algorithms, the paper's search with a function, and L2T."""
    shared: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
    study = measure_transfer(pairs, **shared)
    paper = measure_transfer(pairs, names=(), method="paper", reflection=function, **shared)
    return replace(
        study, names=(*study.names, "paper"), base=np.concatenate([study.base, paper.l2t[None]])
    )


def demo_rows(study: TransferStudy) -> list[dict[str, Any]]:
    """Return one row per method and number of labels."""
    return [
        {"method": name.lower(), "labels": count, "ratio": mean, "standard_error": error}
        for name, ratios in _methods(study).items()
        for count, mean, error in zip(study.label_counts, *_moments(study, ratios), strict=True)
    ]


def _methods(study: TransferStudy) -> dict[str, Array]:
    """Return the ratios of every method by its name."""
    return dict(zip((*study.names, "L2T"), (*study.base, study.l2t), strict=True))


def _moments(study: TransferStudy, ratios: Array) -> tuple[list[float], list[float]]:
    """Return the mean ratio and its standard error at each number of labels."""
    return study.mean(ratios).tolist(), study.standard_error(ratios).tolist()


def _table(study: TransferStudy) -> list[dict[str, str]]:
    """Return one row per method, with a column per number of labels."""
    cells = {"no transfer": ["1.000" for _ in study.label_counts]}
    for name, ratios in _methods(study).items():
        moments = zip(*_moments(study, ratios), strict=True)
        cells[name] = [f"{mean:.3f}±{error:.2f}".replace("±0", "±") for mean, error in moments]
    cells["1.000 means"] = [f"{100 * a:.1f} %" for a in study.mean(study.original)]
    columns = ("", *map(str, study.label_counts))
    return [dict(zip(columns, (name, *row), strict=True)) for name, row in cells.items()]


def _write_report(
    path: Path, study: TransferStudy, function: ReflectionFunction, title: str, pair: DomainPair
) -> None:
    """Write what was measured, one pair before and after the transfer, and what was learned."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = infer(pair, n_labels=FEW)
    search = infer(pair, function, n_labels=FEW, method="paper").search
    assert search is not None  # it is the paper's method
    accuracies = measured(pair.target, found)
    means = {name: study.mean(ratios).tolist() for name, ratios in _methods(study).items()}
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
