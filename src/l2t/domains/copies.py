"""Copies of rows (equal, scaled or rounded), and groups of rows over several domains.

Copies tell the label of a row that is held out, so they are removed or kept together wherever an accuracy is
measured. A prepared domain records the shift b and the scale s of each column (`Domain.prepared`): a row x
became ``z = (x - b) / s``. It may have been divided by its norm before or after that, so that
``a z s + b = c x`` for some a, c > 0. In the orthogonal complement of the shifts of both domains, the rows
``z s`` and ``z' s'`` of the same x are then positive multiples of each other.

In a table of few distinct values rows are equal by chance. Equal rows are taken for copies if less than one
row in 20 had an equal one by chance were the columns independent: ``n Π_j Σ_v p_jv² < 0.05``, p_jv the share
of value v in column j.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import orth
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from l2t.domains.domain import Domain
from l2t.domains.draw import row_hashes
from l2t.numerics import unit_rows
from l2t.typing import AnyArray, Array, Indices, Mask

#: Rows closer than this, relative to the spread of all rows, are the same row.
SAME_ROW = 1e-5
#: Rounding to float32, relative to the size of a row; at most the second number relative to the spread.
ROUNDING, MAX_ROUNDING = 1e-7, 1e-2
#: Minimum standard deviation of a column in which rows are compared, relative to its largest absolute value.
LEAST_SPREAD = 1e-4
#: Random directions in which nearest neighbours are searched, and neighbours that are compared exactly.
DIRECTIONS = 4
CANDIDATES = 4
#: Rows of the other domain that are compared at a time.
BLOCK = 50_000
#: Equal rows are copies if the expected share of rows with an equal one by chance is below this.
MAX_CHANCE = 0.05
#: Number of rows from which this share is estimated.
CHANCE_ROWS = 5000
#: The largest number of decimals at which rounded rows are recognised; SAME_ROW is enough for more.
MOST_DECIMALS = 4


class Part(NamedTuple):
    """A class in one domain: the domain's number, the rows that no earlier class has, and their share."""

    domain: int
    rows: Indices
    share: float


def same_classes(domains: Sequence[tuple[AnyArray, Indices]]) -> list[list[Part]]:
    """Return the distinct classes of several domains, each as a list of parts; duplicate rows are used once.

    Classes of two domains with at least two rows in common are one class, because both are samples of the
    same data. Those with the most rows in common are merged first, but never two classes of one domain.

    Parameters
    ----------
    domains : sequence of (array of shape (n, m), int array of shape (n,))
        The rows of each domain and their classes; rows with a negative class are left out.

    Returns
    -------
    list of list of Part
        The parts of each class.
    """
    owner: dict[bytes, tuple[int, int]] = {}
    shared: dict[tuple[int, int, bytes], None] = {}  # an ordered set
    parts: list[Part] = []
    for number, (X, codes) in enumerate(domains):
        for code in np.unique(codes[codes >= 0]):
            rows = np.flatnonzero(codes == code)
            fresh = []
            for i in rows.tolist():
                # In float32, so that a row has the same key in float32 and float64.
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


class Grouped(Protocol):
    """Anything with rows and groups, such as a domain."""

    @property
    def groups(self) -> AnyArray | None:
        """The groups of the rows, None if there are none."""

    def __len__(self) -> int: ...


def joint_groups(domains: Sequence[Grouped]) -> list[Indices]:
    """Return the groups of several domains as integers, equal groups as equal ones in all of them.

    Parameters
    ----------
    domains : sequence of Domain
        The domains. A row without a group forms its own.

    Returns
    -------
    list of int array of shape (n,)
        The groups of each domain.
    """
    names = np.concatenate([_declared_groups(domain) for domain in domains])
    codes = np.asarray(Domain(np.zeros((len(names), 1)), groups=names).group_codes)
    return np.split(codes, np.cumsum([len(domain) for domain in domains])[:-1])


def _declared_groups(domain: Grouped) -> AnyArray:
    """Return the group of each row, None for rows without one."""
    return np.full(len(domain), None) if domain.groups is None else domain.groups.astype(object)


@dataclass(frozen=True, eq=False)
class Copies:
    """Domains, the target first, whose copies of rows are in one group, and how many there are.

    Attributes
    ----------
    target : Domain
        The target.
    sources : list of Domain
        The sources.
    n_in_sources : int
        Number of source rows that are copies of target rows.
    n_in_target : int
        Number of target rows that are copies of other target rows.
    """

    target: Domain
    sources: list[Domain]
    n_in_sources: int
    n_in_target: int

    @property
    def sentence(self) -> str:
        """What was found, or an empty string."""
        parts = []
        if self.n_in_sources:
            rows = (
                "1 row of the source repeats"
                if self.n_in_sources == 1
                else (f"{self.n_in_sources} rows of the source repeat")
            )
            parts.append(f"{rows} target rows")
        if self.n_in_target:
            parts.append(f"{self.n_in_target} rows of the target occur more than once")
        if not parts:
            return ""
        return f"{' and '.join(parts)}; copies are kept together where accuracies are measured."


def join_copies(target: Domain, sources: Sequence[Domain]) -> Copies:
    """Put copies of rows, within a domain and across domains, in one group together with declared groups.

    Parameters
    ----------
    target : Domain
        The target. Its labels are not read.
    sources : sequence of Domain
        Sources with the same features.

    Returns
    -------
    Copies
        The domains; those given if there are no copies.
    """
    domains = [target, *sources]
    ends = np.cumsum([len(domain) for domain in domains])
    n = int(ends[-1])
    X = domains[0].rows if len(domains) == 1 else _stacked([domain.rows for domain in domains])
    pairs = _copies(X, len(target)) if _equal_rows_are_copies(X) else np.empty((0, 2), np.intp)
    if not len(pairs):
        return Copies(target, list(sources), 0, 0)
    codes = np.concatenate(joint_groups(domains))
    copy = _components(n, pairs)
    links = np.concatenate([pairs, np.stack([np.arange(n), n + codes], axis=1)])
    together = _components(n + int(codes.max()) + 1, links)[:n]
    names = _group_names(together, np.concatenate(list(map(_declared_groups, domains))))
    joined = [
        replace(domain, X=domain.rows, groups=values)
        for domain, values in zip(domains, np.split(names, ends[:-1]), strict=True)
    ]
    of_target, counts = copy[: len(target)], np.bincount(copy[: len(target)], minlength=n)
    return Copies(
        joined[0],
        joined[1:],
        int((counts[copy[len(target) :]] > 0).sum()),
        int((counts[of_target] > 1).sum()),
    )


def _stacked(parts: Sequence[Any]) -> Any:
    if any(sparse.issparse(rows) for rows in parts):
        return sparse.vstack([sparse.csr_array(rows) for rows in parts], format="csr")
    return np.concatenate(parts)


def _components(n: int, pairs: Indices) -> Indices:
    """Return the connected component of each of n nodes."""
    links = sparse.coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    return np.asarray(connected_components(links, directed=False)[1])


def _group_names(together: Indices, declared: AnyArray) -> AnyArray:
    """Return a group for each row: a declared one of its component, else a new one; None for a single row."""
    sizes, names = np.bincount(together), np.full(len(together), None)
    names[sizes[together] > 1] = [f"copies {c}" for c in together[sizes[together] > 1]]
    declares = np.array([name is not None for name in declared])
    first = dict(zip(together[declares][::-1], declared[declares][::-1], strict=True))
    for row in np.flatnonzero(np.isin(together, list(first))):
        names[row] = first[together[row]]
    return names


def _copies(X: Any, n_target: int) -> Indices:
    """Return pairs of rows that are copies; each copy of a row is connected with it by some pairs."""
    unit = _column_units(X[:n_target], ROUNDING / SAME_ROW)
    links = [_equal_pairs(X, unit, any_scale=False)]
    if X.shape[1] > 2:  # with one or two features different rows are often multiples of each other
        links.append(_equal_pairs(X, unit, any_scale=True))
    if not sparse.issparse(X):
        links.append(_rounded_pairs(X))
    return np.concatenate(links)


def _equal_pairs(X: Any, unit: AnyArray, *, any_scale: bool) -> Indices:
    """Return pairs of equal rows or, with `any_scale`, of positive multiples, by cells of a fine grid.

    Rows are projected on a few random directions. Equal rows differ by rounding and may be on two sides of a
    cell's border, so a second grid is shifted by half a cell.
    """
    n, m = X.shape
    axes = np.random.default_rng(0).normal(size=(m, DIRECTIONS)) / unit[:, None]
    Z = np.concatenate([np.asarray(X[i : i + BLOCK] @ axes) for i in range(0, n, BLOCK)])
    if any_scale:
        norms = np.concatenate([_norms(X[i : i + BLOCK], unit) for i in range(0, n, BLOCK)])
        Z = Z / np.where(norms > 0, norms, 1.0)[:, None]
    spread = Z.std(axis=0)
    Z = (Z - Z.mean(axis=0)) / (SAME_ROW * np.where(spread > 0, spread, 1.0))
    pairs = [np.empty((0, 2), np.intp)]
    for offset in (0.0, 0.5):
        _, first, cell = np.unique(
            row_hashes(np.floor(Z + offset)), return_index=True, return_inverse=True
        )
        others = np.flatnonzero(first[cell] != np.arange(n))
        pairs.append(np.stack([first[cell[others]], others], axis=1))
    return np.concatenate(pairs)


def _norms(X: Any, unit: AnyArray) -> Array:
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
    return np.asarray(np.sqrt(squares @ (1.0 / unit**2)))


def _rounded_pairs(X: AnyArray) -> Indices:
    """Return pairs of rows of which one is the other rounded to at most `MOST_DECIMALS` decimals."""
    decimals = _decimals(X)
    pairs = [np.empty((0, 2), np.intp)]
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(X.shape[1], DIRECTIONS)))[0]
    for k in range(MOST_DECIMALS + 1):
        rounded, exact = np.flatnonzero(decimals == k), np.flatnonzero(decimals > k)
        if not (len(rounded) and len(exact) and _equal_rows_are_copies(X[exact].round(k))):
            continue
        # A column differs by at most half a unit; the projections by about as much, at most 4 units here.
        unit = 10.0**-k
        tree = cKDTree(X[exact] @ axes)
        _, near = tree.query(
            X[rounded] @ axes, range(1, CANDIDATES + 1), distance_upper_bound=4 * unit
        )
        for place in near.T:
            inside = place < len(exact)
            ours, theirs = rounded[inside], exact[place[inside]]
            allowed = 0.501 * unit + ROUNDING * np.abs(X[theirs])
            same = (np.abs(X[ours] - X[theirs].astype(np.float64)) <= allowed).all(axis=1)
            pairs.append(np.stack([ours[same], theirs[same]], axis=1))
    return np.concatenate(pairs)


def _decimals(X: AnyArray) -> Indices:
    """Return the number of decimals of each row, `MOST_DECIMALS` + 1 for more.

    >>> _decimals(np.array([[1.0, 2.0], [1.25, 3.0], [1.0, np.pi]])).tolist()
    [0, 2, 5]
    """
    found = np.full(len(X), MOST_DECIMALS + 1)
    rows = np.arange(len(X))
    for k in range(MOST_DECIMALS, -1, -1):
        for columns in (slice(0, 4), slice(4, None)):  # a few columns exclude most rows
            values = X[rows, columns].astype(np.float64) * 10.0**k
            rows = rows[(np.abs(values - np.rint(values)) < 1e-3).all(axis=1)]
        found[rows] = k
    return found


def _equal_rows_are_copies(X: Any) -> bool:
    """Return whether equal rows are hardly ever equal by chance (see the module's docstring)."""
    n, X = X.shape[0], X[:CHANCE_ROWS]
    if sparse.issparse(X):  # values of a column are at least 0 and not 0
        filled = np.bincount(X.indices, minlength=X.shape[1]) / X.shape[0]
        log_chance = np.log(filled**2 + (1.0 - filled) ** 2).sum()
        return bool(n * np.exp(log_chance) < MAX_CHANCE)
    chance = float(n)
    for column in X.T:
        shares = np.unique(column, return_counts=True)[1] / len(column)
        chance *= float(shares @ shares)
        if chance < MAX_CHANCE:
            return True
    return False


def same_rows(
    X: AnyArray,
    others: AnyArray,
    prepared: AnyArray | None = None,
    others_prepared: AnyArray | None = None,
) -> Mask:
    """Return which rows of X are positive multiples of one of the others, before or after preparation.

    With one or two features, where different rows are often multiples of each other, rows must be equal. A
    row is found too if it is another one rounded to a few decimals, or the other way round.
    """
    found = np.zeros(len(X), dtype=np.bool_)
    for start in range(0, len(others), BLOCK):
        rows, block = np.flatnonzero(~found), others[start : start + BLOCK]
        found[rows] = _matching_rows(X[rows], block, prepared, others_prepared)
        rows = np.flatnonzero(~found)
        pairs = np.sort(_rounded_pairs(np.concatenate([X[rows], block])), axis=1)
        found[rows[pairs[(pairs[:, 0] < len(rows)) & (pairs[:, 1] >= len(rows)), 0]]] = True
    return found


def _matching_rows(
    X: AnyArray, others: AnyArray, prepared: AnyArray | None, others_prepared: AnyArray | None
) -> Mask:
    m = X.shape[1]
    unit = _column_units(others)
    found = _occur_in(X / unit, others / unit, any_scale=m > 2)
    if prepared is None and others_prepared is None:
        return found
    plain = np.array([np.zeros(m), np.ones(m)])
    (shift, scale), (their_shift, their_scale) = (
        plain if each is None else each for each in (prepared, others_prepared)
    )
    unit = _column_units(others * their_scale)
    ours, theirs = X * scale / unit, others * their_scale / unit
    shift, their_shift = shift / unit, their_shift / unit
    shifts = orth(np.column_stack([shift, their_shift]))
    if m - shifts.shape[1] <= 2:
        return found | _occur_in(ours + shift, theirs + their_shift, any_scale=False)
    ours, theirs = (each - (each @ shifts) @ shifts.T for each in (ours, theirs))
    return found | _occur_in(ours, theirs, any_scale=True)


def _column_units(X: Any, least: float = LEAST_SPREAD) -> AnyArray:
    """Return the standard deviation of each column, so that one of large numbers does not hide all others.

    It is at least `least` times the largest absolute value, so that rounding in a column that is nearly
    constant is not magnified; and 1 for a column of zeros.
    """
    if sparse.issparse(X):
        most = np.asarray(abs(X).max(axis=0).todense()).ravel()
        variances = X.multiply(X).mean(axis=0) - np.square(X.mean(axis=0))
        deviations = np.sqrt(np.maximum(np.asarray(variances).ravel(), 0.0))
    else:
        most = np.abs(X).max(axis=0, initial=0.0)
        deviations = X.std(axis=0, dtype=np.float64)
    spread = np.maximum(deviations, least * most)
    return np.where(spread > 0, spread, 1.0)


def _occur_in(ours: AnyArray, theirs: AnyArray, *, any_scale: bool) -> Mask:
    """Return which of our rows equal one of theirs or, with `any_scale`, a positive multiple of it.

    Equal rows have equal projections on a few random directions, in which a k-d tree is fast; the candidates
    that it finds are compared in all features. Rows are equal if their distance is small compared with that
    between different rows, also far from the origin, where the directions of all rows are similar.
    """
    if any_scale:
        ours, theirs = unit_rows(ours), unit_rows(theirs)
    both = np.concatenate([ours, theirs])
    spread = float(np.sqrt(both.var(axis=0, dtype=np.float64).sum())) or 1.0
    size = float(np.abs(both).max(initial=0.0)) or 1.0
    slack = max(SAME_ROW * spread, min(ROUNDING * size, MAX_ROUNDING * spread))
    m = ours.shape[1]
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(m, min(m, DIRECTIONS))))[0]
    bound = slack * (1.0 + 1e-6)
    places = list(range(1, CANDIDATES + 1))
    _, near = cKDTree(theirs @ axes).query(ours @ axes, places, distance_upper_bound=bound)
    found = np.zeros(len(ours), dtype=np.bool_)
    for place in near.T:
        rows = np.flatnonzero((place < len(theirs)) & ~found)
        found[rows] = np.linalg.norm(ours[rows] - theirs[place[rows]], axis=1) < slack
    crowded = np.flatnonzero((near[:, -1] < len(theirs)) & ~found)
    if len(crowded):  # more candidates than were compared
        distances, _ = cKDTree(theirs).query(ours[crowded], distance_upper_bound=slack)
        found[crowded] = np.isfinite(distances)  # infinite without a neighbour within the bound
    return found
