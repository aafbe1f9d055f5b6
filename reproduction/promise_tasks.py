"""Predictions whose accuracy is known afterwards: for each, the probabilities and what was promised.

Every task goes through `l2t.predict` as a user would call it, at the full width of its data. What each
prediction says is kept in a working folder, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from l2t import predict
from l2t.domains import Domain
from l2t.experiences.executors import Executor
from l2t.progress import progress_bar
from reproduction.controls import draw_controls
from reproduction.kinds import KINDS, _source, _split, _target, draw, read_scaled
from reproduction.shared_tasks import BENCHMARKS, DEVELOPMENT, shared_tasks

__all__ = ["PARTS", "Outcome", "Part", "predict_tasks"]

#: What can be measured: tasks of each kind of data, controls, tables, and benchmarks with shared classes.
PARTS = ("kinds", "controls", "tables", "benchmarks")
#: Draws of controls and tables, at most.
N_FURTHER = 2
#: What is done to targets, and targets of each draw.
MODES = ("true", "unbalanced", "adverse 1.0")
N_TARGETS = 2
SHOTS = (1, 3, 8, 20)
#: Targets of many classes whose source has few: the numbers of classes, and rows per class.
MANY_CLASSES = "many classes"
N_MANY, N_FEW = (20, 30, 50), (3, 4, 5, 8)
MANY_ROWS = 40
MANY_KINDS = (
    "sketch > sketch",
    "photo > photo",
    "photo > sketch",
    "clinc150 > clinc150",
    "clinc150 > hwu64",
    "characters",
    "sounds",
)
#: Labels per class where the source is noise, its labels are permuted, or those of the target are random.
CONTROL_SHOTS = (1, 8)
RANDOM_LABELS = "random labels"
#: Labels per class where classes are shared; 0 where rows are labelled at random, as they come.
SHARED_SHOTS = (0, 1, 3, 8)
TABLE_SHOTS = (0, 1, 3, 8, 20)
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
    number: int
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
    number : int
        The number of the target in its part.
    part : int
        The number of its part.
    shots : int
        Labels per class.
    labels : float
        Labels per class that there are, fewer where classes are small.
    n_known, n_classes : int
        The numbers of classes of the source and of the target.
    shared : bool
        Whether source and target have the same classes.
    expected, low, high, rows : float or None
        The promise; None if there was none.
    temperature : float
        Scores were divided by it.
    labels_needed : str or None
        The sentence on how many more labels a higher accuracy needs.
    scores : array of shape (n, n_classes)
        The scores of unlabelled rows.
    codes : int array of shape (n,)
        Their true classes; -1 for a class that cannot be predicted.
    """

    kind: str
    setting: str
    number: int
    part: int
    shots: int
    labels: float
    n_known: int
    n_classes: int
    shared: bool
    expected: float | None
    low: float | None
    high: float | None
    rows: float | None
    temperature: float
    labels_needed: str | None
    scores: npt.NDArray[np.float32]
    codes: npt.NDArray[np.int16]


def predict_tasks(
    data: Path,
    work: Path,
    parts: Collection[str] = PARTS,
    n_draws: int = 3,
    n_jobs: int = 1,
) -> list[Outcome]:
    """Return the outcomes of all tasks; those in the working folder are read.

    Parameters
    ----------
    data, work : Path
        The folder of the data, and the working folder.
    parts : collection of str, default=("kinds", "controls", "tables", "benchmarks")
        What to measure.
    n_draws : int, default=3
        Draws of each kind by what is done to their targets. The tasks of fewer draws are among those of more.
    n_jobs : int, default=1
        The number of processes.

    Returns
    -------
    list of Outcome
    """
    work.mkdir(parents=True, exist_ok=True)
    measured = list(_parts(data, parts, n_draws))
    todo = [(part, data, work) for part in measured if not (work / part.file).exists()]
    with progress_bar(len(todo), "predicting") as advance:
        for kind in Executor(n_jobs).map(_predict_part, todo):
            advance(kind)
    return [outcome for part in measured for outcome in _unpacked(work / part.file)]


def _predict_part(task: tuple[Part, Path, Path]) -> str:
    part, data, work = task
    path = work / part.file
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(_packed([_answer(part, q) for q in _questions(part, data)]))
    unfinished.replace(path)
    return part.kind


def _parts(data: Path, wanted: Collection[str], n_draws: int) -> Iterator[Part]:
    for number in range(FIRST, FIRST + n_draws):
        if "kinds" in wanted:
            yield from (Part(mode, kind, number) for mode in MODES for kind in KINDS)
            yield from (Part(MANY_CLASSES, kind, number) for kind in MANY_KINDS)
    for number in range(FIRST, FIRST + min(n_draws, N_FURTHER)):
        if "controls" in wanted:
            yield from (Part("control", kind, number) for kind in KINDS)
        if "tables" in wanted:
            yield from (Part("table", name, number) for name in _tables(data))
    if "benchmarks" in wanted:
        yield from (Part("shared", name, 0) for name in (*BENCHMARKS, *DEVELOPMENT))


def _tables(data: Path) -> dict[str, bool]:
    """Return whether source and target share their classes, for each table."""
    described = json.loads((data / "tables" / "tables.json").read_text())
    return {name: about["kind"].startswith("shared") for name, about in described.items()}


def _questions(part: Part, data: Path) -> Iterator[Question]:
    if part.name == "table":
        yield from _of_table(part, data)
    elif part.name == "shared":
        yield from _of_benchmark(part, data)
    elif part.name == "control":
        yield from _of_controls(part, data)
    else:
        source, targets = _drawn(part, data)
        for place, target in enumerate(targets):
            for shots in SHOTS:
                yield from _of_domains(part.name, shots, source, target, place)


def _drawn(part: Part, data: Path) -> tuple[Domain, tuple[Domain, ...]]:
    if part.name == MANY_CLASSES:
        source, target = _draw_many(part, data)
        return source, (target,)
    drawn = draw(part.kind, part.name, part.number, data, n_targets=N_TARGETS)
    return drawn.source, drawn.targets


def _of_controls(part: Part, data: Path) -> Iterator[Question]:
    """Yield a target with each source of a control, and with random labels."""
    controls = draw_controls(part.kind, part.number, data, n_targets=1)
    size = part.number % (len(controls) // 3)
    for control in controls[3 * size : 3 * size + 3]:
        for shots in CONTROL_SHOTS:
            source, target, seed = control.source, control.targets[0], part.number
            yield from _of_domains(f"{control.mode} source", shots, source, target, seed)
            if control.mode == "true":
                y = np.random.default_rng(seed).permutation(target.codes)
                yield from _of_domains(RANDOM_LABELS, shots, source, Domain(target.X, y), seed)


def _of_benchmark(part: Part, data: Path) -> Iterator[Question]:
    task = next(islice(shared_tasks(part.kind, data), part.number, None))
    source, y = (task.source.X, _names(task.source)), _names(task.target)
    n_known = len(task.source.classes)
    for shots in SHARED_SHOTS:
        labeled = _at_random(y, shots, part.number)
        if labeled.mean() <= MOST_LABELED:
            yield Question("shared", 0, shots, source, task.target.X, y, labeled, n_known, True)


def _draw_many(part: Part, data: Path) -> tuple[Domain, Domain]:
    """Return a source of few classes, and a target of many others."""
    about = KINDS[part.kind]
    source, target = (read_scaled(data, name) for name in (about.source, about.target))
    rng = np.random.default_rng([3, sorted(KINDS).index(part.kind), part.number])
    ours, theirs = _split(source, target, rng)
    known, novel = (
        rng.permutation(codes)[: rng.choice(sizes)]
        for codes, sizes in ((ours, N_FEW), (theirs, N_MANY))
    )
    return _source(source, known, "true", rng), _target(target, novel, MANY_ROWS, "true", rng)


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
        yield Question(setting, seed, shots, source, target.X, truth, labeled, n_known, False)


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
            known_rows = (source, known)
            yield Question("table", 0, shots, known_rows, target, truth, labeled, n_known, shared)


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
        question.number,
        part.number,
        question.shots,
        float(question.labeled.sum() / len(np.unique(question.truth))),
        question.n_known,
        len(np.unique(question.truth)),
        question.shared,
        None if promise is None else promise.expected,
        None if promise is None else promise.low,
        None if promise is None else promise.high,
        None if promise is None else promise.rows,
        prediction.model.temperature,
        prediction.labels_needed,
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
