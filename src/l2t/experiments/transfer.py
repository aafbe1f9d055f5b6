"""L2T beside the base algorithms on testing pairs: ratios by label count, with and without the verdict."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.stats import ttest_rel

from l2t import algorithms
from l2t.domains import Domain, DomainPair
from l2t.exceptions import L2TWarning
from l2t.experiences import evaluate
from l2t.experiences.evaluation import labeled_draws
from l2t.experiences.executors import choose_executor
from l2t.inference import infer
from l2t.inference.verdict import decide, triple_vote
from l2t.progress import progress_bar
from l2t.reflection import ReflectionFunction

__all__ = ["TransferStudy", "measure_transfer"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TransferStudy:
    """Ratios of L2T and of base algorithms over no transfer.

    Attributes
    ----------
    names : tuple of str
        The base algorithms.
    label_counts : tuple of int
        The label counts.
    base : array of shape (algorithms, pairs, counts)
        Accuracy with the algorithm over accuracy without transfer.
    l2t : array of shape (pairs, counts)
        The same for L2T as people use it: W where the verdict is to transfer, X elsewhere. Each draw of
        labelled rows votes for itself.
    always : array of shape (pairs, counts)
        The same for W whatever the verdict.
    transferred : array of shape (pairs, counts)
        The share of draws in which the verdict was to transfer.
    predicted : array of shape (pairs, counts)
        The ratio that was predicted for W.
    """

    names: tuple[str, ...]
    label_counts: tuple[int, ...]
    base: Array
    l2t: Array
    always: Array
    transferred: Array
    predicted: Array

    def mean(self, ratios: Array) -> Array:
        """Return the mean over pairs; NaN where no target was large enough for a count."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a mean of nothing
            return np.asarray(np.nanmean(ratios, axis=-2))

    def standard_error(self, ratios: Array) -> Array:
        """Return the standard error of the mean over pairs."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            spread = np.nanstd(ratios, axis=-2, ddof=1)
        return np.asarray(spread / np.sqrt(np.isfinite(ratios).sum(axis=-2).clip(1)))

    def p_values(self) -> Array:
        """Return (algorithms, counts): two-sided paired t-tests of L2T against each algorithm."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            tested = [ttest_rel(self.l2t, base, axis=0, nan_policy="omit") for base in self.base]
        return np.array([np.asarray(each.pvalue, dtype=np.float64) for each in tested])

    def markdown(self) -> str:
        """Return the table of means; L2T is compared with the best base algorithm at each count."""
        means = self.mean(self.base)
        counts = " | ".join(str(count) for count in self.label_counts)
        lines = [f"| labels | {counts} |", "|---" * (len(self.label_counts) + 1) + "|"]
        for name, row in zip(self.names, means, strict=True):
            lines.append(f"| {name.upper()} | {_cells(row)} |")
        lines.append(f"| L2T's W, always | {_cells(self.mean(self.always))} |")
        told = zip(self.mean(self.l2t), self.standard_error(self.l2t), strict=True)
        lines.append("| **L2T** | " + " | ".join(_cell(m, e) for m, e in told) + " |")
        best = np.where(np.isnan(means), -np.inf, means).argmax(axis=0)
        p = self.p_values()[best, np.arange(len(best))]
        against = [
            f"{self.names[b].upper()}, p {value:.0e}" if np.isfinite(value) else "–"
            for b, value in zip(best, p, strict=True)
        ]
        lines.append(f"| best base, p against it | {' | '.join(against)} |")
        lines.append(f"| predicted for W | {_cells(self.mean(self.predicted))} |")
        shares = [
            f"{100 * share:.0f} %" if np.isfinite(share) else "–"
            for share in self.mean(self.transferred)
        ]
        lines.append(f"| verdict: transfer | {' | '.join(shares)} |")
        return "\n".join(lines)


def measure_transfer(
    pairs: Sequence[DomainPair],
    reflection: ReflectionFunction,
    *,
    names: Sequence[str] | None = None,
    label_counts: Sequence[int] = (3, 15, 30, 60, 120),
    n_draws: int = 10,
    n_jobs: int = 1,
    random_state: int = 0,
    progress: bool = True,
) -> TransferStudy:
    """Compare L2T with base algorithms on pairs whose targets carry labels for scoring."""
    chosen = tuple(algorithms.names() if names is None else names)
    counts = tuple(label_counts)
    tasks = (
        (i, pair, reflection, chosen, counts, n_draws, random_state) for i, pair in enumerate(pairs)
    )
    rows: dict[int, Array] = {}
    with progress_bar(len(pairs), "testing", shown=progress) as advance:
        for index, found in choose_executor(n_jobs, None).map(_measured, tasks):
            rows[index] = found
            advance("testing")
    table = np.stack([rows[i] for i in range(len(pairs))], axis=1)
    base, others = table[: len(chosen)], table[len(chosen) :]
    return TransferStudy(chosen, counts, base, *others)


def _measured(
    task: tuple[int, DomainPair, ReflectionFunction, tuple[str, ...], tuple[int, ...], int, int],
) -> tuple[int, Array]:
    """Return one pair's (algorithms + 4, counts)."""
    index, pair, reflection, names, wanted, n_draws, seed = task
    # The search sees no label at all; y is for scoring, and for the votes of the drawn rows.
    X, codes = pair.target.X, pair.target.codes
    unlabelled = DomainPair(pair.source, Domain(X, name=pair.target.name))

    def scores(Z: npt.NDArray[np.floating], counts: Sequence[int]) -> Array:
        found = evaluate(Z, codes, label_counts=counts, n_draws=n_draws, random_state=seed)
        return np.asarray(found.scores)

    counts = evaluate(X, codes, label_counts=wanted, n_draws=1).label_counts
    at = [wanted.index(count) for count in counts]
    before = scores(X, counts)
    rows = np.full((len(names) + 4, len(wanted)), np.nan)
    for i, name in enumerate(names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", L2TWarning)
            W = algorithms.make(name, random_state=seed).fit(pair).W
        rows[i, at] = scores(X @ W, counts).mean(axis=1) / before.mean(axis=1)
    found: dict[object, tuple[npt.NDArray[np.floating], Array]] = {}
    for i, count in zip(at, counts, strict=True):
        plan = reflection.plan(count)
        result = infer(unlabelled, reflection, n_labels=count, plan=plan, random_state=seed)
        if plan not in found:
            found[plan] = result.W, scores(X @ result.W, counts)
        W, all_after = found[plan]
        after, without = all_after[counts.index(count)], before[counts.index(count)]
        use = np.zeros(n_draws, dtype=bool)
        for draw, rows_drawn in enumerate(labeled_draws(codes, count, n_draws, seed)):
            vote = triple_vote(_marked(pair, rows_drawn), W)
            use[draw] = decide(reflection.rule, result.predicted, vote)[0] == "transfer"
        taken = np.where(use, after, without)
        rows[len(names) :, i] = (
            taken.mean() / without.mean(),
            after.mean() / without.mean(),
            use.mean(),
            result.predicted,
        )
    return index, rows


def _marked(pair: DomainPair, rows: npt.NDArray[np.intp]) -> DomainPair:
    """Return the pair with these target rows as the only ones, all of them labelled."""
    drawn = pair.target.take(rows)
    return replace(
        pair,
        target=Domain(drawn.X, drawn.y, labeled=np.ones(len(rows), dtype=bool), name=drawn.name),
    )


def _cells(values: Array) -> str:
    return " | ".join("–" if np.isnan(value) else f"{value:.3f}" for value in values)


def _cell(mean: float, error: float) -> str:
    return "–" if np.isnan(mean) else f"**{mean:.3f}** ± {error:.3f}"
