"""Preparation: scaling of features before a transfer, by name or as proposed with a reason."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from l2t.domains.copies import join_copies, same_rows
from l2t.domains.domain import Domain
from l2t.domains.draw import in_content_order
from l2t.domains.pair import DomainPair, match_columns
from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances, unit_rows
from l2t.typing import AnyArray, Array, Indices, Mask
from l2t.validation import instance_of, one_of

#: The preparations, the simplest first, and how messages describe them.
PREPARATIONS = {
    "none": "features as they are",
    "rows": "rows divided by their norm",
    "centred": "rows minus their mean, divided by their norm",
    "zscore": "columns of mean 0 and standard deviation 1",
}
#: Evaluation on the source: labels per class, random splits, and at most this many classes and rows.
N_SHOTS = 5
N_SPLITS = 20
MAX_CLASSES = 10
MAX_EVALUATED_ROWS = 1000
#: Columns are z-scored if the largest standard deviation exceeds the median by this factor.
UNEVEN = 10.0
#: A column whose values differ by at most this many units of rounding is constant.
ROUNDING = 4.0


@dataclass(frozen=True, eq=False)
class Preparation:
    """Both domains after the same preparation, as `prepare` returns them.

    Attributes
    ----------
    source, target : Domain
        The prepared domains; means and standard deviations are those of each domain.
    how : {"none", "rows", "centred", "zscore"}
        The preparation.
    reason : str
        Why it was chosen, in one sentence.
    """

    source: Domain
    target: Domain
    how: str
    reason: str

    @property
    def pair(self) -> DomainPair:
        """The prepared pair."""
        return DomainPair(self.source, self.target)


def prepare(
    source: Domain, target: Domain, how: str = "auto", *, random_state: int = 0
) -> Preparation:
    """Scale the features of both domains of a pair.

    With a labelled source, "auto" evaluates 1-NN and logistic regression on it with five labels per class
    for each preparation, and chooses the simplest within one standard error of the best mean accuracy.
    Without labels it chooses by the columns: z-scores if their scales are uneven, nothing if rows have norm
    1, else rows divided by their norm.

    Parameters
    ----------
    source : Domain
        The source. Labels of rows that are also rows of the target are not read.
    target : Domain
        The target. Its labels are not read.
    how : {"auto", "none", "rows", "centred", "zscore"}, default="auto"
        A preparation of `normalize`, or "auto" for the proposed one.
    random_state : int, default=0
        The seed of the draws.

    Returns
    -------
    Preparation
        The prepared domains, the preparation, and why it was chosen.

    Raises
    ------
    InvalidInputError
        If the domains have different features, or `how` is unknown.

    Examples
    --------
    >>> from l2t.domains import digits, mnist
    >>> prepared = prepare(digits(), mnist(), "rows")
    >>> prepared.how, prepared.reason
    ('rows', 'rows divided by their norm, as requested')
    """
    instance_of("source", source, Domain)
    instance_of("target", target, Domain)
    one_of("how", how, ("auto", *PREPARATIONS))
    source = match_columns(source, target)
    if how == "auto":
        ordered = join_copies(in_content_order(source, random_state), []).target
        shared = same_rows(ordered.X, target.X, ordered.prepared, target.prepared)
        scores = _evaluate(ordered, ~shared, random_state)
        how, reason = _by_columns(source, target) if scores is None else _by_accuracy(scores)
    else:
        reason = f"{PREPARATIONS[how]}, as requested"
    return Preparation(normalize(source, how), normalize(target, how), how, reason)


def normalize(domain: Domain, how: str = "rows") -> Domain:
    """Return the domain with its features scaled.

    Parameters
    ----------
    domain : Domain
        The domain to scale.
    how : {"rows", "centred", "zscore", "none"}, default="rows"
        ``"rows"`` divides each row by its Euclidean norm (the protocol of the experiments; a zero row stays
        zero), ``"centred"`` first subtracts the mean of this domain, ``"zscore"`` gives each column of this
        domain mean 0 and standard deviation 1 (n - 1 in the denominator; a constant column becomes 0),
        ``"none"`` changes nothing.

    Returns
    -------
    Domain
        The scaled domain. Its `prepared` has the total shift and scale of each column; norms of rows are not
        recorded, because rows are recognised up to a positive factor.

    Raises
    ------
    InvalidInputError
        If `how` is unknown, or the domain has too few rows for it.

    Examples
    --------
    >>> normalize(Domain([[3.0, 4.0], [0.0, 0.0]])).X.tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    instance_of("domain", domain, Domain)
    one_of("how", how, PREPARATIONS)
    if how == "none":
        return domain
    if how in ("centred", "zscore") and len(domain) < 2:
        raise InvalidInputError(f"how={how!r} needs at least 2 rows, got {len(domain)}")
    scaled, steps = domain.X, domain.prepared
    if how != "rows":
        shift, scale = domain.X.mean(axis=0, dtype=np.float64), np.ones(domain.n_features)
        scaled = domain.X - shift
        if how == "zscore":
            spread = _spreads(domain.X)
            scale = np.where(spread > 0, spread, 1.0)
            scaled = np.where(spread > 0, scaled, 0.0) / scale
        before = (0.0, 1.0) if steps is None else steps
        steps = np.array([before[0] + before[1] * shift, before[1] * scale])
    if how != "zscore":
        scaled = unit_rows(scaled)
    return domain.with_rows(X=scaled.astype(domain.X.dtype), prepared=steps)


def _spreads(X: AnyArray) -> Array:
    """Return the standard deviation of each column, 0 if its values differ only by rounding."""
    low, high = X.min(axis=0), X.max(axis=0)
    noise = ROUNDING * np.finfo(X.dtype).eps * np.maximum(np.abs(low), np.abs(high))
    return np.where(high - low > noise, X.std(axis=0, ddof=1, dtype=np.float64), 0.0)


def _by_accuracy(scores: dict[str, Array]) -> tuple[str, str]:
    """Return the simplest preparation within one standard error of the best, and why."""
    means = {how: accuracies.mean() for how, accuracies in scores.items()}
    best = max(means, key=lambda how: means[how])
    gaps = ((how, scores[best] - accuracies) for how, accuracies in scores.items())
    how = next(how for how, gap in gaps if gap.mean() <= gap.std(ddof=1) / np.sqrt(len(gap)))
    others = ", ".join(f"{mean:.3f} {other}" for other, mean in means.items() if other != how)
    why = "is best" if how == best else "is the simplest within one standard error of the best"
    return how, (
        f"{PREPARATIONS[how]}, which {why} with a few labels per class on the source: the mean accuracy of "
        f"1-NN and logistic regression is {means[how]:.3f} ({others})"
    )


def _by_columns(source: Domain, target: Domain) -> tuple[str, str]:
    """Return the preparation that the scales of columns and rows suggest, and why."""
    unmeasured = "the source has too few labelled rows or groups to measure accuracy"
    spreads = _spreads(np.concatenate([source.X, target.X]))
    spreads = spreads[spreads > 0]
    if len(spreads) and spreads.max() > UNEVEN * np.median(spreads):
        times = spreads.max() / np.median(spreads)
        why = f"the largest standard deviation of a column is {times:.0f} times the median"
        return "zscore", f"{PREPARATIONS['zscore']}, because {why} ({unmeasured})"
    norms = np.concatenate([np.linalg.norm(domain.X, axis=1) for domain in (source, target)])
    if np.allclose(norms, 1.0, atol=1e-2):
        return "none", f"{PREPARATIONS['none']}, because rows have norm 1 already ({unmeasured})"
    return "rows", f"{PREPARATIONS['rows']}, because columns have similar scales ({unmeasured})"


def _evaluate(source: Domain, usable: Mask, random_state: int) -> dict[str, Array] | None:
    """Return the accuracies of each preparation on labelled rows; None with too few of them."""
    known = usable if source.labeled is None else usable & source.labeled
    codes = np.where(known, source.codes, -1)
    rng = np.random.default_rng(random_state)
    groups = np.arange(len(codes)) if source.group_codes is None else source.group_codes
    rows = _sample_rows(codes, rng)
    if len(np.unique(codes[rows])) < 2:
        return None
    splits = [_split(codes[rows], groups[rows], rng) for _ in range(N_SPLITS)]
    if not all(len(test) for _, test in splits):
        return None
    scaled = {how: normalize(source, how).X[rows] for how in PREPARATIONS}
    return {how: _accuracies(X, codes[rows], splits) for how, X in scaled.items()}


def _sample_rows(codes: AnyArray, rng: np.random.Generator) -> Indices:
    """Return random rows of random classes, at least two of each; class frequencies are kept."""
    some = rng.permutation(_repeated(codes[codes >= 0]))[:MAX_CLASSES]
    rows = rng.permutation(np.flatnonzero(np.isin(codes, some)))[:MAX_EVALUATED_ROWS]
    return np.asarray(rows[np.isin(codes[rows], _repeated(codes[rows]))])


def _repeated(codes: AnyArray) -> AnyArray:
    """Return the classes with at least two rows."""
    classes, counts = np.unique(codes, return_counts=True)
    return classes[counts > 1]


def _accuracies(X: AnyArray, codes: AnyArray, splits: list[tuple[Indices, Indices]]) -> Array:
    """Return the mean accuracy of 1-NN and logistic regression for each split."""
    from sklearn.exceptions import ConvergenceWarning  # slow to import
    from sklearn.linear_model import LogisticRegression

    D = squared_distances(X - X.mean(axis=0, dtype=np.float64))  # far from 0, digits are lost
    accuracies = []
    for labelled, test in splits:
        nearest = labelled[D[np.ix_(test, labelled)].argmin(axis=1)]
        with warnings.catch_warnings():  # unscaled columns may not converge: a lower accuracy
            warnings.simplefilter("ignore", ConvergenceWarning)
            linear = LogisticRegression().fit(X[labelled], codes[labelled])
        accuracies.append([codes[nearest] == codes[test], linear.predict(X[test]) == codes[test]])
    return np.array([np.mean(pair) for pair in accuracies])


def _split(codes: AnyArray, groups: AnyArray, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Return five labelled rows per class, at most half of it, and the test rows of other groups."""
    order = rng.permutation(len(codes))
    members = (order[codes[order] == code] for code in np.unique(codes))
    labelled = np.concatenate([rows[: min(N_SHOTS, len(rows) // 2)] for rows in members])
    return labelled, np.flatnonzero(~np.isin(groups, groups[labelled]))
