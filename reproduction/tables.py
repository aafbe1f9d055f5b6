"""Accuracy of `l2t predict` on tables as people have them, beside plain classifiers of the same rows.

Every table is two files, a source and a target that differs from it, and goes through the command line. What
one command gives is kept in a working folder, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import io
import json
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from l2t.display import new_figure
from l2t.interfaces.cli import app
from l2t.progress import progress_bar
from reproduction.pages import write_page

__all__ = ["Question", "control", "measure", "summarize", "write_tables"]

#: Labels per class. Where classes are shared, as many random rows are labelled.
SHOTS = (0, 1, 5, 20)
#: What is done to the source, and labels per class where it is not left as it is.
TRUE, PERMUTED, NOISE = "true source", "permuted labels", "noise"
CONTROL_SHOTS = (5,)
#: Mean length of the cells of a column from which plain classifiers get TF-IDF of it, and largest number of
#: different texts of a column that they get as categories.
LONG_TEXT = 60
MAX_CATEGORIES = 60
PLAIN: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(max_iter=500),
    "forest": lambda: RandomForestClassifier(200, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(
        max_iter=60, min_samples_leaf=5, random_state=0
    ),
}
TRAINED_ON = ("target", "both")

#: A table on which L2T is so far behind the plain classifier is named.
TOO_FAR = 0.05

Labels = npt.NDArray[Any]


@dataclass(frozen=True)
class Question:
    """A table with some labels.

    Attributes
    ----------
    table : str
        The name of the table.
    shared : bool
        Whether source and target have the same classes.
    control : str
        What is done to the source.
    shots : int
        Labels per class.
    draw : int
        The number of the draw of labelled rows.
    """

    table: str
    shared: bool
    control: str
    shots: int
    draw: int

    @property
    def file(self) -> str:
        """The name of the file with what is measured."""
        return f"{self.table} {self.control} {self.shots} {self.draw}.json".replace(" ", "-")

    def labeled_rows(self, y: Labels) -> npt.NDArray[np.intp]:
        """Return the rows that are labelled: random ones, or with other classes some of each class."""
        rng = np.random.default_rng(100 + self.draw)
        classes = np.unique(y)
        order = rng.permutation(len(y))
        if self.shared:
            return order[: self.shots * len(classes)]
        rows = (rng.permutation(np.flatnonzero(y == name)) for name in classes)
        return np.concatenate([some[: min(self.shots, len(some) // 2)] for some in rows])


def questions(data: Path, n_draws: int) -> list[Question]:
    """Return all questions, the first draw of each first."""
    tables = json.loads((data / "tables" / "tables.json").read_text())
    shared = {name: about["kind"].startswith("shared") for name, about in tables.items()}
    asked = [
        Question(name, shared[name], TRUE, shots, draw)
        for draw in range(n_draws)
        for shots in SHOTS
        for name in shared
        if shots or (shared[name] and draw == 0)  # without labels there is nothing to draw
    ]
    return asked + [
        Question(name, shared[name], done, shots, 0)
        for done in (PERMUTED, NOISE)
        for shots in CONTROL_SHOTS
        for name in shared
    ]


def control(source: pd.DataFrame, done: str) -> pd.DataFrame:
    """Return a source whose labels, or whose columns one by one, are permuted; or as it is."""
    columns = {TRUE: [], PERMUTED: ["label"], NOISE: list(source)}[done]
    rng = np.random.default_rng(0)
    return source.assign(
        **{name: source[name].to_numpy()[rng.permutation(len(source))] for name in columns}
    )


def measure(question: Question, data: Path) -> dict[str, Any]:
    """Return what `l2t predict` promises, and what it and plain classifiers reach on rows without a label."""
    source, target = (
        pd.read_csv(data / "tables" / f"{question.table}-{role}.csv.gz")
        for role in ("source", "target")
    )
    source = control(source, question.control)
    y_source, y = (_spelled_alike(table["label"]) for table in (source, target))
    labeled = question.labeled_rows(y)
    test = np.setdiff1d(np.arange(len(y)), labeled)
    few = target.assign(label=target["label"].where(target.index.isin(labeled)))
    written, used = _predict(source, few)
    predicted = _spelled_alike(written["predicted"])[test]
    record: dict[str, Any] = asdict(question) | {
        "l2t": float(np.mean(predicted == y[test])),
        "balanced": _balanced(y[test], predicted),
        "probability": float(written["probability"].to_numpy()[test].mean()),
        **{name: used[name] for name in ("expected", "low", "high")},
    }
    Z = _plain_features(source.drop(columns="label"), target.drop(columns="label"))
    Z_source, Z = Z[: len(source)], Z[len(source) :]
    rows = {"target": (Z[labeled], y[labeled])} if len(labeled) else {}
    if question.shared:
        rows["both"] = np.vstack([Z_source, Z[labeled]]), np.concatenate([y_source, y[labeled]])
    for trained_on, (X, labels) in rows.items():
        for name, make in PLAIN.items():
            answers: Any = labels[0]
            if len(np.unique(labels)) > 1:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    warnings.simplefilter("ignore", UserWarning)
                    answers = make().fit(X, labels).predict(Z[test])
            record[f"{name}, {trained_on}"] = float(np.mean(answers == y[test]))
    return record


def _spelled_alike(labels: pd.Series) -> Labels:
    """Return labels as texts; 1 and 1.0 are the same."""

    def spelled(label: Any) -> str:
        try:
            return f"{float(label):g}"
        except ValueError:
            return str(label)

    return np.array([spelled(label) for label in labels], dtype=object)


def _balanced(truth: Labels, predicted: Labels) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes that no row has are predicted
        return float(balanced_accuracy_score(truth, predicted))


def _predict(source: pd.DataFrame, target: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the file that the command writes, and the row of its report that is used."""
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/source.csv", f"{folder}/target.csv", f"{folder}/answers.csv"]
        source.to_csv(files[0], index=False)
        target.to_csv(files[1], index=False)
        command = ["predict", *files[:2], "--label", "label", "-o", files[2]]
        printed = io.StringIO()
        with redirect_stdout(printed):
            app([*command, "--format", "json", "--quiet"], standalone_mode=False)
        report = json.loads(printed.getvalue())["report"]
        return pd.read_csv(files[2]), next(row for row in report if row["used"])


def _plain_features(source: pd.DataFrame, target: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return numbers of unit variance, one-hot categories and TF-IDF of the rows of both tables."""
    both = pd.concat([source, target])
    numbers = [name for name in both if both[name].dtype.kind in "fiub"]
    texts = [name for name in both if name not in numbers]
    long = [name for name in texts if both[name].astype(str).str.len().mean() > LONG_TEXT]
    few = [name for name in texts if name not in long and both[name].nunique() <= MAX_CATEGORIES]
    steps: list[Any] = []
    if numbers:
        steps.append((make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers))
    if few:
        steps.append((OneHotEncoder(handle_unknown="ignore", sparse_output=False), few))
    steps += [(TfidfVectorizer(max_features=2000, sublinear_tf=True), name) for name in long]
    features = make_column_transformer(*steps, sparse_threshold=0).fit_transform(both)
    return np.asarray(features, dtype=np.float64)


def measure_all(data: Path, work: Path, n_draws: int) -> pd.DataFrame:
    """Return one row for each question; what is in the working folder is read."""
    work.mkdir(parents=True, exist_ok=True)
    asked = questions(data, n_draws)
    records = []
    with progress_bar(len(asked), "predicting") as advance:
        for question in asked:
            path = work / question.file
            if not path.exists():
                unfinished = path.with_suffix(".part")
                unfinished.write_text(json.dumps(measure(question, data)))
                unfinished.replace(path)
            records.append(json.loads(path.read_text()))
            advance(question.table)
    return pd.DataFrame(records)


def summarize(records: pd.DataFrame) -> list[dict[str, Any]]:
    """Return for tables with shared and with other classes, and each number of labels, what is reached.

    The plain classifier beside L2T is the one with the best mean, the same for all tables.
    """
    rows = []
    for (shared, shots), some in records.groupby(["shared", "shots"], sort=True):
        plain = [name for name in _plain_names(records) if some[name].notna().any()]
        tables = some.groupby("table", sort=False)[["l2t", *plain]].mean()
        best = tables[plain].mean().idxmax()
        lead = tables["l2t"] - tables[best]
        promised = some.dropna(subset=["expected"])
        error = promised["expected"] - promised["l2t"]
        inside = promised["l2t"].between(promised["low"], promised["high"])
        rows.append(
            {
                "shared": bool(shared),
                "shots": int(shots),
                "l2t": tables["l2t"].mean(),
                "best": best,
                "plain": tables[best].mean(),
                "lead": lead.mean(),
                "worst": lead.min(),
                "worst_table": lead.idxmin(),
                "error": (some["probability"] - some["l2t"]).mean(),
                "size": (some["probability"] - some["l2t"]).abs().mean(),
                "bias": error.mean(),
                "n_promised": len(promised),
                "n_inside": int(inside.sum()),
                "tables": {
                    name: {"l2t": row["l2t"], "plain": row[best]} for name, row in tables.iterrows()
                },
            }
        )
    return rows


def _plain_names(records: pd.DataFrame) -> list[str]:
    names = [f"{name}, {trained_on}" for trained_on in TRAINED_ON for name in PLAIN]
    return [name for name in names if name in records]


def _controls(records: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the mean accuracy with each source, and of the best plain classifier of the target alone."""
    first = records[(records["draw"] == 0) & records["shots"].isin(CONTROL_SHOTS)]
    own = [name for name in _plain_names(records) if name.endswith("target")]
    rows = []
    for (shared, shots), some in first.groupby(["shared", "shots"], sort=True):
        alone = some[some["control"] == TRUE][own].mean()
        row = {"shared": bool(shared), "shots": int(shots), "alone": alone.max()}
        rows.append(row | {done: part["l2t"].mean() for done, part in some.groupby("control")})
    return rows


def _behind(summary: list[dict[str, Any]]) -> list[str]:
    """Return the tables on which L2T is too far behind, with the labels per class."""
    return [
        f"{name} ({row['shots']})"
        for row in summary
        for name, values in row["tables"].items()
        if values["l2t"] < values["plain"] - TOO_FAR
    ]


def _draw(summary: list[dict[str, Any]], path: Path) -> None:
    """Draw the lead over the plain classifier on each table, one panel for each number of labels."""
    tables = dict.fromkeys(name for row in summary for name in row["tables"])
    place = {name: -number for number, name in enumerate(tables)}
    figure = new_figure(9.0, 0.28 * len(place) + 1.0)
    panels: Any = figure.subplots(1, len(SHOTS), sharey=True)
    for axes, shots in zip(panels, SHOTS, strict=True):
        axes.axvline(0.0, color="0.7", linewidth=1)
        for row in (row for row in summary if row["shots"] == shots):
            for name, values in row["tables"].items():
                lead = values["l2t"] - values["plain"]
                axes.plot([0.0, lead], [place[name]] * 2, color="C0" if lead >= 0 else "C3")
                axes.plot([lead], [place[name]], "o", color="C0" if lead >= 0 else "C3", ms=4)
        axes.set_title(f"{shots} per class" if shots else "no labels")
        axes.set_xlim(-0.3, 0.3)
    panels[0].set_yticks(list(place.values()), list(place))
    figure.supxlabel("accuracy, minus that of the best plain classifier")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def write_tables(data: Path, out: Path, work: Path, n_draws: int) -> None:
    """Measure all tables, and write the page, its chart, and all accuracies as csv."""
    records = measure_all(data, work, n_draws)
    summary = summarize(records[records["control"] == TRUE])
    (out / "csv").mkdir(parents=True, exist_ok=True)
    records.round(4).to_csv(out / "csv" / "tables.csv", index=False)
    _draw(summary, out / "images" / "tables.svg")
    write_page(
        out / "tables.md",
        n_draws=n_draws,
        n_tables=records["table"].nunique(),
        lead=float(np.mean([row["lead"] for row in summary])),
        behind=_behind(summary),
        summary=summary,
        controls=_controls(records),
        sources=(TRUE, PERMUTED, NOISE),
    )
