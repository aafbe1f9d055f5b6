"""Chains of algorithms on targets with other classes, compared with their parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from l2t import algorithms
from l2t.classifiers.classifiers import TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.domains import Domain, DomainPair, KnownClasses
from l2t.experiences import evaluate
from l2t.inference.candidates import fit_candidates
from l2t.prediction.trials import IN_EVERY_VIEW
from l2t.progress import progress_bar
from l2t.typing import AnyArray
from reproduction.beyond_linear import NONLINEAR, TWICE, nonlinear_features
from reproduction.chain import SEPARATOR, Chain
from reproduction.kinds import draw
from reproduction.labelled_tasks import FAMILIES, SETTINGS, draw_task
from reproduction.pages import write_page

__all__ = ["write_chains"]

KINDS = ("characters", "sounds", "sketch > sketch")
CANDIDATES = ("spectrum", "classes", "classes+spectrum", "gfk", "lsdt", "classes > gfk",
              "classes > lsdt", "classes > gfk > spectrum")  # fmt: skip
#: All that are linear in X.
LINEAR = (*CANDIDATES, *TWICE)
SHOTS = (1, 5, 15)
N_DRAWS = 8
#: A target has at most so many classes, and rows of each.
MOST_CLASSES = 6
MOST_ROWS = 40
#: Features and numbers of labels per class that answers are measured with, and the draws of each family.
ONE_LEVEL = "classes+spectrum"
ANSWERED = (ONE_LEVEL, TWICE[0], "classes > stacked features > classes+spectrum")
LABELS = ("1", "5", "20")
N_ANSWERS = 6
#: A second level joins the default candidates where it gains this at every number of labels.
LEAST_GAIN = 0.005

#: Log ratios over 1-NN on the features as they are, or accuracies, by candidate and number of labels.
Measured = dict[str, list[float]]


def write_chains(data: Path, out: Path, work: Path, n_draws: int) -> None:
    """Measure the draws that are not measured yet, and write the page."""
    work.mkdir(parents=True, exist_ok=True)
    found = _measured(KINDS, n_draws, work, partial(_measure, data=data))
    answers = _measured(FAMILIES, N_ANSWERS, work / "answers", partial(_answer, data=data))
    means = {
        kind: {name: _mean([each[name] for each in tasks]) for name in (*LINEAR, *NONLINEAR)}
        for kind, tasks in found.items()
    }
    chosen = {kind: _left_out(means, kind, LINEAR) for kind in KINDS}
    beyond = {kind: _left_out(means, kind, NONLINEAR) for kind in KINDS}
    gains = [float(np.nanmean(np.log(beyond[kind][1]) - np.log(chosen[kind][1]))) for kind in KINDS]
    write_page(
        out / "chains.md",
        n_chains=sum(SEPARATOR in name for name, _ in chosen.values()),
        n_draws=n_draws,
        kinds=KINDS,
        candidates=LINEAR,
        means=means,
        chosen=chosen,
        nonlinear=NONLINEAR,
        beyond=beyond,
        gains=gains,
        shots=SHOTS,
        n_answers=N_ANSWERS,
        labels=LABELS,
        answers={name: _by_family(answers, name) for name in ANSWERED},
        least=LEAST_GAIN,
    )


def _measured(
    kinds: Sequence[str] | dict[str, Any],
    n_draws: int,
    work: Path,
    measure: Callable[[str, int], Measured],
) -> dict[str, list[Measured]]:
    """Return the measurements of each draw of each kind; those in the working folder are reused."""
    work.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[Measured]] = {kind: [] for kind in kinds}
    with progress_bar(len(found) * n_draws, "measuring", shown=True) as advance:
        for number in range(n_draws):
            for kind, tasks in found.items():
                path = work / f"{kind} {number}.json".replace(" > ", "-to-").replace(" ", "-")
                if not path.exists():
                    part = path.with_suffix(".part")
                    part.write_text(json.dumps(measure(kind, number)))
                    part.replace(path)
                tasks.append(json.loads(path.read_text()))
                advance(kind)
    return found


def _answer(family: str, number: int, data: Path) -> Measured:
    """Return accuracies of the classifiers that `predict` averages, by features and number of labels."""
    kinds = FAMILIES[family]
    found: Measured = {}
    for shots in LABELS:
        drawn = draw_task(kinds[number % len(kinds)], number, SETTINGS[shots], data)
        source, target, labelled, tested = drawn
        known, X, codes = KnownClasses([source]), np.asarray(target.X), target.codes
        W = fit_candidates(
            {ONE_LEVEL: algorithms.make(ONE_LEVEL)}, DomainPair(source, Domain(X)), known, 0
        )[0][ONE_LEVEL]
        for name, Z in {ONE_LEVEL: X @ W, **nonlinear_features(Domain(X), known)}.items():
            rows = FeatureMap.of(Z, None, unit=True)(Z)
            task = TrainingSet(rows, labelled, codes[labelled], len(target.classes))
            P = sum(
                softmax(fit_head(each, task).scores(rows[tested]), axis=1) for each in IN_EVERY_VIEW
            )
            right = float(np.mean(np.argmax(P, axis=1) == codes[tested]))
            found.setdefault(name, []).append(right)
    return found


def _measure(kind: str, number: int, data: Path) -> Measured:
    drawn = draw(kind, "true", number, data, n_targets=1)
    target = _smaller(drawn.targets[0])
    known = KnownClasses([drawn.source]).without(target)
    made = {
        name: Chain.of(name) if SEPARATOR in name else algorithms.make(name) for name in CANDIDATES
    }
    pair = DomainPair(drawn.source, Domain(target.X))
    factors, failed = fit_candidates(made, pair, known, 0)
    before = _accuracies(target.X, target)
    found = {
        name: np.log(_accuracies(target.X @ W, target) / before) for name, W in factors.items()
    }
    for name, Z in nonlinear_features(target, known).items():
        found[name] = np.log(_accuracies(Z, target) / before)
    # A candidate that cannot be fitted is not used: the features stay as they are.
    found |= {name: np.zeros(len(SHOTS)) for name in failed}
    return {name: values.tolist() for name, values in found.items()}


def _by_family(answers: dict[str, list[Measured]], name: str) -> dict[str, list[float]]:
    """Return mean accuracies of some features by family, and the mean of all families."""
    found = {
        family: np.mean([task[name] for task in tasks], axis=0).tolist()
        for family, tasks in answers.items()
    }
    return {**found, "mean": np.mean(list(found.values()), axis=0).tolist()}


def _smaller(target: Domain) -> Domain:
    rows = [np.flatnonzero(target.codes == code)[:MOST_ROWS] for code in range(MOST_CLASSES)]
    return target.take(np.concatenate(rows))


def _accuracies(Z: AnyArray, target: Domain) -> AnyArray:
    """Return the accuracy of 1-NN for each number of labels per class, NaN for too few rows."""
    counts = [shots * len(target.classes) for shots in SHOTS]
    found = evaluate(Z, target.codes, label_counts=counts, n_draws=N_DRAWS)
    scores = dict(zip(found.label_counts, found.mean.tolist(), strict=True))
    return np.array([scores.get(count, np.nan) for count in counts])


def _mean(logs: list[list[float]]) -> list[float]:
    """Return the geometric mean for each number of labels, NaN where no draw has enough rows."""
    columns = [[value for value in each if np.isfinite(value)] for each in zip(*logs, strict=True)]
    return [float(np.exp(np.mean(each))) if each else float("nan") for each in columns]


def _left_out(
    means: dict[str, dict[str, list[float]]], kind: str, candidates: Sequence[str]
) -> tuple[str, list[float]]:
    """Return the candidate that is best on the other kinds, and its ratio on this one."""
    others = [each for each in KINDS if each != kind]

    def elsewhere(name: str) -> float:
        return float(np.nanmean([np.log(means[other][name]) for other in others]))

    best = max(candidates, key=elsewhere)
    return best, means[kind][best]
