"""Scaling that a user asks for by name; the library itself never scales data."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from l2t.domains.domain import Domain
from l2t.exceptions import InvalidInputError
from l2t.validation import instance_of, one_of

__all__ = ["normalize"]


def normalize(domain: Domain, how: str = "rows") -> Domain:
    """Return the domain with its features scaled.

    Parameters
    ----------
    domain : Domain
        What to scale.
    how : {"rows", "zscore", "none"}
        ``"rows"`` divides each row by its Euclidean norm (the protocol of the experiments; a zero
        row stays zero), ``"zscore"`` gives each column of this domain mean 0 and standard deviation
        1 (n - 1 in the denominator; a constant column becomes 0), ``"none"`` changes nothing.

    Returns
    -------
    Domain
        With `prepared`: what was done by column, after what was done before. Norms of rows are not
        recorded, because rows are found again whatever their norms.

    Examples
    --------
    >>> normalize(Domain([[3.0, 4.0], [0.0, 0.0]])).X.tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    instance_of("domain", domain, Domain)
    one_of("how", how, ("rows", "zscore", "none"))
    if how == "none":
        return domain
    steps = domain.prepared
    if how == "rows":
        scaled = domain.X / _nonzero(np.linalg.norm(domain.X, axis=1, keepdims=True))
    else:
        if len(domain) < 2:
            raise InvalidInputError(f"how='zscore' needs two rows or more, got {len(domain)}")
        shift = domain.X.mean(axis=0)
        spread = domain.X.std(axis=0, ddof=1)
        # Rounding leaves a constant column with a spread of its last digit: call it constant.
        noise = np.finfo(domain.X.dtype).eps * np.abs(domain.X).max(axis=0) * len(domain)
        scale = _nonzero(spread)
        scaled = np.where(spread > noise, domain.X - shift, 0.0) / scale
        before = (0.0, 1.0) if steps is None else steps
        steps = np.array([before[0] + before[1] * shift, before[1] * scale])
    X = scaled.astype(domain.X.dtype)
    known = {"labeled": domain.labeled, "groups": domain.groups, "prepared": steps}
    return Domain(X, domain.y, **known, name=domain.name, feature_names=domain.feature_names)


def _nonzero(scale: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.where(scale > 0, scale, 1.0)
