"""Pictures of a pair in two dimensions, and its statistics over bandwidths, as numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains import Domain, DomainPair
from l2t.numerics import two_components
from l2t.statistics import PairStatistics
from l2t.typing import Array

_MOST = 250  # rows of a domain that are drawn
_FAR = 4.0  # times the median distance from the centre
_CLASSES = 10  # with a colour of their own


def picture(pair: DomainPair, W: npt.NDArray[Any] | None) -> dict[str, Any]:
    """Return at most 250 rows of both domains before and after W, in two principal components.

    Rows lie in a square from -1 to 1, with their classes as "codes" (-1 where one is not known); a W of None
    leaves out the picture after.
    """
    sides = {"source": pair.source, "target": pair.target}
    rows = {side: _some(domain) for side, domain in sides.items()}
    sets = [domain.X[rows[side]] for side, domain in sides.items()]
    before, flat = _flat(sets, None)
    after = None if W is None else _flat([X @ W for X in sets], flat)[0]
    legend = {
        side: {
            "name": domain.name,
            "classes": [str(name)[:40] for name in domain.classes[:_CLASSES]],
            "codes": np.minimum(domain.codes[rows[side]], _CLASSES - 1).tolist(),
            "rows": len(domain),
        }
        for side, domain in sides.items()
    }
    return legend | {"before": before, "after": after}


def _flat(
    sets: list[npt.NDArray[Any]], like: Array | None
) -> tuple[dict[str, list[list[float]]], Array]:
    """Return the rows of both sides in the plane, turned to be nearest to an earlier picture."""
    source, target = two_components(*_clip_outliers(sets), like=like)
    scale = float(max(np.abs(source).max(), np.abs(target).max())) or 1.0
    points = {"source": source / scale, "target": target / scale}
    listed = {side: each.round(4).tolist() for side, each in points.items()}
    return listed, np.concatenate(list(points.values()))


def _clip_outliers(sets: list[npt.NDArray[Any]]) -> list[Array]:
    """Move outliers towards the centre, so that they do not shrink the rest of the picture to a point."""
    rows = np.concatenate(sets).astype(np.float64)
    rows -= np.median(rows, axis=0)
    far = np.linalg.norm(rows, axis=1)
    most = _FAR * float(np.median(far))
    rows *= np.minimum(1.0, most / np.maximum(far, most or 1.0))[:, None]
    return np.split(rows, [len(sets[0])])


def _some(domain: Domain) -> npt.NDArray[np.intp]:
    if len(domain) <= _MOST:
        return np.arange(len(domain))
    return np.sort(np.random.default_rng(0).permutation(len(domain))[:_MOST])


def curves(statistics: PairStatistics) -> dict[str, Any]:
    """Return d, tau and the standard deviation of d over the bandwidths."""
    found = {"d": statistics.d, "tau": statistics.tau}
    found["deviation"] = np.sqrt(np.maximum(np.diag(statistics.Q), 0.0))
    return {
        "exponents": statistics.kernels.exponents.tolist(),
        **{name: np.where(np.isfinite(y), y, 0.0).tolist() for name, y in found.items()},
        "n_neighbors": statistics.n_neighbors,
    }


def numbers(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose numbers JSON can hold: None for what is not finite."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }
