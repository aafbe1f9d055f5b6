"""Shared classes: every candidate with every classifier, L2T's vote, and a few target labels.

One JSON file per task is kept in a working folder, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from l2t import infer
from l2t.classifiers.cross_domain import make_classifier
from l2t.domains import Domain
from l2t.inference.shared import Combination, SharedInference, infer_shared
from l2t.inference.shared.inference import LEAST_NEIGHBOUR_SKILL, SHARED_CANDIDATES, vote_weights
from l2t.inference.shared.rows import SharedRows, smoothness
from l2t.inference.shared.voting import Decision, distill, vote
from l2t.numerics import squared_distances
from l2t.prediction.trials import draw_labelled
from l2t.progress import progress_bar
from l2t.task import ClassRoles
from l2t.typing import AnyArray, Array
from reproduction.controls import CONTROLS, draw_controls
from reproduction.office_caltech import PUBLISHED
from reproduction.pages import write_page
from reproduction.shared_tasks import (
    BENCHMARKS,
    DEVELOPMENT,
    MOST_ROWS,
    SharedTask,
    SourceGroup,
    _some,
    several_sources,
    shared_tasks,
)

__all__ = ["write_shared"]

#: What is measured; in L2T the last two vote.
CLASSIFIERS = ("1-nn", "logistic", "manifold")
#: Labels per class of the target.
SHOTS = (0, 1, 3, 10)
#: Tasks of each benchmark that are measured with target labels.
N_CURVES = 2
#: Candidates where there are target labels or several sources.
FEW = ("means", "gfk")
#: Sources and targets with other classes, for a source too many.
OTHER_KINDS = ("letters", "characters", "sketch > sketch")
#: What else a combination could be chosen by.
RULES = ("smoothness", "reverse", "held-out", "agreement", "balance")

Measured = dict[str, Any]
UNTRUSTING = "L2T, neighbours always trusted"
#: Published accuracies on SURF: JDA (Long et al. 2013), MEDA (Wang et al. 2018).
JDA_MEDA = {
    "C->A": (44.78, 56.5), "C->W": (41.69, 53.9), "C->D": (45.22, 50.3), "A->C": (39.36, 43.9),
    "A->W": (37.97, 53.2), "A->D": (39.49, 45.9), "W->C": (31.17, 34.0), "W->A": (32.78, 42.7),
    "W->D": (89.17, 88.5), "D->C": (31.52, 34.9), "D->A": (33.09, 41.2), "D->W": (89.49, 87.5),
}  # fmt: skip
#: The name of the file, what measures, and the task.
Job = tuple[str, Callable[[Any], Measured], Any]


def write_shared(data: Path, out: Path, work: Path) -> None:
    """Measure all tasks that are not measured yet, and write the page."""
    work.mkdir(parents=True, exist_ok=True)
    jobs: list[Job] = [
        (f"{kind} {task.name}", _zero_labels, task)
        for kind in (*BENCHMARKS, *DEVELOPMENT)
        for task in shared_tasks(kind, data)
    ]
    found = _run(jobs, work)
    several = _run(
        [
            (f"sources {group.kind} {i}", _several, group)
            for i, group in enumerate(several_sources(data))
        ],
        work,
    )
    curves = _run(
        [
            (f"{kind} {task.name} labels", _curve, task)
            for kind in sorted(BENCHMARKS, key=lambda kind: kind == "amazon-reviews")  # slow: last
            for task in list(shared_tasks(kind, data))[:: _stride(kind)][:N_CURVES]
        ],
        work,
    )
    names = [f"{a} | {b}" for a in SHARED_CANDIDATES for b in CLASSIFIERS]
    table, means = _table(found, names, BENCHMARKS), _mean_curves(curves)
    write_page(
        out / "shared-classes.md",
        kinds=BENCHMARKS,
        table=table,
        gaps=[ours - best for ours, best in zip(table[-3][1:], table[-4][1:], strict=True)],
        clean_gaps=[ours - best for ours, best in zip(table[-2][1:], table[-4][1:], strict=True)],
        development=_table(found, names, DEVELOPMENT),
        rules=_rules(found),
        counts={kind: sum(each["benchmark"] == kind for each in found) for kind in BENCHMARKS},
        development_kinds=DEVELOPMENT,
        surf=_surf(found),
        rows=MOST_ROWS,
        least_trust=LEAST_NEIGHBOUR_SKILL,
        n_curves=N_CURVES,
        curves=means,
        lowest=min(
            ours - alone
            for own, other in zip(means[::2], means[1::2], strict=True)
            for ours, alone in zip(own[3:], other[3:], strict=True)
        ),
        several=several,
        others=_run(
            [(f"other {kind}", partial(_other_classes, data=data), kind) for kind in OTHER_KINDS],
            work,
        ),
        shots=SHOTS,
    )


def _stride(kind: str) -> int:
    """Return the step between tasks that are measured with labels, chosen so that sources differ."""
    return {"usps-mnist": 1, "office-caltech-googlenet": 2}.get(kind, 3)


def _run(jobs: list[Job], work: Path) -> list[Measured]:
    found = []
    with progress_bar(len(jobs), "measuring", shown=True) as advance:
        for name, measure, task in jobs:
            path = work / f"{name.replace(' > ', '-to-').replace(' ', '-')}.json"
            if not path.exists():
                part = path.with_suffix(".part")
                part.write_text(json.dumps(measure(task)))
                part.replace(path)
            found.append(json.loads(path.read_text()))
            advance(name)
    return found


def _zero_labels(task: SharedTask) -> Measured:
    """Return the accuracy of each combination without a target label, and its scores."""
    parts = SharedRows.of(Domain(task.target.X), [task.source], 0)
    truth = _codes(task)[parts.target_rows]
    spaces, _ = parts.spaces(SHARED_CANDIDATES)
    found, extra = {}, {}
    for name, space in spaces.items():
        for kind in CLASSIFIERS:
            key, P = f"{name} | {kind}", parts.predict(kind, space)
            found[key] = P
            extra[key] = {
                "reverse": _reverse(parts, space.rows, P.argmax(axis=1)),
                "held-out": parts.held_out("logistic" if kind == "logistic" else "1-nn", space),
            }
    record = {"benchmark": task.benchmark, "task": task.name, "trust": parts.neighbour_skill}
    return record | measure(parts, found, extra, truth, parts.neighbour_skill)


def measure(
    parts: SharedRows,
    found: dict[str, Array],
    extra: dict[str, Measured],
    truth: AnyArray,
    trust: float,
) -> Measured:
    """Return the accuracies of combinations, of their votes, and of the classifier trained on the vote."""
    predicted = {name: P.argmax(axis=1) for name, P in found.items()}
    every = np.stack(list(predicted.values()))
    rows = {
        name: {
            "accuracy": float(np.mean(own == truth)),
            "smoothness": smoothness(parts.neighbors, own),
            "balance": _entropy(own),
            "agreement": float(np.mean(every == own)),
        }
        | extra[name]
        for name, own in predicted.items()
    }
    trusted = CLASSIFIERS[1:] if trust >= LEAST_NEIGHBOUR_SKILL else CLASSIFIERS[1:2]
    members = [_combination(parts, name, rows[name]["smoothness"], P) for name, P in found.items()]
    some, both = (
        vote_weights([each for each in members if each.classifier in kinds])
        for kinds in (trusted, CLASSIFIERS[1:])
    )
    first, *others = sorted(some, key=lambda each: -each.weight)
    equal = [replace(each, weight=1.0) for each in (first, *others)]
    votes = {
        "the smoothest alone": [first],
        "the smoothest three, equally": equal[:3],
        "all, equally": equal,
        "all, weighted": some,
    }
    right = {
        rule: float(np.mean(vote(each).argmax(axis=1) == truth)) for rule, each in votes.items()
    }
    right |= {"L2T": _taught(parts, some, truth), UNTRUSTING: _taught(parts, both, truth)}
    lead = f"{first.candidate}, {first.classifier} {100 * first.weight:.0f} %"
    return {"rows": rows, "votes": right, "lead": lead}


def _combination(parts: SharedRows, name: str, smooth: float, P: Array) -> Combination:
    candidate, classifier = name.split(" | ")
    return Combination(candidate, classifier, smooth, P, parts, parts.plain)


def _taught(parts: SharedRows, members: list[Combination], truth: AnyArray) -> float:
    """Return the accuracy of the classifier trained on the vote."""
    answers = vote(members).argmax(axis=1)
    found = distill(parts, Decision("source", 1.0, answers, {}))
    codes = np.array([parts.classes.index(name) for name in found.classes])
    scores = parts.plain.rows[~parts.source] @ found.coef + found.intercept
    return float(np.mean(codes[scores.argmax(axis=1)] == truth))


def _codes(task: SharedTask) -> AnyArray:
    """Return the target's labels as positions in the source's classes; -1 for others."""
    names = ClassRoles.of([task.source], Domain(task.target.X)).source_only
    place = {name: code for code, name in enumerate(names)}
    return np.array([place.get(task.target.classes[code], -1) for code in task.target.codes])


def _reverse(parts: SharedRows, Z: Array, predicted: AnyArray) -> float:
    """Return the accuracy on the source of 1-NN trained on the target's predicted classes."""
    source = parts.source
    model = make_classifier("1-nn").fit(
        Z[~source], predicted, np.zeros(len(predicted), bool), np.ones(len(predicted))
    )
    return float(np.mean(model.predict_proba(Z[source]).argmax(axis=1) == parts.codes[source]))


def _entropy(predicted: AnyArray) -> float:
    shares = np.bincount(predicted) / len(predicted)
    return float(-np.sum(shares * np.log(np.maximum(shares, 1e-12))))


def _curve(task: SharedTask) -> Measured:
    """Return accuracies on the rows left, with 0, 1, 3 and 10 target labels per class."""
    source, target = (_some(each, 0, MOST_ROWS["benchmark"]) for each in (task.source, task.target))
    task = replace(task, source=source, target=target)
    codes, n = task.target.codes, len(task.target)
    order = np.random.default_rng(0).permutation(n)
    found: Measured = {
        "benchmark": task.benchmark,
        "task": task.name,
        "l2t": [],
        "target": [],
        "on": [],
    }
    for shots in SHOTS:
        few = np.zeros(n, dtype=bool)
        for code in np.unique(codes):
            few[order[codes[order] == code][:shots]] = True
        target = Domain(task.target.X, task.target.y, labeled=few)
        result = infer_shared(target, task.source, candidates=FEW)
        found["l2t"].append(_accuracy(result, task.target, ~few))
        found["target"].append(_target_only(task, few) if shots else float("nan"))
        found["on"].append(result.trained_on)
    return found


def _accuracy(result: SharedInference, target: Domain, rows: AnyArray) -> float:
    truth = np.array(target.classes)[target.codes]
    return float(np.mean(result.predict(target.X[rows]) == truth[rows]))


def _target_only(task: SharedTask, few: AnyArray) -> float:
    """Return the accuracy of logistic regression trained on the labelled target rows alone."""
    target = Domain(task.target.X, task.target.y, labeled=few)
    parts = SharedRows.of(target, [task.source], 0)
    codes = parts.codes[~parts.source]
    P = parts.predict("logistic", parts.plain, codes, source=False)
    place = {name: code for code, name in enumerate(parts.classes)}
    truth = [place.get(task.target.classes[code], -1) for code in task.target.codes]
    return float(np.mean((P.argmax(axis=1) == np.array(truth)[parts.target_rows])[codes < 0]))


def _several(group: SourceGroup) -> Measured:
    """Return accuracies from each source alone, from all, and from all with one of noise."""
    sources = {name: Domain(each.X, each.y, name=name) for name, each in group.sources.items()}
    first = next(iter(sources.values()))
    spread = np.random.default_rng(0).normal(size=first.X.shape) * first.X.std()
    noise = Domain(spread, first.y, name="noise")
    bare, rows = Domain(group.target.X), np.ones(len(group.target), dtype=bool)

    def accuracy(*some: Domain) -> tuple[float, list[str]]:
        found = infer_shared(bare, list(some), candidates=FEW)
        used = [
            f"{each.name} {weight:.2f}"
            for each, weight in zip(some, found.weights, strict=True)
            if weight
        ]
        return _accuracy(found, group.target, rows), used

    return {
        "kind": group.kind,
        "target": group.target.name,
        "single": {name: accuracy(each)[0] for name, each in sources.items()},
        "all": accuracy(*sources.values()),
        "noise": accuracy(*sources.values(), noise),
    }


def _other_classes(kind: str, data: Path) -> Measured:
    """Return accuracies with two sources of other classes than the target's, and with one of noise more."""
    drawn = draw_controls(kind, 0, data, n_targets=1)[-len(CONTROLS) :]
    sources = {each.mode: each.source for each in drawn}
    (target,), size = drawn[0].targets, drawn[0].n_classes
    true, codes = sources["true"], sources["true"].codes
    half = len(true.classes) // 2
    good = [true.take(codes < half), true.take(codes >= half)]
    found = {"kind": kind, "classes": size}
    for name, some in {"good": good, "noise": [*good, sources["noise"]]}.items():
        result = infer(Domain(target.X), sources=some, n_labels=5 * size, n_classes=size)
        splits = [draw_labelled(target.codes, 5, np.random.default_rng(draw)) for draw in range(10)]
        Z = result.transform(target.X)
        found[name] = [
            float(
                np.mean(
                    target.codes[at][squared_distances(Z[test], Z[at]).argmin(axis=1)]
                    == target.codes[test]
                )
            )
            for at, test in splits
        ]
    return found


def _best(task: Measured, rule: str, kinds: tuple[str, ...] = CLASSIFIERS) -> str:
    rows: dict[str, Measured] = task["rows"]
    names = [name for name in rows if name.endswith(kinds)]
    return max(names, key=lambda name: float(rows[name][rule]))


def _mean(tasks: list[Measured], kind: str, value: Callable[[Measured], float]) -> float:
    return 100 * float(np.mean([value(each) for each in tasks if each["benchmark"] == kind]))


def _table(tasks: list[Measured], names: list[str], kinds: tuple[str, ...]) -> list[list[Any]]:
    """Return a row of means per combination, then the choice and the best of each task."""

    def row(label: str, value: Callable[[Measured], float]) -> list[Any]:
        means = [_mean(tasks, kind, value) for kind in kinds]
        return [label.replace(" |", ","), *means, float(np.mean(means))]

    def accuracy_of(name: str) -> Callable[[Measured], float]:
        return lambda task: float(task["rows"][name]["accuracy"])

    singles = [row(name, accuracy_of(name)) for name in names]
    columns = zip(*(each[1:] for each in singles), strict=True)
    best = ["best single in each column", *(max(each) for each in columns)]
    return [
        *singles,
        best,
        row("**L2T**", partial(_voted, rule="L2T")),
        row("the same, neighbours always trusted", partial(_voted, rule=UNTRUSTING)),
        row("best of each task, in hindsight", lambda task: _chosen(task, "accuracy")),
    ]


def _chosen(task: Measured, rule: str) -> float:
    return float(task["rows"][_best(task, rule)]["accuracy"])


def _voted(task: Measured, rule: str) -> float:
    return float(task["votes"][rule])


def _surf(tasks: list[Measured]) -> list[Measured]:
    """Return published and measured accuracies for each task of SURF, and their means."""
    rows = []
    for task in tasks:
        name = task["task"].replace(" > ", "->")
        if task["benchmark"] != "office-caltech-surf":
            continue
        ours = [100 * task["rows"][each]["accuracy"] for each in
                ("gfk | 1-nn", "jda | 1-nn", "gfk | manifold")]  # fmt: skip
        published = [PUBLISHED[name][0], PUBLISHED[name][2], *JDA_MEDA[name]]
        values = [*published, *ours, 100 * task["votes"]["L2T"]]
        rows.append({"name": name, "accuracies": values, "choice": task["lead"]})
    mean = np.mean([row["accuracies"] for row in rows], axis=0).tolist()
    return [*rows, {"name": "**mean**", "accuracies": mean, "choice": ""}]


def _rules(tasks: list[Measured]) -> list[list[Any]]:
    """Return the mean accuracy of what each rule chooses, on development data and on the benchmarks."""
    values: dict[str, Callable[[Measured], float]] = {
        rule: partial(_chosen, rule=rule) for rule in RULES
    }
    for rule in tasks[0]["votes"]:
        values[rule if rule.startswith("L2T") else f"vote: {rule}"] = partial(_voted, rule=rule)
    return [
        [name, *(_over(tasks, kinds, value) for kinds in (DEVELOPMENT, BENCHMARKS))]
        for name, value in values.items()
    ]


def _over(
    tasks: list[Measured], kinds: tuple[str, ...], value: Callable[[Measured], float]
) -> float:
    return float(np.mean([_mean(tasks, kind, value) for kind in kinds]))


def _mean_curves(curves: list[Measured]) -> list[list[Any]]:
    return [
        [kind, method, *(100 * np.mean([c[key] for c in curves if c["benchmark"] == kind], axis=0))]
        for kind in BENCHMARKS
        for method, key in (("L2T", "l2t"), ("target alone", "target"))
    ]
