"""What an inference is worth to people who have labels for some rows: the verdict is theirs, draw by draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from l2t.domains import Domain, DomainPair
from l2t.experiences import Accuracies, evaluate, improvement_ratio
from l2t.experiences.evaluation import labeled_draws
from l2t.inference.verdict import decide, triple_vote
from l2t.reflection.plan import Rule
from l2t.typing import Array

__all__ = ["Outcome", "Trial", "labelled_rows", "without_labels"]


class Trial:
    """A pair whose target carries all its labels, to try inferences on.

    Parameters
    ----------
    pair : DomainPair
        The pair.
    label_counts : sequence of int
        Label counts; those that leave too few rows for testing are left out.
    n_draws, random_state : int
        Draws of labelled rows a count, and their seed.
    """

    def __init__(
        self, pair: DomainPair, label_counts: tuple[int, ...], n_draws: int, random_state: int
    ) -> None:
        self.pair = pair
        self._draws, self._seed = n_draws, random_state
        before = self._accuracies(pair.target.X, label_counts)
        self.label_counts, self._before, self._n_test = (
            before.label_counts,
            before.scores,
            np.array(before.n_test),
        )

    @property
    def accuracy_before(self) -> Array:
        """The mean accuracies (counts,) on X itself."""
        return np.asarray(self._before.mean(axis=1))

    def ratios(self, Z: npt.NDArray[np.floating]) -> Array:
        """Return the ratios (counts,) of the mean accuracies on Z over those on X."""
        after = self._accuracies(Z, self.label_counts)
        return improvement_ratio(self.accuracy_before, after.mean, self._n_test)

    def outcome(
        self, W: npt.NDArray[np.floating], predicted: float, rule: Rule, n_labels: int
    ) -> Outcome:
        """Return what W is worth at a number of labels, each draw of labelled rows deciding for itself."""
        target = self.pair.target
        at = self.label_counts.index(n_labels)
        without, n_test = self._before[at], self._n_test[at]
        after = self._accuracies(target.X @ W, (n_labels,)).scores[0]
        use = np.zeros(self._draws, dtype=bool)
        draws = labeled_draws(target.codes, n_labels, self._draws, self._seed)
        for i, rows in enumerate(draws):
            vote = triple_vote(labelled_rows(self.pair, rows), W)
            use[i] = decide(rule, predicted, vote)[0] == "transfer"
        return Outcome(
            float(improvement_ratio(without.mean(), np.where(use, after, without).mean(), n_test)),
            float(improvement_ratio(without.mean(), after.mean(), n_test)),
            float(use.mean()),
            float(np.mean(np.where(use, after >= without, after <= without))),
            float(np.mean(~use & (after <= without))),
        )

    def _accuracies(self, Z: npt.NDArray[np.floating], label_counts: tuple[int, ...]) -> Accuracies:
        """Return the accuracies of 1-NN on the rows of Z."""
        return evaluate(
            Z,
            self.pair.target.codes,
            label_counts=label_counts,
            n_draws=self._draws,
            groups=self.pair.target.group_codes,
            random_state=self._seed,
        )


@dataclass(frozen=True)
class Outcome:
    """What an inference was worth.

    Attributes
    ----------
    ratio : float
        With W where the verdict was to transfer, and X elsewhere, over X.
    always : float
        With W whatever the verdict.
    transferred : float
        The share of draws in which the verdict was to transfer.
    right : float
        The share of draws in which the verdict was right by the test rows: to transfer where W is no worse,
        not to where it is no better.
    refused_rightly : float
        The share of draws in which it was right not to transfer.
    """

    ratio: float
    always: float
    transferred: float
    right: float
    refused_rightly: float


def without_labels(pair: DomainPair) -> DomainPair:
    """Return the pair as the search may see it: with no label of the target at all."""
    target = pair.target
    return DomainPair(pair.source, Domain(target.X, name=target.name))


def labelled_rows(pair: DomainPair, rows: npt.NDArray[np.intp]) -> DomainPair:
    """Return the pair with these target rows alone, all of them labelled."""
    known = pair.target.take(rows)
    target = Domain(known.X, known.y, labeled=np.ones(len(rows), dtype=bool), name=known.name)
    return DomainPair(pair.source, target)
