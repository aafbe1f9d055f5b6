"""Small tasks whose answers are pinned while the code that decides is rebuilt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import GaussianNB

import l2t
from l2t.domains import Domain, DomainPair, KnownClasses, digits, mnist, normalize

#: At most this many rows of a target are compared one by one.
SHOWN = 60


def classes_of(domain: Domain, classes: range, per_class: int, first: int = 0) -> Domain:
    """Return some rows of some classes."""
    rows = [np.flatnonzero(domain.codes == code)[first : first + per_class] for code in classes]
    return domain.take(np.concatenate(rows))


def with_labels(domain: Domain, per_class: int, **more: Any) -> Domain:
    """Return the domain with the first rows of each class labelled."""
    labeled = np.zeros(len(domain), dtype=bool)
    for code in np.unique(domain.codes):
        labeled[np.flatnonzero(domain.codes == code)[:per_class]] = True
    return Domain(domain.X, domain.y, labeled=labeled, name=domain.name, **more)


def other_classes(per_class: int, labels: int, **more: Any) -> tuple[Domain, Domain]:
    """Return digits 0 to 5 of the scans, and 6 to 9 of the handwriting."""
    source, target = normalize(digits()), normalize(mnist())
    return (
        classes_of(source, range(6), 60),
        with_labels(classes_of(target, range(6, 10), per_class), labels, **more),
    )


def same_classes(labels: int) -> tuple[Domain, Domain]:
    """Return five digits of the scans, and the same of the handwriting."""
    source, target = normalize(digits()), normalize(mnist())
    return (
        classes_of(source, range(5), 50),
        with_labels(classes_of(target, range(5), 40), labels),
    )


def table(labels: int, *, shared: bool) -> tuple[Domain, Domain]:
    """Return a table of eight columns of very different scales."""
    rng = np.random.default_rng(5)
    scales, means = 10.0 ** np.arange(-1, 7), rng.normal(size=(8, 8))
    codes = [np.arange(240) % 4, np.arange(120) % 4 + (0 if shared else 4)]
    source, target = (
        Domain((means[code] + 0.7 * rng.normal(size=(len(code), 8))) * scales, code)
        for code in codes
    )
    return source, with_labels(target, labels)


def text(labels: int, *, shared: bool) -> tuple[Domain, Domain]:
    """Return sparse rows of 6,000 words."""
    rng = np.random.default_rng(6)

    def words(codes: np.ndarray) -> sparse.csr_array:
        columns = np.hstack(
            [
                (311 * codes[:, None] + rng.integers(0, 90, (len(codes), 8))) % 6000,
                rng.integers(0, 6000, (len(codes), 12)),
            ]
        )
        places = np.repeat(np.arange(len(codes)), columns.shape[1]), columns.ravel()
        return sparse.csr_array((np.ones(columns.size), places), shape=(len(codes), 6000))

    codes = np.arange(150) % 5, np.arange(90) % 3 + (0 if shared else 5)
    source, target = (Domain(words(code), code) for code in codes)
    return source, with_labels(target, labels)


def many_rows() -> tuple[Domain, Domain]:
    """Return a target of more rows than are fitted to."""
    rng = np.random.default_rng(7)
    means = 1.5 * rng.normal(size=(8, 6))
    codes = np.arange(300) % 5, np.arange(20_500) % 3 + 5
    source, target = (Domain(means[code] + rng.normal(size=(len(code), 6)), code) for code in codes)
    return source, with_labels(target, 4)


def hand_written() -> l2t.ReflectionFunction:
    """Return a reflection function of three kernels."""
    beta = np.zeros(33)
    beta[[8, 16, 24]] = 1 / 3
    return l2t.ReflectionFunction(beta=beta, lambda_=0.1, mu=0.5, b=0.3)


def predicted(source: Any, target: Domain, **options: Any) -> dict[str, Any]:
    """Return the answer of `predict`."""
    prediction = l2t.predict(source, target, **options)
    used = prediction.report.rows[0] if prediction.report.rows else None
    return {
        "labels": prediction.labels[:SHOWN].tolist(),
        "probability": prediction.probability[:SHOWN].tolist(),
        "accuracy": float(np.mean(prediction.labels == target.y)),
        "choice": prediction.choice,
        "classifier": prediction.classifier,
        "expected": None if used is None else used.expected,
        "model": prediction.model.predict_proba(target.rows[:5]).tolist(),
    }


def inferred(pair: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
    """Return the answer of `infer`."""
    inference = l2t.infer(pair, *arguments, **options)
    return {
        "choice": inference.choice,
        "predicted": inference.predicted,
        "interval": inference.interval,
        "ratios": {name: candidate.predicted for name, candidate in inference.candidates.items()},
        "rehearsed": {
            name: candidate.rehearsed for name, candidate in inference.candidates.items()
        },
    }


def ranked() -> list[list[Any]]:
    """Return three sources in their order."""
    source, target = other_classes(30, 3)
    noise = Domain(np.random.default_rng(8).normal(size=(120, 64)), np.arange(120) % 4)
    scans = classes_of(normalize(digits()), range(6, 10), 40)
    ranking = l2t.rank_sources(target, [noise, source, scans])
    return [[entry.index, entry.predicted, entry.adds] for entry in ranking]


def estimator() -> dict[str, Any]:
    """Return the answer of the classifier for scikit-learn."""
    source, target = other_classes(30, 4)
    labels = np.where(target.labeled_rows(default=False), target.y, -1)
    X, y = np.concatenate([source.X, target.X]), np.concatenate([source.y, labels])
    sample_domain = np.repeat([1, -2], [len(source), len(target)])
    classifier = l2t.L2TClassifier().fit(X, y, sample_domain=sample_domain)
    return {
        "labels": classifier.predict(target.X)[:SHOWN].tolist(),
        "probability": classifier.predict_proba(target.X).max(axis=1)[:SHOWN].tolist(),
    }


def several(*, shared: bool) -> dict[str, Any]:
    """Return the answer for two sources and noise."""
    source, target = same_classes(2) if shared else other_classes(30, 4)
    halves = source.take(np.arange(0, len(source), 2)), source.take(np.arange(1, len(source), 2))
    noise = Domain(np.random.default_rng(9).normal(size=(100, 64)), np.arange(100) % 5)
    return predicted([*halves, noise], target)


def grouped() -> dict[str, Any]:
    """Return the answer for rows in groups of three."""
    source, target = other_classes(30, 6)
    groups = np.arange(len(target)) // 3
    return predicted(source, Domain(target.X, target.y, labeled=target.labeled, groups=groups))


CASES: dict[str, Callable[[], Any]] = {
    "predict, one label per class": lambda: predicted(*other_classes(30, 1)),
    "predict, five labels per class": lambda: predicted(*other_classes(40, 5)),
    "predict, twenty labels per class": lambda: predicted(*other_classes(60, 20)),
    "predict, no source": lambda: predicted([], other_classes(30, 4)[1]),
    "predict, balanced": lambda: predicted(*other_classes(30, 2), balanced=True),
    "predict, nearest centroid": lambda: predicted(
        *other_classes(30, 4), classifier="nearest centroid"
    ),
    "predict, own classifier": lambda: predicted(*other_classes(30, 4), classifier=GaussianNB()),
    "predict, past classes": lambda: predicted(
        *other_classes(30, 4), known=KnownClasses([classes_of(normalize(mnist()), range(6), 40)])
    ),
    "predict, groups": grouped,
    "predict, several sources": lambda: several(shared=False),
    "predict, more than 20,000 rows": lambda: predicted(*many_rows()),
    "predict, table, other classes": lambda: predicted(*table(5, shared=False)),
    "predict, table, shared classes": lambda: predicted(*table(5, shared=True)),
    "predict, sparse text, other classes": lambda: predicted(*text(6, shared=False)),
    "predict, sparse text, shared classes": lambda: predicted(*text(6, shared=True)),
    "predict, shared classes, no labels": lambda: predicted(*same_classes(0)),
    "predict, shared classes, three labels": lambda: predicted(*same_classes(3)),
    "predict, shared classes, several sources": lambda: several(shared=True),
    "estimator": estimator,
    "infer, no labels": lambda: inferred(
        DomainPair(other_classes(30, 1)[0], Domain(other_classes(30, 1)[1].X)), n_classes=4
    ),
    "infer, five labels per class": lambda: inferred(DomainPair(*other_classes(30, 5))),
    "infer, named candidates": lambda: inferred(
        DomainPair(*other_classes(30, 3)), candidates=("gfk", "tca", "coral")
    ),
    "infer, sparse text": lambda: inferred(DomainPair(*text(4, shared=False))),
    "infer, shared classes": lambda: inferred(DomainPair(*same_classes(3))),
    "infer, paper": lambda: inferred(DomainPair(*other_classes(30, 4)), method="paper"),
    "infer, written by hand": lambda: inferred(DomainPair(*other_classes(20, 4)), hand_written()),
    "rank_sources": ranked,
}
