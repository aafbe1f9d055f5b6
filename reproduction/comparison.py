"""Comparison of L2T with skada, ADAPT, POT and plain classifiers, each at its defaults, on the same tasks.

Shared classes: the source is labelled, the target is not. Other classes: a few target rows are labelled, and
the source has none of the target's classes, so that methods which train on the source cannot answer.

One JSON file per task is kept in a working folder, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from l2t import Domain, predict
from l2t.progress import progress_bar
from l2t.typing import AnyArray
from reproduction.labelled_tasks import SETTINGS, draw_task
from reproduction.pages import write_page
from reproduction.shared_tasks import SharedTask, shared_tasks

__all__ = ["OTHER_CLASSES", "PEERS", "compare_other_classes", "compare_shared", "write_comparison"]

#: Classes of each tool that need no target label, no network and no PyTorch, under the name they have there.
PEERS = {
    "skada": ("CORAL", "SubspaceAlignment", "TransferComponentAnalysis", "OTMapping",
              "LinearOTMapping", "KMMReweight"),
    "POT": ("EMDTransport", "SinkhornTransport", "SinkhornLpl1Transport", "MappingTransport"),
    "ADAPT": ("CORAL", "SA", "TCA", "KMM"),
}  # fmt: skip
SHARED = {"office-caltech-surf": "SURF", "usps-mnist": "digits"}
#: The tasks between the three Office domains that have a small target.
SURF = ("A > W", "A > D", "W > D", "D > W")
#: Kinds of data with other classes in the target. Nothing that ships was fitted to the first three.
OTHER_CLASSES = ("sounds", "mnist", "activity", "photo > style", "sketch > sketch", "letters")
NOT_FITTED = OTHER_CLASSES[:3]
#: Draws that the rule which ships was not fitted to.
DRAWS = range(100, 103)
SHOTS = ("1", "5")

Method = Callable[[AnyArray, AnyArray, AnyArray], AnyArray]
Measured = dict[str, Any]
Job = tuple[str, Callable[[], Measured]]


def write_comparison(data: Path, out: Path, work: Path) -> None:
    """Measure all tasks that are not measured yet, and write the page."""
    work.mkdir(parents=True, exist_ok=True)
    shared = [
        (kind, task)
        for kind in SHARED
        for task in shared_tasks(kind, data)
        if kind != "office-caltech-surf" or task.name in SURF
    ]
    jobs: list[Job] = [
        (f"{kind} {task.name}", partial(compare_shared, task)) for kind, task in shared
    ]
    jobs += [
        (f"{kind} {shots} {number}", partial(compare_other_classes, kind, shots, number, data))
        for kind in OTHER_CLASSES
        for shots in SHOTS
        for number in DRAWS
    ]
    found = list(_run(jobs, work))
    rows = _shared_rows(found[: len(shared)], [kind for kind, _ in shared])
    others = [row["means"] for row in rows[:-1]]  # the last method is L2T
    with_labels = found[len(shared) :]
    write_page(
        out / "comparison.md",
        versions={name: version(name) for name in ("skada", "adapt", "POT", "scikit-learn")},
        tasks=[task.name.replace(" > ", "->") for _, task in shared],
        kinds=SHARED,
        rows=rows,
        best_others=np.nanmax(others, axis=0).tolist(),
        failures=_failures(found[: len(shared)]),
        other=[_other_row(kind, with_labels) for kind in OTHER_CLASSES],
        shots=SHOTS,
        n_draws=len(DRAWS),
        not_fitted=NOT_FITTED,
    )


def compare_shared(task: SharedTask) -> Measured:
    """Return the accuracy of each method without a target label, or the error that it raised."""
    names = np.array(task.source.classes)
    Xs, Xt = task.source.X.astype(float), task.target.X.astype(float)
    truth = np.array(task.target.classes)[task.target.codes]
    found: Measured = {}
    for name, method in shared_methods().items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                codes = np.asarray(method(Xs, task.source.codes, Xt)).ravel().astype(int)
            found[name] = float(np.mean(names[codes] == truth))
        except Exception as error:  # whatever a peer raises at its defaults is its result
            found[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return found


def shared_methods() -> dict[str, Method]:
    """Return the methods by name: functions of source rows, their codes and target rows that return codes."""
    return {
        "1-NN, source": lambda Xs, ys, Xt: KNeighborsClassifier(1).fit(Xs, ys).predict(Xt),
        "logistic regression, source": lambda Xs, ys, Xt: _logistic().fit(Xs, ys).predict(Xt),
        **{f"skada {name}": partial(_skada, name) for name in PEERS["skada"]},
        **{f"POT {name}": partial(_pot, name) for name in PEERS["POT"]},
        **{f"ADAPT {name}": partial(_adapt, name) for name in PEERS["ADAPT"]},
        "L2T": lambda Xs, ys, Xt: predict(Domain(Xs, ys), Domain(Xt)).labels,
    }


def compare_other_classes(kind: str, shots: str, number: int, data: Path) -> Measured:
    """Return accuracies on the rows without a label: plain, L2T, and L2T with a source of noise."""
    source, target, at, test = draw_task(kind, number, SETTINGS[shots], data)
    names = np.array([f"new {code}" for code in target.codes], dtype=object)
    few = Domain(target.X, names, labeled=np.isin(np.arange(len(target)), at))
    rng = np.random.default_rng(number)
    spread = rng.normal(size=source.X.shape) * source.X.std(axis=0) + source.X.mean(axis=0)
    noise = Domain(spread, source.y, name="noise")

    def right(labels: AnyArray) -> float:
        return float(np.mean(labels[test] == names[test]))

    def plain(model: Any) -> float:
        return right(model.fit(target.X[at], names[at].astype(str)).predict(target.X))

    return {
        "kind": kind,
        "shots": shots,
        "1-NN": plain(KNeighborsClassifier(1)),
        "logistic": plain(_logistic()),
        "noise": right(predict(noise, few).labels),
        "L2T": right(predict(source, few).labels),
    }


def _logistic() -> Any:
    return LogisticRegression(max_iter=1000)


def _skada(name: str, Xs: AnyArray, ys: AnyArray, Xt: AnyArray) -> AnyArray:
    import skada

    X, y = np.vstack([Xs, Xt]), np.concatenate([ys, np.full(len(Xt), -1)])
    domain = np.repeat([1, -2], [len(Xs), len(Xt)])
    return np.asarray(getattr(skada, name)().fit(X, y, sample_domain=domain).predict(Xt))


def _pot(name: str, Xs: AnyArray, ys: AnyArray, Xt: AnyArray) -> AnyArray:
    import ot.da

    transport = getattr(ot.da, name)().fit(Xs=Xs, ys=ys, Xt=Xt)
    return np.asarray(_logistic().fit(transport.transform(Xs=Xs), ys).predict(Xt))


def _adapt(name: str, Xs: AnyArray, ys: AnyArray, Xt: AnyArray) -> AnyArray:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # it imports TensorFlow
    import adapt.feature_based
    import adapt.instance_based

    home = adapt.instance_based if name == "KMM" else adapt.feature_based
    model = getattr(home, name)(_logistic(), Xt=Xt, verbose=0, random_state=0)
    return np.asarray(model.fit(Xs, ys).predict(Xt))


def _run(jobs: list[Job], work: Path) -> Iterator[Measured]:
    with progress_bar(len(jobs), "measuring", shown=True) as advance:
        for name, measure in jobs:
            path = work / f"{name.replace(' > ', '-to-').replace(' ', '-')}.json"
            if not path.exists():
                part = path.with_suffix(".part")
                part.write_text(json.dumps(measure()))
                part.replace(path)
            yield json.loads(path.read_text())
            advance(name)


def _shared_rows(found: list[Measured], kinds: list[str]) -> list[Measured]:
    """Return a row per method: accuracies in percent by task, and means by kind of the tasks it solved."""

    def percent(value: float | str) -> float:
        return float("nan") if isinstance(value, str) else 100 * value

    rows = []
    for name in found[0]:
        values = [percent(each[name]) for each in found]
        # A mean over fewer tasks could not be compared with the others.
        means = [
            float(np.mean([v for v, k in zip(values, kinds, strict=True) if k == kind]))
            for kind in SHARED
        ]
        rows.append({"name": name, "values": values, "means": means})
    return rows


def _failures(found: list[Measured]) -> dict[str, str]:
    """Return the first error of each method that raised one, with the number of its tasks."""
    raised: dict[str, list[str]] = {}
    for each in found:
        for name, value in each.items():
            if isinstance(value, str):
                raised.setdefault(name, []).append(value)
    return {name: f"{errors[0]} ({len(errors)} tasks)" for name, errors in raised.items()}


def _other_row(kind: str, found: list[Measured]) -> Measured:
    """Return mean accuracies of a kind, by number of labels, and L2T less logistic regression."""
    row: Measured = {"kind": kind}
    for shots in SHOTS:
        mine = [each for each in found if (each["kind"], each["shots"]) == (kind, shots)]
        gaps = np.array([each["L2T"] - each["logistic"] for each in mine])
        row[shots] = {
            name: float(np.mean([each[name] for each in mine]))
            for name in ("1-NN", "logistic", "noise", "L2T")
        } | {"gap": float(gaps.mean()), "error": float(gaps.std(ddof=1) / np.sqrt(len(gaps)))}
    return row
