"""Accuracy of each combination of features and classifier on tasks of every family.

Two files per task are kept in a working folder, so that an interrupted run resumes where it stopped: a JSON
file of the accuracy of each combination in rehearsal, on the labelled rows and on the test rows, and an npz
file of its log probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from l2t.domains import Domain, KnownClasses, normalize, read_domain
from l2t.inference import infer
from l2t.inference.candidates import candidate_algorithms
from l2t.numerics import few_threads, principal_axes
from l2t.prediction.classifiers import CLASSIFIERS, DEFAULT, TrainingSet, fit_head
from l2t.prediction.model import Features
from l2t.prediction.prediction import expected_beyond_rehearsal
from l2t.prediction.report import PLAIN
from l2t.prediction.scoring import folds, rehearse_combinations, score
from l2t.progress import progress_bar
from reproduction.kinds import KINDS, MOST_SOURCE_ROWS, SHIPPABLE
from reproduction.kinds import _split as split
from reproduction.kinds import read_scaled as load

__all__ = ["FAMILIES", "SETTINGS", "Setting", "draw_task", "measure_answers"]


@dataclass(frozen=True)
class Setting:
    """How a target is labelled and made.

    Labels per class; whether classes are in the ratio 8:1; and the strength of offsets that random groups of
    rows share, whatever their class (an adverse target).
    """

    shots: int
    uneven: bool = False
    adverse: float = 0.0


SETTINGS = {
    "1": Setting(1),
    "5": Setting(5),
    "20": Setting(20),
    "8:1": Setting(5, uneven=True),
    "1, adverse": Setting(1, adverse=1.0),
    "5, adverse": Setting(5, adverse=1.0),
}
#: Families by the kinds of data that they hold; all but "activity" are those of `kinds`.
FAMILIES = {
    group: tuple(kind for kind, each in KINDS.items() if each.group == group)
    for group in dict.fromkeys(each.group for each in KINDS.values())
} | {"activity": ("activity",)}
#: Classes of a target; digits have four to choose from, activity three.
CLASSES = {
    "photo-sketch": 6,
    "photo-style": 4,
    "intents": 6,
    "characters": 6,
    "letters": 6,
    "digits": 3,
    "mnist": 3,
    "sounds": 5,
    "activity": 3,
}
RATIO = 8.0
COORDINATES = 256
#: Logs of probabilities are kept in half precision, from here on.
LEAST = -60.0
#: Rows of a target, at most.
MOST_ROWS = 300


@cache
def _domains(kind: str, data: Path) -> tuple[Domain, Domain]:
    """Return the rows that sources and targets of a kind are drawn from.

    Wide ones are in 256 principal coordinates of their source, which is faster and changes little.
    """
    if kind == "activity":
        whole = normalize(read_domain(data / "activity/wisdm.npz"), "zscore")
        return whole, whole
    source, target = load(data, KINDS[kind].source), load(data, KINDS[kind].target)
    if source.n_features <= COORDINATES:
        return source, target
    rows = np.random.default_rng(0).permutation(len(source))[:MOST_SOURCE_ROWS]
    mean = source.X[rows].mean(axis=0, dtype=np.float64)
    axes = principal_axes(source.X[rows] - mean, COORDINATES)
    ours = source.with_features((source.X - mean) @ axes)
    return ours, ours if source is target else target.with_features((target.X - mean) @ axes)


def draw_task(
    kind: str, number: int, setting: Setting, data: Path
) -> tuple[Domain, Domain, Any, Any]:
    """Return a source, a target with all labels, the labelled rows and the tested rows.

    The source has all classes that the target may not have, in at most 3,000 rows.
    """
    ours, theirs = _domains(kind, data)
    family = "activity" if kind == "activity" else KINDS[kind].group
    rng = np.random.default_rng([number, sorted([*KINDS, "activity"]).index(kind)])
    if kind == "activity":
        base, novel = np.split(rng.permutation(len(ours.classes)), 2)
    else:
        base, novel = split(ours, theirs, rng)
    rows = rng.permutation(np.flatnonzero(np.isin(ours.codes, base)))[:MOST_SOURCE_ROWS]
    source = Domain(ours.X[rows], ours.codes[rows], name="source")
    some = np.flatnonzero(np.isin(theirs.codes, novel[: CLASSES[family]]))
    target = theirs.take(some)
    codes = np.unique(target.codes, return_inverse=True)[1]
    members = [rng.permutation(np.flatnonzero(codes == c)) for c in range(codes.max() + 1)]
    most = max(MOST_ROWS // len(members), 20)
    members = [m[:most] for m in members]
    if setting.uneven:
        shares = RATIO ** -np.linspace(0, 1, len(members))
        members = [m[: max(round(len(m) * s), 4)] for m, s in zip(members, shares, strict=True)]
    rows = np.concatenate(members)
    X = target.X[rows].astype(np.float64)
    if setting.adverse:
        offsets = rng.normal(size=(rng.integers(6, 20), X.shape[1])) * X.std(axis=0)
        offsets *= setting.adverse * np.sqrt(X.var(axis=0).sum() / offsets.var(axis=0).sum())
        X += offsets[rng.integers(0, len(offsets), len(X))]
    target = Domain(X, codes[rows])
    codes, at = codes[rows], []
    for code, m in enumerate(members):
        there = np.flatnonzero(codes == code)
        at.append(there[: min(setting.shots, len(m) // 2)])
    labelled = np.concatenate(at)
    return source, target, labelled, np.setdiff1d(np.arange(len(codes)), labelled)


def measure_answers(
    families: Iterable[str], numbers: Iterable[int], data: Path, work: Path
) -> list[dict[str, Any]]:
    """Return the measured tasks of families; those in the working folder are reused."""
    work.mkdir(parents=True, exist_ok=True)
    wanted = [
        (family, kinds[number % len(kinds)], number, name)
        for number in numbers
        for family, kinds in FAMILIES.items()
        if family in families
        for name, setting in SETTINGS.items()
        if family in SHIPPABLE or not setting.adverse
    ]
    found = []
    with progress_bar(len(wanted), "measuring") as advance:
        for family, kind, number, name in wanted:
            path = work / f"{family}-{name.replace(':', 'to').replace(', ', '-')}-{number}.json"
            if not path.exists():
                task, arrays = _measure(family, kind, number, name, data)
                np.savez_compressed(path.with_suffix(".npz"), **arrays)
                part = path.with_suffix(".part")
                part.write_text(json.dumps(task))
                part.replace(path)
            with np.load(path.with_suffix(".npz")) as arrays:
                found.append(json.loads(path.read_text()) | dict(arrays))
            advance(family)
    return found


def _measure(
    family: str, kind: str, number: int, name: str, data: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the records of a task, and the true classes of the test rows with all log probabilities."""
    source, target, labelled, test = draw_task(kind, number, SETTINGS[name], data)
    n_classes = int(target.codes.max()) + 1
    mask = np.isin(np.arange(len(target)), labelled)
    aim = Domain(target.X, target.codes, labeled=mask)
    with few_threads(0):
        found = infer(aim, sources=[source], n_classes=n_classes, shared=False)
        factors: dict[str, Any] = {PLAIN: None}
        factors |= {
            each: candidate.W
            for each, candidate in found.candidates.items()
            if each != "identity" and candidate.W is not None
        }
        rehearsed = rehearse_combinations(
            KnownClasses([source]).without(aim),
            {k: v for k, v in candidate_algorithms(None, 0).items() if k in factors},
            n_classes=n_classes,
            rows_per_class=max(len(target) // n_classes, 1),
            shots=len(labelled) / n_classes,
        )
        codes = np.where(mask, target.codes, -1)
        splits = folds(codes)
        measured = score(aim.X, factors, codes, splits, tuple(CLASSIFIERS)) if splits else None
        logs = _log_probabilities(aim, factors, labelled, test, n_classes)
    right = logs.argmax(axis=-1) == target.codes[test]
    by_class = [right[..., target.codes[test] == c].mean(axis=-1) for c in range(n_classes)]
    known = KnownClasses([source])
    gap = target.X.mean(axis=0) - known.X.mean(axis=0)
    spread = target.X.var(axis=0).sum() + known.X.var(axis=0).sum()
    task = {
        "family": family,
        "kind": kind,
        "number": number,
        "setting": name,
        "n_classes": n_classes,
        "n_rows": len(target),
        "shots": len(labelled) / n_classes,
        "known_classes": known.n_classes,
        "gap": float(gap @ gap / spread),
        "choice": found.choice,
        "predicted": {k: v.predicted for k, v in found.candidates.items()},
        "corrections": expected_beyond_rehearsal(found),
        "features": list(factors),
        "classifiers": list(CLASSIFIERS),
        "rehearsed": None if rehearsed is None else _plain(rehearsed),
        "measured": None if measured is None else _plain(measured),
        "real": right.mean(axis=-1).tolist(),
        "balanced_accuracy": np.mean(by_class, axis=0).tolist(),
    }
    return task, {"codes": target.codes[test], "logs": logs.astype(np.float16)}


def _plain(scores: Any) -> dict[str, Any]:
    return {
        "features": scores.features,
        "values": scores.values.tolist(),
        "n_classes": scores.n_classes,
        "sizes": scores.sizes.tolist(),
        "n_rows": scores.n_rows,
    }


def _log_probabilities(
    target: Domain,
    factors: dict[str, Any],
    labelled: npt.NDArray[np.intp],
    test: npt.NDArray[np.intp],
    n_classes: int,
) -> npt.NDArray[Any]:
    """Return logs of probabilities (features, classifiers, tested rows, classes)."""
    logs = np.empty((len(factors), len(CLASSIFIERS), len(test), n_classes))
    codes = target.codes
    for i, W in enumerate(factors.values()):
        plain = Features.of(target.X, W)
        heads: dict[str, Any] = {}
        for j, (name, classifier) in enumerate(CLASSIFIERS.items()):
            Z = Features(W, plain.mean, plain.scale, classifier.unit)(target.X)
            task = TrainingSet(Z, labelled, codes[labelled], n_classes)
            head = heads[name] = fit_head(name, task, guess=heads.get(DEFAULT))
            logs[i, j] = np.maximum(log_softmax(head.scores(Z[test]), axis=1), LEAST)
    return logs
