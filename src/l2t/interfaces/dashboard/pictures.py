"""Scatter plots of a pair and its statistics over bandwidths, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains import Domain, DomainPair
from l2t.numerics import two_components
from l2t.prediction.summary import clip_outliers
from l2t.statistics import PairStatistics
from l2t.typing import Array, JsonObject

_MAX_ROWS = 250  # of a domain
_MAX_CLASSES = 10  # with a colour of their own


def picture(pair: DomainPair, W: npt.NDArray[Any] | None) -> JsonObject:
    """Return at most 250 rows of both domains before and after W, in two principal components.

    Rows lie in a square from -1 to 1, with their classes as "codes" (-1 if unknown); "after" is None if W is.
    """
    sides = {"source": pair.source, "target": pair.target}
    rows = {side: _sample(domain) for side, domain in sides.items()}
    sets = [domain.X[rows[side]] for side, domain in sides.items()]
    before, flat = _project(sets, None)
    after = None if W is None else _project([X @ W for X in sets], flat)[0]
    legend = {
        side: {
            "name": domain.name,
            "classes": [str(name)[:40] for name in domain.classes[:_MAX_CLASSES]],
            "codes": np.minimum(domain.codes[rows[side]], _MAX_CLASSES - 1).tolist(),
            "rows": len(domain),
        }
        for side, domain in sides.items()
    }
    return legend | {"before": before, "after": after}


def _project(
    sets: list[npt.NDArray[Any]], like: Array | None
) -> tuple[dict[str, list[list[float]]], Array]:
    """Return the rows of both domains in two dimensions, rotated to be nearest to an earlier picture."""
    rows = clip_outliers(np.concatenate(sets).astype(np.float64))
    source, target = two_components(*np.split(rows, [len(sets[0])]), like=like)
    scale = float(max(np.abs(source).max(), np.abs(target).max())) or 1.0
    points = {"source": source / scale, "target": target / scale}
    listed = {side: points_of_side.round(4).tolist() for side, points_of_side in points.items()}
    return listed, np.concatenate(list(points.values()))


def _sample(domain: Domain) -> npt.NDArray[np.intp]:
    return np.sort(np.random.default_rng(0).permutation(len(domain))[:_MAX_ROWS])


def curves(statistics: PairStatistics) -> JsonObject:
    """Return d, tau and the standard deviation of d over the bandwidths."""
    columns = {"d": statistics.d, "tau": statistics.tau}
    columns["deviation"] = np.sqrt(np.maximum(np.diag(statistics.Q), 0.0))
    return {
        "exponents": statistics.kernels.exponents.tolist(),
        **{name: np.where(np.isfinite(y), y, 0.0).tolist() for name, y in columns.items()},
        "n_neighbors": statistics.n_neighbors,
    }
