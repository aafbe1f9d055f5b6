"""Preparation: how features are scaled before a transfer, proposed with its reason or asked for by name."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from l2t.domains.domain import Domain
from l2t.domains.matching import same_rows
from l2t.domains.pair import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.numerics import squared_distances
from l2t.typing import AnyArray, Array, Indices, Mask
from l2t.validation import instance_of, one_of

#: Labelled rows, and rows to test.
Split = tuple[Indices, Indices]

#: What can be done to a domain, the simplest first, in words.
PREPARATIONS = {
    "none": "features as they are",
    "rows": "rows divided by their norm",
    "centred": "rows minus their mean, divided by their norm",
    "zscore": "columns of mean 0 and standard deviation 1",
}
#: How they are tried on the source: labels per class, draws, and classes and rows at most.
SHOTS, N_DRAWS, MAX_CLASSES, MAX_ROWS = 5, 20, 10, 1000
#: Columns are uneven where the largest standard deviation exceeds this many times the median.
UNEVEN = 10.0


@dataclass(frozen=True, eq=False)
class Preparation:
    """Both domains, prepared alike.

    Attributes
    ----------
    source, target : Domain
        The prepared domains, each by its own statistics.
    how : {"none", "rows", "centred", "zscore"}
        What was done.
    reason : str
        Why, in one sentence.
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
    """Scale both domains of a pair, in the way that suits them.

    With a labelled source, 1-NN and logistic regression are tried there with five labels per class under each
    preparation, and the simplest within one standard error of the best mean accuracy is taken. Without labels
    the columns decide: z-scores where they have uneven scales, nothing where rows have norm 1, else rows
    divided by their norm.

    Parameters
    ----------
    source, target : Domain
        The domains. No label of the target is read, nor that of a source row which is a row of the target.
    how : {"auto", "none", "rows", "centred", "zscore"}, default="auto"
        A preparation by name (`normalize`), or "auto" for the proposed one.
    random_state : int, default=0
        The seed of the draws.

    Returns
    -------
    Preparation
        The prepared domains, what was done, and why.

    Examples
    --------
    >>> from l2t.domains import digits, mnist
    >>> found = prepare(digits(), mnist(), "rows")
    >>> found.how, found.reason
    ('rows', 'rows divided by their norm, as asked for')
    """
    instance_of("source", source, Domain)
    instance_of("target", target, Domain)
    one_of("how", how, ("auto", *PREPARATIONS))
    DomainPair(source, target)  # refuses other features
    if how == "auto":
        shared = same_rows(source.X, target.X, source.prepared, target.prepared)
        tried = _tried_on(source, ~shared, random_state)
        how, reason = _by_columns(source, target) if tried is None else _by_trial(tried)
    else:
        reason = f"{PREPARATIONS[how]}, as asked for"
    return Preparation(normalize(source, how), normalize(target, how), how, reason)


def normalize(domain: Domain, how: str = "rows") -> Domain:
    """Return the domain with its features scaled.

    Parameters
    ----------
    domain : Domain
        What to scale.
    how : {"rows", "centred", "zscore", "none"}, default="rows"
        ``"rows"`` divides each row by its Euclidean norm (the protocol of the experiments; a zero row stays
        zero), ``"centred"`` does so after subtracting the mean of this domain, ``"zscore"`` gives each column
        of this domain mean 0 and standard deviation 1 (n - 1 in the denominator; a constant column becomes
        0), ``"none"`` changes nothing.

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
    one_of("how", how, ("rows", "centred", "zscore", "none"))
    if how == "none":
        return domain
    if how in ("centred", "zscore") and len(domain) < 2:
        raise InvalidInputError(f"how={how!r} needs two rows or more, got {len(domain)}")
    scaled, steps = domain.X, domain.prepared
    if how != "rows":
        shift, scale = domain.X.mean(axis=0), np.ones(domain.n_features)
        scaled = domain.X - shift
        if how == "zscore":
            spread = domain.X.std(axis=0, ddof=1)
            # Rounding leaves a constant column with a spread of its last digit: call it constant.
            noise = np.finfo(domain.X.dtype).eps * np.abs(domain.X).max(axis=0) * len(domain)
            scale = _nonzero(spread)
            scaled = np.where(spread > noise, scaled, 0.0) / scale
        before = (0.0, 1.0) if steps is None else steps
        steps = np.array([before[0] + before[1] * shift, before[1] * scale])
    if how != "zscore":
        scaled = scaled / _nonzero(np.linalg.norm(scaled, axis=1, keepdims=True))
    return replace(domain, X=scaled.astype(domain.X.dtype), prepared=steps)


def _by_trial(tried: dict[str, Array]) -> tuple[str, str]:
    """Return the simplest preparation within one standard error of the best, and why."""
    means = {how: scores.mean() for how, scores in tried.items()}
    best = max(means, key=lambda how: means[how])
    behind = ((how, tried[best] - scores) for how, scores in tried.items())
    how = next(how for how, gap in behind if gap.mean() <= gap.std(ddof=1) / np.sqrt(len(gap)))
    others = ", ".join(f"{mean:.3f} {each}" for each, mean in means.items() if each != how)
    why = "is best" if how == best else "is the simplest within a standard error of the best"
    return how, (
        f"{PREPARATIONS[how]}, which {why} with a few labels per class on the source: the mean accuracy of "
        f"1-NN and logistic regression is {means[how]:.3f} ({others})"
    )


def _by_columns(source: Domain, target: Domain) -> tuple[str, str]:
    """Return what the columns of both domains suggest, and why."""
    no_labels = "the source has no labels to try it on"
    spreads = np.concatenate([source.X, target.X]).std(axis=0)
    spreads = spreads[spreads > 0]
    if len(spreads) and spreads.max() > UNEVEN * np.median(spreads):
        times = spreads.max() / np.median(spreads)
        why = f"the largest standard deviation of a column is {times:.0f} times the median"
        return "zscore", f"{PREPARATIONS['zscore']}, because {why} ({no_labels})"
    norms = np.concatenate([np.linalg.norm(each.X, axis=1) for each in (source, target)])
    if np.allclose(norms, 1.0, atol=1e-2):
        return "none", f"{PREPARATIONS['none']}, because rows have norm 1 already ({no_labels})"
    return "rows", f"{PREPARATIONS['rows']}, because columns have similar scales ({no_labels})"


def _tried_on(source: Domain, usable: Mask, random_state: int) -> dict[str, Array] | None:
    """Return accuracies on labelled rows for each preparation; None where it cannot be tried."""
    known = usable if source.labeled is None else usable & source.labeled
    codes = np.where(known, source.codes, -1)
    rng = np.random.default_rng(random_state)
    groups = np.arange(len(codes)) if source.group_codes is None else source.group_codes
    rows = _some_rows(codes, rng)
    if len(np.unique(codes[rows])) < 2:
        return None
    splits = [_split(codes[rows], groups[rows], rng) for _ in range(N_DRAWS)]
    if not all(len(test) for _, test in splits):
        return None
    scaled = {how: normalize(source, how).X[rows] for how in PREPARATIONS}
    return {how: _accuracies(X, codes[rows], splits) for how, X in scaled.items()}


def _some_rows(codes: AnyArray, rng: np.random.Generator) -> Indices:
    """Return some rows of some classes that have two or more."""
    classes, counts = np.unique(codes[codes >= 0], return_counts=True)
    some = rng.permutation(classes[counts > 1])[:MAX_CLASSES]
    # Classes stay as common as they are: accuracy is over all rows.
    return np.asarray(rng.permutation(np.flatnonzero(np.isin(codes, some)))[:MAX_ROWS])


def _accuracies(X: AnyArray, codes: AnyArray, splits: list[Split]) -> Array:
    """Return the mean accuracy of 1-NN and logistic regression for each split."""
    from sklearn.exceptions import ConvergenceWarning  # here: reading need not wait for them
    from sklearn.linear_model import LogisticRegression

    D = squared_distances(X)
    found = []
    for labelled, test in splits:
        nearest = labelled[D[np.ix_(test, labelled)].argmin(axis=1)]
        with warnings.catch_warnings():  # columns of uneven scale may not converge: that is tried
            warnings.simplefilter("ignore", ConvergenceWarning)
            linear = LogisticRegression().fit(X[labelled], codes[labelled])
        found.append([codes[nearest] == codes[test], linear.predict(X[test]) == codes[test]])
    return np.array([np.mean(each) for each in found])


def _split(codes: AnyArray, groups: AnyArray, rng: np.random.Generator) -> Split:
    """Return labelled rows, five of each class and at most half of it, and rows of other groups to test."""
    order = rng.permutation(len(codes))
    members = (order[codes[order] == code] for code in np.unique(codes))
    labelled = np.concatenate([each[: min(SHOTS, len(each) // 2)] for each in members])
    return labelled, np.flatnonzero(~np.isin(groups, groups[labelled]))


def _nonzero(scale: AnyArray) -> AnyArray:
    return np.where(scale > 0, scale, 1.0)
