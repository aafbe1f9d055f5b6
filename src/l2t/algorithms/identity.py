"""identity: ``W = I``, no transfer. The baseline of every other candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from l2t.algorithms.base import LatentFactors, SoftAlgorithm
from l2t.domains import DomainPair
from l2t.domains.domain import DENSE_FEATURES
from l2t.typing import Matrix

#: The name of the candidate that stands for no transfer.
NO_TRANSFER = "identity"


@dataclass(frozen=True)
class Identity(SoftAlgorithm):
    """No transfer: the original features.

    Parameters
    ----------
    random_state : int or None, default=0
        Not used.
    """

    name: ClassVar[str] = NO_TRANSFER
    uses_source: ClassVar[bool] = False
    least_rows: ClassVar[int] = 1

    def _fit(self, pair: DomainPair) -> LatentFactors:
        m = pair.n_features
        W: Matrix = np.eye(m) if m <= DENSE_FEATURES else sparse.eye_array(m, format="csr")
        return self._pack(pair, W)
