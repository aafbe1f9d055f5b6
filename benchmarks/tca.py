"""TCA against skada and ADAPT."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.data import feature_pair
from benchmarks.timing import best_of, table
from l2t import DomainPair
from l2t.algorithms import TCA

NS = NT = 300
FEATURES = 4096
COMPONENTS = 20


def run() -> str:
    sections = []
    for decay, what in ((0.5, "falling spectrum"), (0.0, "white noise")):
        pair = feature_pair(NS, NT, FEATURES, decay=decay)
        rows = [(name, *measure(pair)) for name, measure in METHODS.items()]
        fastest = min(seconds for name, seconds, _ in rows if name != "l2t" and seconds is not None)
        cells = [
            (name, "not installed", "", "", "")
            if seconds is None
            else (
                name,
                f"{1e3 * seconds:.0f}",
                f"{seconds / rows[0][1]:.1f}",
                f"{residual[0]:.0e}",
                f"{residual.max():.0e}",
            )
            for name, seconds, residual in rows
        ]
        columns = (what, "fit, ms", "times l2t's", "residual, first", "residual, worst")
        sections.append(table(columns, cells))
        sections.append(f"l2t is **{fastest / rows[0][1]:.1f} times** faster than the faster peer.")
    return (
        f"## TCA, {NS} + {NT} rows, {FEATURES} features, {COMPONENTS} components, linear kernel\n\n"
        "The residual is `|K H K v - lambda (K L K + mu I) v| / |K H K v|` for the best lambda, of the "
        "first component and of the worst (mu = 1). The Gram matrix alone, which everyone needs, takes "
        f"{1e3 * _gram_seconds():.0f} ms.\n\n" + "\n\n".join(sections)
    )


def _gram_seconds() -> float:
    pair = feature_pair(NS, NT, FEATURES)
    X = np.concatenate([pair.source.X, pair.target.X])
    return best_of(lambda: X @ X.T)[0]


def _l2t(pair: DomainPair) -> tuple[float, np.ndarray]:
    seconds, factors = best_of(lambda: TCA(n_components=COMPONENTS).fit(pair))
    X = np.concatenate([pair.source.X, pair.target.X])
    return seconds, _residual(X - X.mean(axis=0), factors.parts["V"])


def _skada(pair: DomainPair) -> tuple[float | None, np.ndarray]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from skada import TransferComponentAnalysisAdapter
    except ImportError:
        return None, np.empty(0)
    X = np.concatenate([pair.source.X, pair.target.X])
    domain = np.r_[np.ones(NS), -np.ones(NT)]

    def fit() -> TransferComponentAnalysisAdapter:
        adapter = TransferComponentAnalysisAdapter(kernel="linear", n_components=COMPONENTS, mu=1.0)
        return adapter.fit(X, sample_domain=domain)

    seconds, fitted = best_of(fit)
    return seconds, _residual(X, fitted.eigvects_[:, :COMPONENTS])


def _adapt(pair: DomainPair) -> tuple[float | None, np.ndarray]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from adapt.feature_based import TCA as AdaptTCA
    except ImportError:
        return None, np.empty(0)
    Xs, Xt = pair.source.X, pair.target.X

    def fit() -> AdaptTCA:
        model = AdaptTCA(
            n_components=COMPONENTS, kernel="linear", mu=1.0, verbose=0, random_state=0
        )
        model.fit_transform(Xs, Xt)
        return model

    seconds, fitted = best_of(fit)
    return seconds, _residual(np.concatenate([Xs, Xt]), fitted.vectors_[:, :COMPONENTS])


def _residual(X: np.ndarray, V: np.ndarray, mu: float = 1.0) -> np.ndarray:
    """Return the relative eigen-residual of each column of V, in the kernel of X."""
    K = X @ X.T
    V = np.real(V)
    image = K @ (K @ V - (K @ V).mean(axis=0))
    a = K @ np.r_[np.full(NS, 1 / NS), np.full(NT, -1 / NT)]
    metric = mu * V + np.outer(a, a @ V)
    values = np.sum(metric * image, axis=0) / np.sum(metric**2, axis=0)  # the best lambda for each
    return np.linalg.norm(image - metric * values, axis=0) / np.linalg.norm(image, axis=0)


METHODS: dict[str, Callable[[DomainPair], tuple[float | None, np.ndarray]]] = {
    "l2t": _l2t,
    "skada 0.6": _skada,
    "ADAPT 0.4.5": _adapt,
}
