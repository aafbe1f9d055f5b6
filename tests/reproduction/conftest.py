"""Small pairs of digits for studies that would take hours at their full size."""

from __future__ import annotations

import pytest

from l2t import PairSampler, normalize
from l2t.domains import digits, mnist
from reproduction.families import Pairs


@pytest.fixture(scope="session")
def small_pairs():
    """A function of (how many, seed) to pairs of 60 + 60 rows."""

    def draw(n_pairs: int, random_state: int = 0) -> Pairs:
        sampler = PairSampler(
            normalize(digits()),
            normalize(mnist()),
            n_pairs,
            max_per_class=20,
            random_state=random_state,
        )
        return Pairs((sampler,), n_pairs)

    return draw
