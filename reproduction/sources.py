"""Ranking of sources, many classes, the paper's pairs: small studies with `infer` and `rank_sources`.

Each draw is kept as a JSON file in a working folder, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from l2t import infer, rank_sources
from l2t.domains import Domain, DomainPair, KnownClasses, PairSampler
from l2t.experiences import evaluate
from l2t.statistics import KernelBank, pair_statistics
from reproduction.controls import (
    Rule,
    by_kind,
    by_known_classes,
    by_size,
    goals,
    measure_controls,
)
from reproduction.kinds import KINDS, _source, _split, _target, read_scaled
from reproduction.tasks import CANDIDATES, Task
from reproduction.transfer_study import measure_transfer

__all__ = ["draw_classes", "ranking_table", "source_tables"]

#: Draws of the controls, nine targets each, and of the smaller studies; pairs of the paper's kind.
N_CONTROLS, N_RANKED, N_MANY, N_PAIRS = 4, 3, 8, 10
RANKED = ("sketch > sketch", "clinc150 > clinc150", "characters", "letters")
#: Base algorithms that were best on photo > sketch at some label count.
BASE = ("cmf", "lsdt", "gfk", "sie")
COUNTS = (3, 15, 30, 60, 120)
N_DRAWS = 8

Record = dict[str, Any]


def source_tables(
    tasks: list[Task], rules: dict[str, Rule], data: Path, work: Path, n_jobs: int
) -> dict[str, Any]:
    """Return the tables on sources for the page on rehearsal; results in the working folder are reused."""
    controls = measure_controls(KINDS, N_CONTROLS, data, work, n_jobs=n_jobs)
    targets = measure_ranking(data, work, N_RANKED)
    many = measure_many_classes(data, work, N_MANY)
    chosen = [each["accuracies"][each["choice"]] for each in many]
    return {
        "goals": goals(tasks, controls, rules),
        "known": by_known_classes(tasks, rules),
        "sizes": by_size(controls, rules),
        "control_kinds": by_kind(controls, rules),
        "ranking": {
            shots: ranking_table([each for each in targets if each[0]["shots"] == shots])
            for shots in (1, 5)
        },
        "n_ranked": len(targets) // 2,
        "many": {
            name: float(np.mean([each["accuracies"][name] for each in many]))
            for name in ("identity", *CANDIDATES)
        },
        "many_chosen": float(np.mean(chosen)),
        "many_error": float(np.std(chosen, ddof=1) / np.sqrt(len(chosen))),
        "n_many": len(many),
        "paper": measure_paper_pairs(data, work, N_PAIRS),
        "n_pairs": N_PAIRS,
        "counts": COUNTS,
    }


def draw_classes(
    kind: str,
    n_classes: int,
    rows_per_class: int,
    data: Path,
    rng: np.random.Generator,
    *,
    everything: bool = False,
) -> tuple[Domain, Domain]:
    """Return a target of random classes, and a source of the classes that no target has.

    With `everything` it has all other classes.
    """
    made = KINDS[kind]
    source, target = read_scaled(data, made.source), read_scaled(data, made.target)
    ours, theirs = _split(source, target, rng)
    chosen = rng.permutation(theirs)[:n_classes]
    if everything:
        ours = np.setdiff1d(np.arange(len(source.classes)), chosen)
    return _target(target, chosen, rows_per_class, "true", rng), _source(source, ours, "true", rng)


def _kept(path: Path, measure: Callable[[], Any]) -> Any:
    """Return the content of a file, which is measured first if there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(measure()))
        part.replace(path)
    return json.loads(path.read_text())


def measure_ranking(data: Path, work: Path, n_draws: int) -> list[list[Record]]:
    """Return five sources for each target, one of them noise and one with permuted labels."""
    return [
        target
        for number in range(n_draws)
        for kind in RANKED
        for target in _kept(
            work / f"ranking-{kind.split()[0]}-{number}.json",
            partial(_ranked, kind, number, data),
        )
    ]


def _ranked(kind: str, number: int, data: Path) -> list[list[Record]]:
    """Return the records of the five sources, at one and at five labels per class."""
    rng = np.random.default_rng([3, number])
    target, pool = draw_classes(kind, 5, 40, data, rng)
    n_known = len(pool.classes)
    many, some, few = (
        pool.take(np.isin(pool.codes, rng.permutation(n_known)[:n])) for n in (n_known, 8, 3)
    )
    noise = many.X.mean(axis=0) + many.X.std(axis=0) * rng.normal(size=many.X.shape)
    sources = {
        "all classes": many,
        "8 classes": some,
        "3 classes": few,
        "noise": Domain(noise.astype(np.float32), many.codes),
        "permuted labels": Domain(many.X, rng.permutation(many.codes)),
    }
    named = [Domain(each.X, each.y, name=name) for name, each in sources.items()]
    bare, found = Domain(target.X), []
    for shots in (1, 5):
        records = []
        for ranked in rank_sources(bare, named, n_labels=5 * shots, n_classes=5):
            pair = DomainPair(ranked.source, bare)
            statistics = pair_statistics(pair, np.eye(pair.n_features), kernels=KernelBank(0, 0, 1))
            records.append(
                {
                    "kind": kind,
                    "source": ranked.source.name,
                    "shots": shots,
                    "n_classes": len(ranked.source.classes),
                    "mmd": float(statistics.d[0]),
                    "adds": ranked.adds,
                    "predicted": ranked.predicted,
                    "choice": ranked.inference.choice,
                    "real": _accuracy(ranked.inference.transform(target), target, 5 * shots)
                    / _accuracy(target.X, target, 5 * shots),
                }
            )
        found.append(records)
    return found


def _accuracy(Z: Any, target: Domain, count: int) -> float:
    return float(evaluate(Z, target.codes, label_counts=(count,), n_draws=N_DRAWS).mean[0])


def ranking_table(targets: list[list[Record]]) -> list[tuple[str, float, float, float]]:
    """Return for each rule the mean ratio of its first source, how often that is useless, and the order.

    The order is Spearman's correlation with the real ratios, in the mean over targets. Sources that a rule
    cannot tell apart share the first place.
    """
    rules: dict[str, Callable[[Record], float]] = {
        "what each adds (rank_sources)": lambda each: each["adds"],
        "predicted ratio": lambda each: each["predicted"],
        "plain MMD, smallest first": lambda each: -each["mmd"],
        "number of classes": lambda each: each["n_classes"],
        "real ratio, in hindsight": lambda each: each["real"],
    }
    table = []
    for name, score in rules.items():
        ratios, useless, orders = [], [], []
        for records in targets:
            scores = np.array([score(each) for each in records])
            first = np.flatnonzero(scores == scores.max())
            ratios.append(np.mean([np.log(records[i]["real"]) for i in first]))
            useless.append(
                np.mean([records[i]["source"] in ("noise", "permuted labels") for i in first])
            )
            if np.ptp(scores) > 0 and np.ptp([each["real"] for each in records]) > 0:
                orders.append(spearmanr(scores, [each["real"] for each in records]).statistic)
        table.append(
            (name, float(np.exp(np.mean(ratios))), float(np.mean(useless)), float(np.mean(orders)))
        )
    return table


def measure_many_classes(data: Path, work: Path, n_draws: int) -> list[Record]:
    """Return accuracies on 20 sketch classes at one label each, all other sketches being known."""
    return [
        _kept(work / f"many-classes-{number}.json", partial(_many, number, data))
        for number in range(n_draws)
    ]


def _many(number: int, data: Path) -> Record:
    target, pool = draw_classes(
        "sketch > sketch", 20, 60, data, np.random.default_rng([4, number]), everything=True
    )
    found = infer(DomainPair(pool, Domain(target.X)), n_labels=20, n_classes=20)
    accuracies = {
        name: _accuracy(target.X @ each.W, target, 20) for name, each in found.candidates.items()
    }
    return {"choice": found.choice, "known_classes": len(pool.classes), "accuracies": accuracies}


def measure_paper_pairs(data: Path, work: Path, n_pairs: int) -> Record:
    """Return mean ratios on photo > sketch with three classes each, with past targets and without.

    Past targets are sketches of the even classes, testing targets of the odd ones.
    """
    return dict(_kept(work / f"paper-pairs-{n_pairs}.json", partial(_paper_pairs, data, n_pairs)))


def _paper_pairs(data: Path, n_pairs: int) -> Record:
    photo, sketch = (read_scaled(data, f"photo-sketch/{name}.npz") for name in ("photo", "sketch"))
    even = sketch.codes % 2 == 0
    past = PairSampler(photo, sketch.take(even), 20, random_state=1)
    known = KnownClasses([pair.target for pair in past])
    pairs = list(PairSampler(photo, sketch.take(~even), n_pairs, random_state=2))
    options: Record = {"label_counts": COUNTS, "n_draws": N_DRAWS, "progress": False}
    without = measure_transfer(pairs, names=BASE, **options)
    with_past = measure_transfer(pairs, names=(), known=known, **options)
    base = without.mean(without.base)
    return {
        "base": dict(zip(BASE, base.tolist(), strict=True)),
        "best base": base.max(axis=0).tolist(),
        "L2T": without.mean(without.l2t).tolist(),
        "error": without.standard_error(without.l2t).tolist(),
        "L2T with the past": with_past.mean(with_past.l2t).tolist(),
    }
