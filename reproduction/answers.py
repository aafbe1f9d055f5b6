"""Accuracy of `l2t.predict` on nine families beside plain classifiers, with true sources and with controls.

Every task goes through `l2t.predict` at the full width of its data. For each family the weights of the
ensemble are those learned without it. What is measured is kept in a working folder, so that an interrupted
run resumes where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score

from l2t import predict
from l2t.classifiers.classifiers import CLASSIFIERS, TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.display import new_figure
from l2t.domains import Domain
from l2t.prediction.ensemble import Weights
from l2t.progress import progress_bar
from reproduction.ensemble import answer_tasks, learn_weights
from reproduction.kinds import SHIPPABLE
from reproduction.labelled_tasks import FAMILIES, SETTINGS, draw_task
from reproduction.own_experience import measure_experience
from reproduction.pages import write_page

__all__ = ["Part", "draw_parts", "measure", "summary", "write_answers"]

#: Classifiers of the original features; the best of them is known only afterwards.
PLAIN = ("nearest neighbour", "nearest centroid", "logistic", "label spreading", "balanced k-means")
#: What takes the place of the source, and the settings that are measured with it.
CONTROLS = {
    "true": tuple(SETTINGS),
    "noise": ("1", "5", "20"),
    "permuted": ("1", "5", "20"),
}
#: Draws that are measured with controls.
N_CONTROLS = 1
SHOWN = ("1", "5", "20", "8:1")
#: The draws for which past targets are known.
EXPERIENCED = range(2)


@dataclass(frozen=True)
class Part:
    """Tasks that are measured together: those of one draw of a family with one kind of source."""

    family: str
    number: int
    source: str

    @property
    def file(self) -> str:
        """The name of the file with what is measured."""
        return f"answers-{self.family}-{self.number}-{self.source}.json"


def write_answers(
    data: Path, out: Path, work: Path, numbers: Sequence[int], learned: Sequence[int]
) -> None:
    """Measure all families, and write the page, its chart and a csv file of each family.

    Parameters
    ----------
    data, out, work : Path
        The folders of the data sets, of the page and of intermediate results.
    numbers, learned : sequence of int
        The draws that are measured, and those that weights are learned from.
    """
    tasks = answer_tasks(SHIPPABLE, learned, data, work)
    weights = {
        family: learn_weights([task for task in tasks if task.family != family])
        for family in SHIPPABLE
    }
    parts = draw_parts(numbers)
    records: list[dict[str, Any]] = []
    with progress_bar(len(parts), "predicting") as advance:
        for part in parts:
            path = work / part.file
            if not path.exists():
                found = list(measure(part, weights.get(part.family, Weights.default()), data))
                path.write_text(json.dumps(found))
            records += json.loads(path.read_text())
            advance(f"{part.family}, {part.source}")
    table = pd.DataFrame(records)
    gains = summary(table)
    _draw(gains, out / "images" / "answers.svg")
    write_page(
        out / "answers.md",
        learned=f"{min(learned)}-{max(learned)}",
        shippable=SHIPPABLE,
        rows=_rows(gains),
        families=gains.reset_index().to_dict("records"),
        n_draws=len(numbers),
        n_tasks=len(table),
        experience=_experience(measure_experience(data, work, EXPERIENCED)),
        n_experienced=len(EXPERIENCED),
    )


def draw_parts(numbers: Sequence[int]) -> list[Part]:
    """Return the parts of some draws, those with the true source first."""
    return [
        Part(family, number, source)
        for source in CONTROLS
        for number in (numbers if source == "true" else numbers[:N_CONTROLS])
        for family in FAMILIES
    ]


def measure(part: Part, weights: Weights, data: Path) -> Iterator[dict[str, Any]]:
    """Yield the accuracies of one part in each setting.

    Parameters
    ----------
    part : Part
        The tasks.
    weights : Weights
        Weights learned without its family.
    data : Path
        The folder of the data sets.

    Yields
    ------
    dict of str to object
    """
    kinds = FAMILIES[part.family]
    kind = kinds[part.number % len(kinds)]
    for setting in CONTROLS[part.source]:
        if SETTINGS[setting].adverse and part.family not in SHIPPABLE:
            continue
        source, target, at, test = draw_task(kind, part.number, SETTINGS[setting], data, None)
        labeled = np.isin(np.arange(len(target)), at)
        asked = Domain(target.X, target.codes, labeled=labeled)
        with patch.object(Weights, "default", lambda: weights):
            prediction = predict(_control(source, part), asked, shared=False)
        truth = target.codes[test]
        score = _score(setting, truth, prediction.labels[test].astype(truth.dtype))
        plain = {
            name: _score(setting, truth, _predict_plainly(name, target, at)[test]) for name in PLAIN
        }
        yield {**asdict(part), "kind": kind, "setting": setting, "l2t": score, **plain}


def _control(source: Domain, part: Part) -> Domain:
    """Return the source, noise of its mean and spread, or its rows with permuted labels."""
    rng = np.random.default_rng(part.number)
    X, codes = source.X, source.codes
    if part.source == "noise":
        X = (X.mean(axis=0) + X.std(axis=0) * rng.normal(size=X.shape)).astype(X.dtype)
    if part.source == "permuted":
        codes = rng.permutation(codes)
    return Domain(X, codes, name="source")


def _score(setting: str, codes: Any, predicted: Any) -> float:
    """Return the accuracy; the balanced accuracy where classes are in the ratio 8:1."""
    if SETTINGS[setting].uneven:
        return float(balanced_accuracy_score(codes, predicted))
    return float(np.mean(codes == predicted))


def _predict_plainly(name: str, target: Domain, at: Any) -> Any:
    """Return the predictions of a plain classifier on the original features."""
    Z = FeatureMap.of(target.X, None, unit=CLASSIFIERS[name].unit)(target.X)
    n_classes = int(target.codes.max()) + 1
    head = fit_head(name, TrainingSet(Z, at, target.codes[at], n_classes))
    return head.scores(Z).argmax(axis=1)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean accuracies of each family by source and setting, beside its best plain classifier."""
    groups = table.groupby(["source", "setting", "family"], sort=False)
    means = groups[["l2t", *PLAIN]].mean()
    means["n"] = groups.size()
    means["best"] = means[list(PLAIN)].idxmax(axis=1)
    means["plain"] = means[list(PLAIN)].max(axis=1)
    means["gain"] = means["l2t"] - means["plain"]
    return means


def _rows(gains: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the mean over families for each source and setting, and the family of least gain."""
    rows = []
    for (source, setting), some in gains.groupby(level=["source", "setting"], sort=False):
        least = some["gain"].idxmin()
        rows.append(
            {
                "source": source,
                "setting": setting,
                "n": int(some["n"].sum()),
                "logistic": some["logistic"].mean(),
                "plain": some["plain"].mean(),
                "l2t": some["l2t"].mean(),
                "gain": some["gain"].mean(),
                "error": some["gain"].std() / np.sqrt(len(some)),
                "behind": int((some["gain"] < 0).sum()),
                "n_families": len(some),
                "least": some["gain"].min(),
                "least_family": least[-1],
            }
        )
    return rows


def _experience(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return mean accuracies by kind and labels per class, one for each number of past targets."""
    table = pd.DataFrame(records)
    means = table.pivot_table("accuracy", ["shots", "kind"], "n_past", sort=False)
    rows = [
        {"shots": shots, "kind": kind, "values": values.tolist()}
        for (shots, kind), values in means.iterrows()
    ]
    return rows + [
        {"shots": shots, "kind": "mean", "values": some.mean().tolist()}
        for shots, some in means.groupby(level="shots")
    ]


def _draw(gains: pd.DataFrame, path: Path) -> None:
    """Draw the gain of each family over its best plain classifier, for each number of labels."""
    figure = new_figure(7.0, 3.6)
    axes = figure.add_subplot()
    families = list(FAMILIES)[::-1]
    columns = (
        gains.loc["true"].reset_index().pivot(index="family", columns="setting", values="gain")
    )
    columns = columns.reindex(families)
    for place, setting in enumerate(SHOWN):
        label = "8:1, 5 labels" if setting == "8:1" else f"{setting} label{'s' * (setting != '1')}"
        axes.plot(
            columns[setting], np.arange(len(families)) + 0.15 * (1.5 - place), "o", label=label
        )
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(families)), families)
    axes.set_xlabel("accuracy of L2T less that of the best plain classifier of the family")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
