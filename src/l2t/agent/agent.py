"""The agent, with the methods ask, tell and list."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from l2t.agent.suggestion import (
    Suggestion,
    new_suggestion,
    reported_score,
    scored_run,
    unscored_run,
)
from l2t.algorithms.base import dense_factor
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, Run, SuggestionRecord
from l2t.inference import infer
from l2t.paper import Reflection
from l2t.validation import instance_of, seed


class Agent:
    """An agent that suggests what to transfer, and records the outcomes as experiences.

    All state is in the store, so all users of a store share one agent. It gets better with experience in two
    ways: the classes of labelled past targets are known classes for the next suggestion (`KnownClasses`), and
    `learn` learns from the reported outcomes, as from all experiences.

    Parameters
    ----------
    store : ExperienceStore
        The store of experiences and suggestions. It also caches rehearsals.
    reflection : ReflectionFunction, str, path or None, default=None
        The predictor of improvement ratios, as for `infer`; by default the one that ships with the package.
    random_state : int, default=0
        The seed.

    Examples
    --------
    >>> import l2t
    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1, n_classes=5)[0]
    >>> agent = l2t.Agent(l2t.open_store("memory://"))
    >>> suggestion = agent.ask(pair, n_labels=5)
    >>> Z = suggestion.transform(pair.target)  # label, train and measure as usual
    >>> run = agent.tell(suggestion, accuracy_before=0.61, accuracy_after=0.68)
    >>> [record.outcome.accuracy_after for record in agent.list()]
    [0.68]
    """

    def __init__(
        self,
        store: ExperienceStore,
        *,
        reflection: Reflection | str | os.PathLike[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.store = instance_of("store", store, ExperienceStore)
        self.reflection = reflection
        self.random_state = seed(random_state)

    def ask(
        self,
        pair: DomainPair,
        n_labels: int | None = None,
        *,
        n_classes: int | None = None,
        callback: Callable[[str], None] | None = None,
    ) -> Suggestion:
        """Suggest what to transfer for a pair, and store the suggestion.

        Parameters
        ----------
        pair : DomainPair
            The domains. Labelled target rows are used as evidence (`infer`).
        n_labels : int, optional
            The number of target rows that are or will be labelled, as for `infer`.
        n_classes : int, optional
            The number of target classes, as for `infer`.
        callback : callable, optional
            Called with the name of each stage, as for `infer`.

        Returns
        -------
        Suggestion
            The choice, its W and expected improvement.
        """
        instance_of("pair", pair, DomainPair)
        start = time.perf_counter()
        inference = infer(
            pair,
            self.reflection,
            n_labels=n_labels,
            n_classes=n_classes,
            store=self.store,
            method="l2t",
            shared=False,  # outcomes are of classifiers trained on the target
            random_state=self.random_state,
            callback=callback,
        )
        W = dense_factor(pair, inference.W)
        duration = time.perf_counter() - start
        run = unscored_run(pair, inference.choice, W, self.random_state, duration)
        record = new_suggestion(pair, inference)
        while not self.store.add_suggestion(record, run):  # another suggestion has this id
            record = replace(record, id=secrets.token_hex(5))
        return Suggestion(**vars(record), W=np.array(W), inference=inference)

    def tell(
        self,
        suggestion: SuggestionRecord | str,
        accuracy_before: float,
        accuracy_after: float,
        n_labels: int | None = None,
        *,
        correct: bool = False,
    ) -> Run:
        """Report the outcome of a suggestion, which becomes an experience.

        Measure both accuracies on the same test rows: on X, and on X W.

        Parameters
        ----------
        suggestion : Suggestion, SuggestionRecord or str
            The suggestion, its id, or the beginning of that.
        accuracy_before : float
            Accuracy on X, from 0 to 1.
        accuracy_after : float
            Accuracy on X W, from 0 to 1.
        n_labels : int, optional
            The number of labelled target rows; by default the one that the suggestion was made for.
        correct : bool, default=False
            Whether to replace an outcome that was reported before.

        Returns
        -------
        Run
            The run that the suggestion became.

        Raises
        ------
        InvalidInputError
            Another outcome was reported before. Reporting the same outcome again has no effect.
        """
        record = self.store.suggestion(suggestion if isinstance(suggestion, str) else suggestion.id)
        run = self.store.suggested_run(record.id)
        n_labels = record.n_labels if n_labels is None else n_labels
        score = reported_score(run.pair, n_labels, accuracy_before, accuracy_after)
        if correct and record.run is not None and record.outcome != score:
            self.store.delete(key=record.run)  # which opens the suggestion again
        scored = scored_run(run, score, record.id)
        if self.store.complete_suggestion(record.id, scored):
            return scored
        earlier = self.store.suggestion(record.id)
        if earlier.outcome is not None and earlier.outcome != score:
            raise InvalidInputError(
                f"the outcome of suggestion {record.id} must be reported once, and was reported before with "
                f"accuracies {earlier.outcome.accuracy_before:g} and {earlier.outcome.accuracy_after:g} at "
                f"{earlier.outcome.n_labels} labels, got {accuracy_before:g} and {accuracy_after:g} at "
                f"{n_labels}; correct=True (--correct) replaces it"
            )
        return self.store.run(earlier.run or "")

    def list(self, *, open_only: bool = False) -> Sequence[SuggestionRecord]:
        """Return the suggestions of the store with their outcomes.

        Parameters
        ----------
        open_only : bool, default=False
            Whether to return only suggestions without a reported outcome.

        Returns
        -------
        sequence of SuggestionRecord
            First those without an outcome, each time the newest first. `suggestion` returns one with its W.
        """
        return self.store.suggestions(open_only=open_only)

    def suggestion(self, id: str) -> Suggestion:
        """Return an earlier suggestion with its W, to transform further rows.

        Parameters
        ----------
        id : str
            Its id, or the beginning of it.

        Returns
        -------
        Suggestion
            Without `inference`, which is not stored.
        """
        record = self.store.suggestion(id)
        W = self.store.suggested_run(record.id).W
        assert W is not None  # a run without W has failed
        return Suggestion(**vars(record), W=np.array(W))

    def __repr__(self) -> str:
        return f"Agent({self.store!r})"
