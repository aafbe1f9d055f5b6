"""Whether what `l2t.predict` promises comes true, each kind of data left out of the numbers that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from scipy.stats import betabinom, binomtest

from l2t.display import new_figure
from l2t.prediction.promise import LEAST, MOST, ROWS_PER_LABEL, SLOPE, Promise
from reproduction.kinds import KINDS
from reproduction.pages import write_page
from reproduction.promise_tasks import (
    MANY_CLASSES,
    MODES,
    PARTS,
    RANDOM_LABELS,
    Outcome,
    predict_tasks,
)

__all__ = ["Numbers", "fit_numbers", "judge", "write_promises"]

N_BINS = 10
#: Target classes over source classes, from each number up to the next.
RATIOS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, np.inf)


@dataclass(frozen=True)
class Numbers:
    """The slope of a promise, and the rows that it counts for per label of each class."""

    slope: float = SLOPE
    rows_per_label: float = ROWS_PER_LABEL

    def promise(self, outcome: Outcome) -> Promise | None:
        """Return the promise of an outcome with these numbers; that of shared classes is unchanged."""
        if outcome.expected is None or outcome.low is None or outcome.high is None:
            return None
        rows = outcome.rows or 0.0
        if outcome.shared:
            return Promise(outcome.expected, outcome.low, outcome.high, rows, "")
        expected = expit(self.slope / SLOPE * logit(np.clip(outcome.expected, LEAST, MOST)))
        rows *= self.rows_per_label / ROWS_PER_LABEL
        return Promise.of(float(expected), rows, len(outcome.codes))


def write_promises(
    data: Path,
    out: Path,
    work: Path,
    parts: Sequence[str] = PARTS,
    *,
    n_draws: int = 3,
    n_jobs: int = 1,
) -> None:
    """Predict all tasks, and write the page."""
    outcomes = predict_tasks(data, work, parts, n_draws, n_jobs)
    groups = {kind: about.group for kind, about in KINDS.items()}
    usual = [outcome for outcome in outcomes if outcome.setting in MODES]
    numbers = {
        group: fit_numbers([one for one in usual if groups[one.kind] != group])
        for group in dict.fromkeys(groups.values())
    }
    shipped = Numbers()
    records = pd.DataFrame(
        [judge(one, numbers.get(groups.get(one.kind, ""), shipped)) for one in outcomes]
    )
    records["group"] = [groups.get(kind, kind) for kind in records["kind"]]
    main = records[records["setting"].isin((*MODES, MANY_CLASSES))]
    controls = records[records["setting"].str.endswith(("source", RANDOM_LABELS))]
    shared = records[records["shared"]]
    other = records[(records["setting"] == "table") & ~records["shared"]]
    _draw(main, out / "images" / "promises.png")
    (out / "csv").mkdir(parents=True, exist_ok=True)
    records.drop(columns=["sure", "right"]).round(4).to_csv(out / "csv/promises.csv", index=False)
    write_page(
        out / "promises.md",
        n_tasks=len(records),
        parts=" ".join(parts) if set(parts) != set(PARTS) else "",
        n_draws=n_draws,
        main=_row("all", main),
        by_shots=_table(main, "shots"),
        by_ratio=_table(main, "ratio"),
        by_setting=_table(main, "setting"),
        by_kind=_table(main, "kind"),
        numbers=numbers,
        shipped=shipped,
        controls=_controls(controls),
        shared=_table(shared, "shots"),
        shared_kinds=_table(shared[shared["shots"] > 0], "kind"),
        unlabeled=_table(shared[shared["shots"] == 0], "kind"),
        tables=_table(other, "kind"),
        labels_needed=_summary_of_labels(check_labels_needed(outcomes)),
    )


def fit_numbers(outcomes: Sequence[Outcome]) -> Numbers:
    """Return the numbers under which the accuracies of tasks are most likely, each kind counting the same."""
    some = [one for one in outcomes if not one.shared and one.expected is not None]
    expected = np.array([one.expected for one in some], dtype=float)
    rows_then = np.array([one.rows for one in some], dtype=float)
    n = np.array([len(one.codes) for one in some])
    right = np.array([_right(one).sum() for one in some])
    size = pd.Series([(KINDS[one.kind].group, one.shots) for one in some])
    weight = 1.0 / size.map(size.value_counts()).to_numpy()

    def loss(numbers: Any) -> float:
        m = expit(numbers[0] / SLOPE * logit(np.clip(expected, LEAST, MOST)))
        rows = np.exp(numbers[1]) / ROWS_PER_LABEL * rows_then
        return -float(weight @ betabinom.logpmf(right, n, m * rows, (1.0 - m) * rows))

    slope, log_rows = minimize(loss, [SLOPE, np.log(ROWS_PER_LABEL)], method="Nelder-Mead").x
    return Numbers(float(slope), float(np.exp(log_rows)))


def judge(outcome: Outcome, numbers: Numbers) -> dict[str, Any]:
    """Return what was promised with some numbers, and what came true."""
    right = _right(outcome)
    P = _probabilities(outcome, outcome.temperature).max(axis=1)
    place = np.minimum((N_BINS * P).astype(int), N_BINS - 1)
    promise, accuracy = numbers.promise(outcome), float(right.mean())
    record: dict[str, Any] = {
        "kind": outcome.kind,
        "setting": outcome.setting,
        "shots": outcome.shots,
        "shared": outcome.shared,
        "ratio": _ratio(outcome),
        "n": len(right),
        "chance": 1.0 / outcome.n_classes,
        "accuracy": accuracy,
        "probability": float(P.mean()),
        "sure": np.bincount(place, P, minlength=N_BINS),
        "right": np.bincount(place, right, minlength=N_BINS),
    }
    if promise is None:
        return record | {"expected": np.nan, "inside": np.nan, "width": np.nan}
    return record | {
        "expected": promise.expected,
        "inside": float(promise.low <= accuracy <= promise.high),
        "width": promise.high - promise.low,
    }


def check_labels_needed(outcomes: Iterable[Outcome]) -> pd.DataFrame:
    """Return accuracies that were said to need more labels, and those that came true with as many labels.

    These are interpolated between the numbers of labels that were tried; what needs more labels is left out.
    """
    targets: dict[Any, list[Outcome]] = {}
    for one in outcomes:
        targets.setdefault((one.kind, one.setting, one.part, one.number), []).append(one)
    records = []
    for same in targets.values():
        tried = sorted(same, key=lambda one: one.labels)
        labels = np.log([max(one.labels, 0.5) for one in tried])
        accuracies = [float(_right(one).mean()) for one in tried]
        for one in tried:
            more, level, _, low, high = map(
                int, re.findall(r"\d+", one.labels_needed or "0 0 0 0 0")
            )
            wanted = np.log(max(one.labels, 0.5) + more)
            if more and wanted <= labels[-1]:
                real = float(np.interp(wanted, labels, accuracies))
                records.append(
                    {
                        "kind": one.kind,
                        "shots": one.shots,
                        "promised": level / 100,
                        "real": real,
                        "inside": low / 100 - 0.005 <= real <= high / 100 + 0.005,
                    }
                )
    return pd.DataFrame(records, columns=["kind", "shots", "promised", "real", "inside"])


def _probabilities(outcome: Outcome, temperature: float) -> Any:
    return softmax(outcome.scores.astype(float) / temperature, axis=1)


def _right(outcome: Outcome) -> Any:
    return outcome.scores.argmax(axis=1) == outcome.codes


def _ratio(outcome: Outcome) -> str:
    ratio = outcome.n_classes / outcome.n_known
    low, high = next(ends for ends in pairwise(RATIOS) if ends[0] < ratio <= ends[1])
    return f"more than {low:g}" if high == np.inf else f"{low:g} to {high:g}"


def _table(records: pd.DataFrame, by: str) -> list[dict[str, Any]]:
    """Return one row for each value of a column; numbers first, then names as they come."""
    return [_row(name, some) for name, some in records.groupby(by, sort=by in ("shots", "ratio"))]


def _row(name: Any, records: pd.DataFrame) -> dict[str, Any]:
    """Return means over kinds of the same weight, and the share inside with its 95 % interval."""
    promised = records.dropna(subset="expected")
    n_inside = int(promised["inside"].sum())
    error = promised["expected"] - promised["accuracy"]
    ends = binomtest(n_inside, len(promised)).proportion_ci() if len(promised) else (np.nan, np.nan)
    return {
        "name": name,
        "n": len(records),
        "accuracy": _over_kinds(records["accuracy"], records),
        "probability": _over_kinds(records["probability"], records),
        "expected": _over_kinds(promised["expected"], promised),
        "bias": _over_kinds(error, promised),
        "error": _over_kinds(error.abs(), promised),
        "inside": n_inside / len(promised) if len(promised) else np.nan,
        "low": ends[0],
        "high": ends[1],
        "width": _over_kinds(promised["width"], promised),
        "calibration": _over_groups(_calibration_errors(records)),
    }


def _over_kinds(values: pd.Series, records: pd.DataFrame) -> float:
    return float(values.groupby(records["group"]).mean().mean()) if len(values) else float("nan")


def _over_groups(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _calibration_errors(records: pd.DataFrame) -> list[float]:
    """Return the expected calibration error of the rows of each group, in bins of probability."""
    errors = []
    for _, some in records.groupby("group"):
        sure, right = (np.sum(list(some[name]), axis=0) for name in ("sure", "right"))
        errors.append(float(np.abs(sure - right).sum() / some["n"].sum()))
    return errors


def _controls(records: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        _row(setting, some) | {"shots": shots, "chance": some["chance"].mean()}
        for (setting, shots), some in records.groupby(["setting", "shots"])
    ]


def _summary_of_labels(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what was said on more labels and what came true, by labels per class at present."""
    return [
        {"name": shots, "n": len(some)} | some[["promised", "real", "inside"]].mean().to_dict()
        for shots, some in claims.groupby("shots")
    ]


def _draw(records: pd.DataFrame, path: Path) -> None:
    """Draw promised and real accuracies of all tasks, one panel for each number of labels."""
    shots = sorted(records["shots"].unique())
    figure = new_figure(2.3 * len(shots), 2.6)
    for place, number in enumerate(shots, 1):
        axes = figure.add_subplot(1, len(shots), place)
        some = records[records["shots"] == number].dropna(subset="expected")
        axes.plot([0, 1], [0, 1], color="0.8", zorder=0)
        for inside, colour in ((1.0, "C0"), (0.0, "C3")):
            these = some[some["inside"] == inside]
            axes.plot(these["expected"], these["accuracy"], ".", color=colour, ms=3)
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="promised")
        axes.set_title(f"{number} label{'s' if number > 1 else ''} per class", fontsize="medium")
        axes.set_aspect("equal")
        if place == 1:
            axes.set_ylabel("came true")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
