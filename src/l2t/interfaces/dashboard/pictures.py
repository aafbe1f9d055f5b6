"""Pictures of a pair in two dimensions, as numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains import Domain, DomainPair
from l2t.numerics import two_components
from l2t.typing import Array

__all__ = ["Camera", "numbers"]

_MOST = 250  # rows of a domain that are drawn
_FAR = 4.0  # times the median distance from the middle
_CLASSES = 10  # that have a colour of their own


class Camera:
    """Takes pictures of the same rows of a pair under one W after another."""

    def __init__(self, pair: DomainPair) -> None:
        self._pair = pair
        self._rows = [_some(domain) for domain in (pair.source, pair.target)]
        self._last: Array | None = None

    def scene(self) -> dict[str, Any]:
        """Return what stays: names, and the class of each row that is drawn (-1 where it is not known)."""
        sides = (self._pair.source, self._pair.target)
        return {
            side: {
                "name": domain.name,
                "classes": [str(name)[:40] for name in domain.classes[:_CLASSES]],
                "codes": np.minimum(domain.codes[rows], _CLASSES - 1).tolist(),
                "rows": len(domain),
            }
            for side, domain, rows in zip(("source", "target"), sides, self._rows, strict=True)
        }

    def picture(self, W: npt.NDArray[Any] | None) -> dict[str, list[list[float]]]:
        """Return the rows under W (as they are for None), scaled to a square from -1 to 1."""
        sides = (self._pair.source.X, self._pair.target.X)
        sets = [X[rows] for X, rows in zip(sides, self._rows, strict=True)]
        if W is not None:
            sets = [X @ W for X in sets]
        flat = two_components(*_drawn_in(sets), like=self._last)
        self._last = np.concatenate(flat)
        scale = float(np.abs(self._last).max()) or 1.0
        self._last = self._last / scale
        source, target = ((each / scale).round(4).tolist() for each in flat)
        return {"source": source, "target": target}


def _drawn_in(sets: list[npt.NDArray[Any]]) -> list[Array]:
    """Draw rows that are far from all others nearer, so that they do not squeeze the picture to a point."""
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


def numbers(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose numbers JSON can hold: None for what is not finite."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in record.items()
    }
