"""The agent, with the methods ask, tell, observe and practise."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from l2t.agent.adopting import Adopted, adopt
from l2t.agent.knowledge import Knowledge, refine
from l2t.agent.suggestion import (
    Suggestion,
    explore,
    reported_score,
    scored_run,
    store_suggestion,
    unscored_run,
)
from l2t.algorithms.base import dense_factor, plain_params
from l2t.domains import Domain, DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, FunctionVersion, Run, measure_run
from l2t.inference import infer
from l2t.paper import ReflectionFunction
from l2t.validation import instance_of, real_number, seed, whole_number

PRACTICE_COUNTS = (3, 15, 30, 60, 120)


class Agent:
    """An agent that suggests what to transfer, and learns from the outcomes.

    All state is in the store, so all users of a store share one agent. The classes of labelled past targets
    are used as known classes (`KnownClasses`), and the reflection function is learned again from the
    outcomes.

    Parameters
    ----------
    store : ExperienceStore
        The store of experiences, suggestions and versions of the reflection function.
    reflection : ReflectionFunction, str, path or None, default="default"
        The first version of the reflection function: a function, the name of one that ships with the package,
        or a file; None to learn the first one from the store. Ignored if the store has versions already.
    refine_every : int, default=20
        The number of new runs after which the reflection function is learned again.
    explore : float, default=0.0
        The probability that `ask` suggests another candidate or base algorithm at random, instead of the best
        candidate.
    background : bool, default=False
        Whether to learn in a background thread; `wait` waits for it.
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
    """

    def __init__(
        self,
        store: ExperienceStore,
        *,
        reflection: ReflectionFunction | str | os.PathLike[str] | None = "default",
        refine_every: int = 20,
        explore: float = 0.0,
        background: bool = False,
        random_state: int = 0,
    ) -> None:
        if not isinstance(reflection, ReflectionFunction | str | os.PathLike | None):
            raise InvalidInputError(
                "reflection must be a ReflectionFunction, a name, a path or None, "
                f"got {type(reflection).__name__}"
            )
        self.store = instance_of("store", store, ExperienceStore)
        self.refine_every = whole_number("refine_every", refine_every, least=1)
        self.explore = real_number("explore", explore, least=0, most=1)
        self.random_state = seed(random_state)
        self._knowledge = Knowledge(store, reflection)
        self._not_enough = 0  # number of new runs at the last attempt, if they were too few
        self._pool = ThreadPoolExecutor(1, "l2t-agent") if background else None
        self._refining: list[Future[FunctionVersion | None]] = []

    @property
    def version(self) -> int:
        """The version of the reflection function in use; 0 if there is none yet."""
        return self._knowledge.function()[0]

    @property
    def reflection(self) -> ReflectionFunction | None:
        """The reflection function in use; None if there is none yet."""
        return self._knowledge.function()[1]

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
        version, function = self._knowledge.function()
        options = self._options(pair, function, n_classes) | {"n_labels": n_labels}
        found = infer(pair, callback=callback, **options)
        candidate = explore(pair, found, self.explore, **options)
        reason = found.reason
        if candidate.name != found.choice:
            reason = f"{candidate.name} is tried for exploration; otherwise: {reason}"
        W = dense_factor(pair, candidate.W)
        params = {"version": version, "known_classes": options["known"].n_classes}
        run = unscored_run(pair, candidate.name, params, W, self.random_state, start)
        record = store_suggestion(self.store, run, candidate, reason, found.n_labels)
        return Suggestion(**vars(record), W=np.array(W), inference=found)

    def suggestion(self, id: str) -> Suggestion:
        """Return an earlier suggestion.

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

    def tell(
        self,
        suggestion: Suggestion | str,
        accuracy_before: float,
        accuracy_after: float,
        n_labels: int | None = None,
        *,
        correct: bool = False,
    ) -> Run:
        """Report the outcome of a suggestion, which becomes an experience.

        Measure both accuracies on the same test rows: on X, and on X W. Suggestions without a reported
        outcome are not learned from.

        Parameters
        ----------
        suggestion : Suggestion or str
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
        id = suggestion.id if isinstance(suggestion, Suggestion) else suggestion
        record = self.store.suggestion(id)
        run = self.store.suggested_run(record.id)
        n_labels = record.n_labels if n_labels is None else n_labels
        score = reported_score(run.pair, n_labels, accuracy_before, accuracy_after)
        done = scored_run(run, score, record.id)
        if self.store.complete_suggestion(record.id, done):
            self._learn()
            return done
        earlier = self.store.run(self.store.suggestion(record.id).run or "")
        if earlier.scores != (score,):
            if correct:
                self.store.delete(key=earlier.key)  # which opens the suggestion again
                return self.tell(suggestion, accuracy_before, accuracy_after, n_labels)
            (first,) = earlier.scores
            raise InvalidInputError(
                f"the outcome of suggestion {record.id} must be reported once, and was reported before with "
                f"accuracies {first.accuracy_before:g} and {first.accuracy_after:g} at {first.n_labels} "
                f"labels, got {accuracy_before:g} and {accuracy_after:g} at {n_labels}; "
                "correct=True (--correct) replaces it"
            )
        return earlier

    def observe(
        self,
        pair: DomainPair,
        algorithm: Any,
        accuracy_before: float | None = None,
        accuracy_after: float | None = None,
        n_labels: int | Sequence[int] | None = None,
        *,
        name: str | None = None,
    ) -> Run:
        """Record the outcome of any algorithm or W for a pair.

        Parameters
        ----------
        pair : DomainPair
            The domains.
        algorithm : str, Algorithm, W, LatentFactors, transformer or function
            The algorithm (`adopt`).
        accuracy_before : float, optional
            Accuracy on X, from 0 to 1. By default both accuracies are measured with the target's labels
            (`evaluate`), as in `collect`.
        accuracy_after : float, optional
            Accuracy on X W, from 0 to 1.
        n_labels : int or sequence of int, optional
            The number of labelled target rows, needed with accuracies. Without them several are allowed; by
            default (3, 15, 30, 60, 120).
        name : str, optional
            The name under which the experience is recorded.

        Returns
        -------
        Run
            Its status is "failed", with the reason, if the algorithm could not be measured on this pair.
        """
        instance_of("pair", pair, DomainPair)
        used = adopt(algorithm, name, random_state=self.random_state)
        if isinstance(used, Adopted) and callable(used.given):
            used = replace(used, given=used.fit(pair).W)
        if (accuracy_before is None) != (accuracy_after is None):
            raise InvalidInputError(
                "accuracy_before and accuracy_after must be given both or neither, "
                f"got {accuracy_before!r} and {accuracy_after!r}"
            )
        if accuracy_before is None or accuracy_after is None:
            counts = PRACTICE_COUNTS if n_labels is None else np.atleast_1d(n_labels).tolist()
            run = measure_run(pair, used, label_counts=counts, random_state=self.random_state)
        else:
            score = reported_score(pair, n_labels, accuracy_before, accuracy_after)
            start = time.perf_counter()
            W, params = used.fit(pair).W, plain_params(used)
            unscored = unscored_run(pair, used.name, params, W, self.random_state, start)
            run = scored_run(unscored, score)
        self.store.add(run)
        self._learn()
        return run

    def practise(
        self, pairs: Iterable[DomainPair], label_counts: Sequence[int] = PRACTICE_COUNTS
    ) -> list[Run]:
        """Infer on labelled pairs, measure the choices, and learn from them.

        Parameters
        ----------
        pairs : iterable of DomainPair
            Pairs with labelled targets; the labels are used only for measuring.
        label_counts : sequence of int, default=(3, 15, 30, 60, 120)
            The numbers of labelled target rows; those with the same choice share a run.

        Returns
        -------
        list of Run
            One for each pair and each candidate that was chosen for it.
        """
        done = []
        for pair in pairs:
            bare = DomainPair(pair.source, Domain(pair.target.X, name=pair.target.name))
            options = self._options(pair, self.reflection, max(len(pair.target.classes), 2))
            counts: dict[str, list[int]] = {}
            for count in label_counts:
                found = infer(bare, n_labels=count, **options)
                counts.setdefault(found.choice, []).append(count)
            for choice, chosen_at in counts.items():
                W = dense_factor(pair, found.candidates[choice].W)  # the same at every count
                done.append(self.observe(pair, W, n_labels=chosen_at, name=choice))
        return done

    def refine(self) -> FunctionVersion | None:
        """Learn the reflection function again now; return None if there are too few new runs."""
        self._knowledge.function()  # stores the initial function as version 1
        return refine(self.store, random_state=self.random_state)

    def versions(self) -> list[FunctionVersion]:
        """Return every version of the reflection function, the oldest first."""
        self._knowledge.function()
        return self.store.functions()

    def roll_back(self, version: int) -> FunctionVersion:
        """Use an earlier version again, until a later one has a lower validation error.

        Parameters
        ----------
        version : int
            The number of the version.

        Returns
        -------
        FunctionVersion
            The same function as the newest version.
        """
        return self._knowledge.roll_back(version)

    def wait(self) -> None:
        """Wait for background learning; its errors are raised here, or by the next report."""
        refining, self._refining = self._refining, []
        for each in refining:
            each.result()

    def close(self) -> None:
        """Wait for background learning and stop the thread; the store stays open."""
        if self._pool is not None:
            self.wait()
            self._pool.shutdown()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Agent({self.store!r})"

    def _options(
        self, pair: DomainPair, function: ReflectionFunction | None, n_classes: int | None
    ) -> dict[str, Any]:
        """Return the arguments of `infer`; without a forecast the function that ships is used."""
        has_forecast = function is not None and function.forecast is not None
        return {
            "reflection": function if has_forecast else None,
            "known": self._knowledge.classes(pair.n_features),
            "n_classes": n_classes,
            "shared": False,  # outcomes are of classifiers trained on the target
            "random_state": self.random_state,
        }

    def _learn(self) -> None:
        """Learn again if there are enough new runs, in the background if there is a thread."""
        if self._pool is None:
            self._refine_if_due()
        else:
            # Even while one is running, as that does not use outcomes reported after it started.
            self._refining.append(self._pool.submit(self._refine_if_due))
            if self._refining[0].done():
                self._refining.pop(0).result()

    def _refine_if_due(self) -> FunctionVersion | None:
        least = self._not_enough + self.refine_every
        if len(self.store.unused_runs(least)) < least:
            return None
        version = self.refine()
        self._not_enough = 0 if version is not None else len(self.store.unused_runs(least))
        return version
