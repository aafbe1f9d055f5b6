"""The jobs of the first page: a description of what a prediction would do, and the prediction itself."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from l2t.algorithms import NO_TRANSFER
from l2t.display import ANSWERS
from l2t.domains import Domain, DomainPair, Table, read_tables
from l2t.exceptions import InvalidInputError, L2TError
from l2t.interfaces.dashboard.history import ROWS
from l2t.interfaces.dashboard.pictures import curves
from l2t.interfaces.dashboard.rows import write_rows
from l2t.interfaces.dashboard.settings import ReportEvent
from l2t.labelling import LabellingSession
from l2t.paper import load_reflection
from l2t.prediction import Prediction
from l2t.prediction import predict as l2t_predict
from l2t.prediction.explanation import LabeledNeighbor
from l2t.prediction.training import describe_task
from l2t.statistics import pair_statistics
from l2t.typing import JsonObject

#: The stages on the page, by those of `l2t.predict`.
_STAGES = {"choosing": "choosing", "comparing classifiers": "choosing", "predicting": "predicting"}
_STAGES["comparing ways to train on the source"] = "choosing"
_OUT = Path("out")
_MAX_STATISTICS_ROWS = 300  # of a domain, for its statistics
_NEAREST = 2  # labelled rows that are shown for each row


def check(request: JsonObject, report: ReportEvent) -> JsonObject:
    """Read all files, and return what a prediction would do with them."""
    *sources, target = _tables(request)
    description = describe_task([source.domain for source in sources], target.labelled)
    return description | {"notes": _notes(request, [*sources, target])}


def predict(request: JsonObject, report: ReportEvent) -> JsonObject:
    """Predict the class of every row, report each stage, and write the results to files."""
    report("stage", name="reading")
    *sources, target = _tables(request)
    target.check_free(ANSWERS)
    labelled = open_session(request).domain if "labels" in request else target.labelled
    report("stage", name="rehearsing")

    def follow(stage: str) -> None:
        if stage in _STAGES:
            report("stage", name=_STAGES[stage])

    prediction = l2t_predict([source.domain for source in sources], labelled, callback=follow)
    names = [file["name"] for file in request["files"]]
    return _results(prediction, sources, target, names) | {
        "notes": _notes(request, [*sources, target])
    }


def label(request: JsonObject, report: ReportEvent) -> JsonObject:
    """Predict with the labels of a session, and return its forecast and, if there is one, the prediction."""
    session = LabellingSession(**request["session"])
    prediction, forecast = session.predict(lambda stage: report("stage", name=stage))
    result: JsonObject = {"forecast": asdict(forecast)}
    if prediction is not None:
        tables, names = [*session.sources, session.target], request["names"]
        result |= _results(prediction, session.sources, session.target, names)
        files = [
            {"path": str(table.path), "name": name}
            for table, name in zip(tables, names, strict=True)
        ]
        result["notes"] = _notes({"files": files}, tables)
    return result


def open_session(request: JsonObject) -> LabellingSession:
    """Return the labelling session of the target of a request, with its file of labels."""
    *sources, target = [file["path"] for file in request["files"]]
    try:
        return LabellingSession(
            target,
            sources,
            labels=request["labels"],
            impute=request["impute"],
            per_file=[file["reading"] for file in request["files"]],
        )
    except L2TError as error:
        raise InvalidInputError(_named(request, str(error))) from None


def _results(
    prediction: Prediction, sources: list[Table], target: Table, names: list[str]
) -> JsonObject:
    """Write the files of a prediction, and return its summary."""
    answers = (prediction.labels, prediction.probability, prediction.given)
    target.write(_OUT / "predictions.csv", columns=dict(zip(ANSWERS, answers, strict=True)))
    names_of_classes = _free_names(
        target, [f"probability of {name}" for name in prediction.classes]
    )
    shares = dict(zip(names_of_classes, prediction.probabilities.T, strict=True))
    own = dict(zip(ANSWERS, answers, strict=True))
    target.write(_OUT / "probabilities.csv", columns=own | shares)
    write_rows(_OUT / ROWS, prediction, target, _nearest_labels(prediction, names))
    prediction.model.save(_OUT / "model.l2t")
    (_OUT / "report.html").write_text(prediction.to_html())
    if prediction.choice != NO_TRANSFER and isinstance(prediction.inference.W, np.ndarray):
        np.save(_OUT / "W.npy", prediction.inference.W, allow_pickle=False)
    result = prediction.summary()
    ids = list(target.roles.ids)
    for row in (*result["uncertain"], *result["suspicious"]):
        row["id"] = ", ".join(str(target.frame[name].iloc[row["row"]]) for name in ids)
    return result | {
        "statistics": _statistics(sources, prediction),
        "target": names[-1],
        "sources": names[:-1],
    }


def _nearest_labels(prediction: Prediction, names: list[str]) -> list[str]:
    """Return the labels nearest to each row, with the numbers of their rows."""

    def words(neighbor: LabeledNeighbor) -> str:
        file = "" if neighbor.source is None else f"{names[neighbor.source]} "
        return f"{neighbor.label} ({file}{neighbor.row + 1})"

    nearest = prediction.nearest_of(np.arange(len(prediction.target)), _NEAREST)
    return [", ".join(map(words, neighbors)) for neighbors in nearest]


def _free_names(table: Table, names: list[str]) -> list[str]:
    """Return names of new columns, with underscores where the table has columns of these names."""
    end = ""
    while any(f"{name}{end}" in table.frame.columns for name in names):
        end += "_"
    return [f"{name}{end}" for name in names]


def _statistics(sources: list[Table], prediction: Prediction) -> JsonObject | None:
    """Return d and tau of a sample of rows under the chosen W, and the beta of the shipped function."""
    if not sources:
        return None
    columns, rng = prediction.model.parts[0][0].columns, np.random.default_rng(0)
    function = load_reflection("default")
    pair = []
    for domain in (sources[0].domain, prediction.target):
        rows = domain.X[np.sort(rng.permutation(len(domain))[:_MAX_STATISTICS_ROWS])]
        pair.append(Domain(rows if columns is None else rows / columns))
    try:
        known = pair_statistics(
            DomainPair(*pair),
            prediction.inference.W,
            kernels=function.kernels,
            n_neighbors=function.n_neighbors,
        )
    except L2TError:  # too few rows
        return None
    weights = function.kernel_weights
    return curves(known) | {"beta": (weights / weights.sum()).tolist()}


def _tables(request: JsonObject) -> list[Table]:
    """Read the files with the roles that the user chose, the target last."""
    files = request["files"]
    try:
        return read_tables(
            [file["path"] for file in files],
            per_file=[file["reading"] for file in files],
            impute=request["impute"],
            encode=True,
        )
    except L2TError as error:
        raise InvalidInputError(_named(request, str(error))) from None


def _notes(request: JsonObject, tables: list[Table]) -> list[str]:
    return [_named(request, note) for table in tables for note in table.notes]


def _named(request: JsonObject, text: str) -> str:
    """Return a message with the user's file names in place of paths."""
    for file in request["files"]:
        text = text.replace(file["path"], file["name"])
    return text
