"""Finding the same rows again, also after they were scaled or prepared.

A domain that was prepared records the shift b and the scale s of each column (`Domain.prepared`): a row x
became ``z = (x - b) / s``. It may have been divided by its norm before or after that, so that
``a z s + b = c x`` for some a, c > 0. Orthogonally to the shifts of two domains, the rows ``z s`` and
``z' s'`` that were made of one x are then positive multiples of each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import orth
from scipy.spatial import cKDTree

from l2t.typing import AnyArray, Array, Indices, Mask

#: Unit rows closer than this are the same row, up to the rounding of float32.
SAME_ROW = 1e-5
#: Random directions in which near rows are looked for, and how many of them are compared.
DIRECTIONS = 4
CANDIDATES = 4
#: Rows that are read at a time.
BLOCK = 50_000


class Part(NamedTuple):
    """The rows that a domain gives to a class: their places, and how many of those it has there are new."""

    domain: int
    rows: Indices
    share: float


def same_classes(domains: Sequence[tuple[AnyArray, Indices]]) -> list[list[Part]]:
    """Return the classes of several domains, each as the parts that it is made of; a row counts once.

    Classes of two domains that have at least two rows in common are one class: both are draws from the same
    data. Those with most rows in common come first, and two classes of one domain are never made one.

    Parameters
    ----------
    domains : sequence of (array, int array)
        Indices, and the class of each; rows with a negative class are left out.
    """
    owner: dict[bytes, tuple[int, int]] = {}
    shared: dict[tuple[int, int, bytes], None] = {}  # a set that keeps its order
    parts: list[Part] = []
    for number, (X, codes) in enumerate(domains):
        for code in np.unique(codes[codes >= 0]):
            rows = np.flatnonzero(codes == code)
            fresh = []
            for i in rows.tolist():
                # In float32, so that a row is the same in any type that holds it.
                key = hashlib.blake2b(X[i].astype(np.float32).data, digest_size=16).digest()
                first = owner.setdefault(key, (len(parts), i))
                fresh.append(first == (len(parts), i))
                if first[0] != len(parts):
                    shared[first[0], len(parts), key] = None
            parts.append(Part(number, rows[fresh], float(np.mean(fresh))))
    classes = [[i] for i in range(len(parts))]
    for (a, b), n_rows in Counter((a, b) for a, b, _ in shared).most_common():
        ours, theirs = classes[a], classes[b]
        of_both = {parts[i].domain for i in ours} & {parts[i].domain for i in theirs}
        if n_rows > 1 and ours is not theirs and not of_both:
            ours += theirs
            for i in theirs:
                classes[i] = ours
    return [[parts[i] for i in each] for a, each in enumerate(classes) if each[0] == a]


def same_rows(
    X: AnyArray,
    others: AnyArray,
    prepared: AnyArray | None = None,
    others_prepared: AnyArray | None = None,
) -> Mask:
    """Return which rows of X are among the others times a positive number, as they are or as they were.

    With one or two features, where different rows are often multiples of each other, rows must be equal.
    """
    found = np.zeros(len(X), dtype=np.bool_)
    for at in range(0, len(others), BLOCK):
        rows = np.flatnonzero(~found)
        found[rows] = _same(X[rows], others[at : at + BLOCK], prepared, others_prepared)
    return found


def _same(
    X: AnyArray, others: AnyArray, prepared: AnyArray | None, others_prepared: AnyArray | None
) -> Mask:
    m = X.shape[1]
    found = _occurs(X, others, any_scale=m > 2)
    if prepared is None and others_prepared is None:
        return found
    plain = np.array([np.zeros(m), np.ones(m)])
    (shift, scale), (their_shift, their_scale) = (
        plain if each is None else each for each in (prepared, others_prepared)
    )
    ours, theirs = X * scale, others * their_scale
    shifts = orth(np.column_stack([shift, their_shift]))
    if m - shifts.shape[1] <= 2:
        return found | _occurs(ours + shift, theirs + their_shift, any_scale=False)
    ours, theirs = (each - (each @ shifts) @ shifts.T for each in (ours, theirs))
    return found | _occurs(ours, theirs, any_scale=True)


def _occurs(X: AnyArray, others: AnyArray, *, any_scale: bool) -> Mask:
    """Return which rows of X are equal to one of the others, or a positive multiple of it.

    Rows that are near each other are near in a few random directions, in which a tree is fast; what is found
    there is compared in all features.
    """
    ours, theirs = _plain(X, any_scale), _plain(others, any_scale)
    slack = SAME_ROW * (1.0 if any_scale else float(np.abs(ours).max(initial=0.0)) or 1.0)
    m = X.shape[1]
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(m, min(m, DIRECTIONS))))[0]
    bound = slack * (1.0 + 1e-6)
    places = list(range(1, CANDIDATES + 1))
    _, near = cKDTree(theirs @ axes).query(ours @ axes, places, distance_upper_bound=bound)
    found = np.zeros(len(ours), dtype=np.bool_)
    for place in near.T:
        rows = np.flatnonzero((place < len(theirs)) & ~found)
        found[rows] = np.linalg.norm(ours[rows] - theirs[place[rows]], axis=1) < slack
    crowded = np.flatnonzero((near[:, -1] < len(theirs)) & ~found)
    if len(crowded):  # more of them are near than were compared
        distances, _ = cKDTree(theirs).query(ours[crowded], distance_upper_bound=slack)
        found[crowded] = np.isfinite(distances)  # infinite where there is none so near
    return found


def _plain(X: AnyArray, any_scale: bool) -> Array:
    """Return rows in float64, of length 1 where they may be scaled."""
    rows = X.astype(np.float64)
    if not any_scale:
        return rows
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))
