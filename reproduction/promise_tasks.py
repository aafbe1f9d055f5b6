"""Predictions whose accuracy is known afterwards: for each, the probabilities and what was promised.

Every task goes through `l2t.predict` as a user would call it, at the full width of its data. What each
prediction says is kept in a working folder, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from l2t import predict
from l2t.domains import Domain
from l2t.progress import progress_bar
from reproduction.controls import draw_controls
from reproduction.kinds import KINDS, draw
from reproduction.shared_tasks import BENCHMARKS, DEVELOPMENT, shared_tasks

__all__ = ["Outcome", "Part", "predict_tasks"]

#: Draws of each kind by what is done to their targets, and targets of each draw.
MODES = {"true": 3, "unbalanced": 2, "adverse 1.0": 2}
N_TARGETS = 2
SHOTS = (1, 3, 8, 20)
#: Labels per class where the source is noise, its labels are permuted, or those of the target are random.
CONTROL_SHOTS = (1, 8)
N_CONTROLS = 2
RANDOM_LABELS = "random labels"
#: Labels per class where classes are shared; 0 where rows are labelled at random, as they come.
SHARED_SHOTS = (0, 1, 3, 8)
TABLE_SHOTS = (0, 1, 3, 8, 20)
N_TABLE_DRAWS = 3
#: The largest share of a target that is labelled.
MOST_LABELED = 0.6
#: Draws from here on: those before were looked at when numbers were chosen.
FIRST = 4000


@dataclass(frozen=True)
class Part:
    """Tasks that are measured together: one draw of a kind, a table or a benchmark."""

    name: str
    kind: str
    number: int

    @property
    def file(self) -> str:
        """The name of the file with what is measured."""
        return f"{self.name} {self.kind} {self.number}.npz".replace(" > ", "-to-").replace(" ", "-")


@dataclass(frozen=True)
class Question:
    """A target with some labels, its source and what it was made from."""

    setting: str
    shots: int
    source: Any
    target: Any
    truth: npt.NDArray[Any]
    labeled: npt.NDArray[np.bool_]
    n_known: int
    shared: bool


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a prediction said, and what came true.

    Attributes
    ----------
    kind, setting : str
        The kind of data, and what was done to it.
    shots : int
        Labels per class.
    n_known, n_classes : int
        The numbers of classes of the source and of the target.
    shared : bool
        Whether source and target have the same classes.
    expected, low, high, rows : float or None
        The promise; None if there was none.
    temperature : float
        Scores were divided by it.
    scores : array of shape (n, n_classes)
        The scores of unlabelled rows.
    codes : int array of shape (n,)
        Their true classes; -1 for a class that cannot be predicted.
    """

    kind: str
    setting: str
    shots: int
    n_known: int
    n_classes: int
    shared: bool
    expected: float | None
    low: float | None
    high: float | None
    rows: float | None
    temperature: float
    scores: npt.NDArray[np.float32]
    codes: npt.NDArray[np.int16]


def predict_tasks(data: Path, work: Path) -> list[Outcome]:
    """Return the outcomes of all tasks; those in the working folder are read."""
    work.mkdir(parents=True, exist_ok=True)
    parts = list(_parts(data))
    outcomes = []
    with progress_bar(len(parts), "predicting") as advance:
        for part in parts:
            path = work / part.file
            if not path.exists():
                unfinished = path.with_suffix(".part")
                unfinished.write_bytes(_packed([_answer(part, q) for q in _questions(part, data)]))
                unfinished.replace(path)
            outcomes += _unpacked(path)
            advance(part.kind)
    return outcomes


def _parts(data: Path) -> Iterator[Part]:
    for mode, n_draws in MODES.items():
        for number in range(n_draws):
            yield from (Part(mode, kind, FIRST + number) for kind in KINDS)
    for number in range(N_CONTROLS):
        yield from (Part("control", kind, FIRST + number) for kind in KINDS)
    for number in range(N_TABLE_DRAWS):
        yield from (Part("table", name, FIRST + number) for name in _tables(data))
    yield from (Part("shared", benchmark, 0) for benchmark in (*BENCHMARKS, *DEVELOPMENT))


def _tables(data: Path) -> dict[str, bool]:
    """Return whether source and target share their classes, for each table."""
    described = json.loads((data / "tables" / "tables.json").read_text())
    return {name: about["kind"].startswith("shared") for name, about in described.items()}


def _questions(part: Part, data: Path) -> Iterator[Question]:
    if part.name in MODES:
        drawn = draw(part.kind, part.name, part.number, data, n_targets=N_TARGETS)
        for place, target in enumerate(drawn.targets):
            for shots in SHOTS:
                yield from _of_domains(part.name, shots, drawn.source, target, place)
    elif part.name == "control":
        controls = draw_controls(part.kind, part.number, data, n_targets=1)
        size = part.number % (len(controls) // 3)
        for control in controls[3 * size : 3 * size + 3]:
            for shots in CONTROL_SHOTS:
                target = control.targets[0]
                setting = f"{control.mode} source"
                yield from _of_domains(setting, shots, control.source, target, part.number)
                if control.mode == "true":
                    y = np.random.default_rng(part.number).permutation(target.codes)
                    target = Domain(target.X, y)
                    yield from _of_domains(
                        RANDOM_LABELS, shots, control.source, target, part.number
                    )
    elif part.name == "table":
        yield from _of_table(part, data)
    else:
        for number, task in enumerate(shared_tasks(part.kind, data)):
            y = _names(task.target)
            for shots in SHARED_SHOTS:
                labeled = _at_random(y, shots, number)
                source = (task.source.X, _names(task.source))
                if labeled.mean() <= MOST_LABELED:
                    yield Question(
                        "shared",
                        shots,
                        source,
                        task.target.X,
                        y,
                        labeled,
                        len(task.source.classes),
                        True,
                    )


def _names(domain: Domain) -> npt.NDArray[Any]:
    return np.asarray([str(name) for name in domain.classes], dtype=object)[domain.codes]


def _of_domains(
    setting: str, shots: int, source: Domain, target: Domain, seed: int
) -> Iterator[Question]:
    """Yield a question on a target with some labels per class, unless nearly all rows have one."""
    labeled = _per_class(target.codes, shots, seed)
    if labeled.mean() <= MOST_LABELED:
        # No label is that of a source class.
        truth = np.array([f"target {code}" for code in target.codes], dtype=object)
        n_known = len(source.classes)
        yield Question(setting, shots, source, target.X, truth, labeled, n_known, False)


def _of_table(part: Part, data: Path) -> Iterator[Question]:
    shared = _tables(data)[part.kind]
    source, target = (
        pd.read_csv(data / "tables" / f"{part.kind}-{role}.csv.gz") for role in ("source", "target")
    )
    truth, known = target.pop("label").to_numpy(object), source.pop("label").to_numpy(object)
    for shots in TABLE_SHOTS if shared else TABLE_SHOTS[1:]:
        if shots == 0 and part.number > FIRST:  # nothing is drawn
            continue
        draw_rows = _at_random if shared else _per_class
        labeled = draw_rows(truth, shots, part.number)
        if labeled.mean() <= MOST_LABELED:
            n_known = len(pd.unique(known))
            yield Question("table", shots, (source, known), target, truth, labeled, n_known, shared)


def _per_class(y: npt.NDArray[Any], shots: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return which rows are labelled: some of each class, at most half of it."""
    rng = np.random.default_rng(seed)
    labeled = np.zeros(len(y), dtype=bool)
    for name in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == name))
        labeled[rows[: min(shots, max(len(rows) // 2, 1))]] = True
    return labeled


def _at_random(y: npt.NDArray[Any], shots: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return which rows are labelled: random ones, as many as there are labels per class."""
    labeled = np.zeros(len(y), dtype=bool)
    labeled[np.random.default_rng(seed).permutation(len(y))[: shots * len(np.unique(y))]] = True
    return labeled


def _answer(part: Part, question: Question) -> Outcome:
    y = question.truth.copy()
    y[~question.labeled] = None
    prediction = predict(
        question.source, (question.target, y), shared=None if question.shared else False
    )
    free = np.flatnonzero(~question.labeled)
    target = question.target
    rows = target.iloc[free] if isinstance(target, pd.DataFrame) else target[free]
    classes = [str(name) for name in prediction.classes]
    code_of = {name: code for code, name in enumerate(classes)}
    promise = prediction.promise
    return Outcome(
        part.kind,
        question.setting,
        question.shots,
        question.n_known,
        len(np.unique(question.truth)),
        question.shared,
        None if promise is None else promise.expected,
        None if promise is None else promise.low,
        None if promise is None else promise.high,
        None if promise is None else promise.rows,
        prediction.model.temperature,
        prediction.model.decision_function(rows).astype(np.float32),
        np.array([code_of.get(str(name), -1) for name in question.truth[free]], dtype=np.int16),
    )


def _packed(outcomes: list[Outcome]) -> bytes:
    """Return outcomes as the content of an npz file."""
    arrays: dict[str, Any] = {}
    described = []
    for place, outcome in enumerate(outcomes):
        fields = asdict(outcome)
        arrays |= {f"{name}-{place}": fields.pop(name) for name in ("scores", "codes")}
        described.append(fields)
    file = io.BytesIO()
    np.savez_compressed(file, json=np.array(json.dumps(described)), **arrays)
    return file.getvalue()


def _unpacked(path: Path) -> list[Outcome]:
    with np.load(path, allow_pickle=False) as file:
        return [
            Outcome(**fields, scores=file[f"scores-{place}"], codes=file[f"codes-{place}"])
            for place, fields in enumerate(json.loads(str(file["json"])))
        ]
