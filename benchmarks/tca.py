"""TCA against skada and ADAPT."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import feature_pair
from benchmarks.figures import Figure
from benchmarks.timing import best_of
from l2t import DomainPair
from l2t.algorithms import TCA

NS = NT = 300
FEATURES = 4096
COMPONENTS = 20


def run() -> dict[str, Any]:
    spectra, figures, gram = [], [], _gram_seconds()
    for decay, what in ((0.5, "falling spectrum"), (0.0, "white noise")):
        pair = feature_pair(NS, NT, FEATURES, decay=decay)
        measured = [(name, *measure(pair)) for name, measure in METHODS.items()]
        ours = measured[0][1]
        assert ours is not None  # it is ours
        peers = [seconds for _, seconds, _ in measured[1:] if seconds is not None]
        rows = [
            (name, "not installed", "", "", "")
            if seconds is None
            else (
                name,
                f"{1e3 * seconds:.0f}",
                f"{seconds / ours:.1f}",
                f"{residual[0]:.0e}",
                f"{residual.max():.0e}",
            )
            for name, seconds, residual in measured
        ]
        beside = f"the Gram matrix: {1e3 * gram:.0f} ms"
        figures.append(Figure(f"TCA over its Gram matrix, {what}", ours / gram, 1.4, beside=beside))
        if peers:
            beside = f"the faster peer: {1e3 * min(peers):.0f} ms"
            times = min(peers) / ours
            figures.append(Figure(f"TCA, times faster, {what}", times, 3, "", True, beside))
        spectra.append({"what": what, "rows": rows, "faster": min(peers) / ours if peers else None})
    return {
        "ns": NS,
        "nt": NT,
        "features": FEATURES,
        "components": COMPONENTS,
        "gram": gram,
        "figures": figures,
        "spectra": spectra,
    }


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
