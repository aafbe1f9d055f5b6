"""The agent: ask, tell, observe, practise."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from l2t._version import __version__
from l2t.agent.adopting import Adopted, Own, adopt
from l2t.agent.answering import Explore, answer
from l2t.agent.knowledge import Knowledge
from l2t.agent.recording import keep_suggestion, score_of, scored_run, told_run
from l2t.agent.refining import refine
from l2t.agent.suggestion import Suggestion
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError
from l2t.experiences import ExperienceStore, FunctionVersion, Run, measure_run
from l2t.inference import Step
from l2t.inference.search import label_count
from l2t.reflection import ReflectionFunction
from l2t.validation import instance_of, real_number, seed, whole_number

__all__ = ["Agent"]

PRACTICE_COUNTS = (3, 15, 30, 60, 120)


class Agent:
    """L2T that learns from what came of its suggestions.

    The agent lives in its store: its suggestions, experiences and every version of its function are there, so
    that any number of people, processes and machines that open the same store are one agent. It learns twice
    from what it is told: the function is refined, and the labelled targets of the newest experiences become
    the metric in which the search for W begins (`PastTargets`).

    Parameters
    ----------
    store : ExperienceStore
        Where everything is kept.
    reflection : ReflectionFunction, str, path or None
        What the agent begins with: a function, the name of one that ships with the package, or a file. None
        to begin with nothing: until there is enough to learn from, `ask` gives the W of a base algorithm, a
        random one from pair to pair, for a function is learned from how W's differ. Where the store has
        versions of a function already, the agent goes on from the one in use.
    refine_every : int
        After so many new runs the function is refined.
    explore : float or "upper"
        The probability with which `ask` gives the W of a random base algorithm instead of its own; or "upper"
        for the W, of its own and those of quick base algorithms, whose ratio may turn out highest.
        0 for none of this.
    background : bool
        Whether refining goes on in a thread while `tell` returns; `wait` ends when it has.
    random_state : int
        The seed of everything.

    Examples
    --------
    >>> import l2t
    >>> from l2t.domains import PairSampler, digits, mnist, normalize
    >>> pair = PairSampler(normalize(digits()), normalize(mnist()), 1)[0]
    >>> agent = l2t.Agent(l2t.open_store("memory://"))
    >>> suggestion = agent.ask(pair, n_labels=3)
    >>> Z = suggestion.transform(pair.target)  # label, train and measure as ever
    >>> run = agent.tell(suggestion, accuracy_before=0.61, accuracy_after=0.68)
    """

    def __init__(
        self,
        store: ExperienceStore,
        *,
        reflection: ReflectionFunction | str | os.PathLike[str] | None = "default",
        refine_every: int = 20,
        explore: Explore = 0.0,
        background: bool = False,
        random_state: int = 0,
    ) -> None:
        _check(store, reflection, refine_every, explore, random_state)
        self.store = store
        self.refine_every = refine_every
        self.explore: Explore = explore
        self.random_state = random_state
        self._knowledge = Knowledge(store, reflection)
        self._futile = 0  # new runs that were too few when it was last tried
        self._pool = ThreadPoolExecutor(1, "l2t-agent") if background else None
        self._refining: Future[FunctionVersion | None] | None = None

    @property
    def version(self) -> int:
        """The number of the function in use; 0 where nothing has been learned yet."""
        known = self._knowledge.function()
        return 0 if known is None else known.number

    @property
    def reflection(self) -> ReflectionFunction | None:
        """The function in use; None where nothing has been learned yet."""
        known = self._knowledge.function()
        return None if known is None else known.function

    def ask(
        self,
        pair: DomainPair,
        n_labels: int | None = None,
        *,
        callback: Callable[[Step], None] | None = None,
    ) -> Suggestion:
        """Return what to transfer for a pair; the suggestion is kept until its outcome is told.

        Parameters
        ----------
        pair : DomainPair
            The domains. Target rows that are marked as labelled vote on the verdict.
        n_labels : int, optional
            How many labelled target rows there are or will be; follows from the marked ones.
        callback : callable, optional
            Watches the search, as that of `infer` does.
        """
        instance_of("pair", pair, DomainPair)
        start = time.perf_counter()
        n_labels = label_count(pair, n_labels)
        known = self._knowledge.function()
        function = known.function if known else None
        past = self._knowledge.past(pair.n_features)
        found = answer(pair, n_labels, function, past, self.explore, self.random_state, callback)
        run = Run(
            pair=pair,
            algorithm=found.algorithm,
            params={
                "version": known.number if known else 0,
                "past_classes": past.n_classes if past else 0.0,
            },
            random_state=self.random_state,
            protocol={},
            status="done",
            W=found.W,
            statistics=found.statistics,
            duration=time.perf_counter() - start,
            version=__version__,
            host=socket.gethostname(),
            origin="told",
        )
        return Suggestion.of(
            keep_suggestion(self.store, run, found, n_labels), found.W, found.inference
        )

    def suggestion(self, id: str) -> Suggestion:
        """Return a suggestion that was made before, by its id or the beginning of it."""
        record = self.store.suggestion(id)
        W = self.store.suggested_run(record.id).W
        assert W is not None  # a run that is suggested has not failed
        return Suggestion.of(record, W)

    def tell(
        self,
        suggestion: Suggestion | str,
        accuracy_before: float,
        accuracy_after: float,
        n_labels: int | None = None,
    ) -> Run:
        """Tell the outcome of a suggestion: it becomes an experience.

        Both accuracies are to be measured on the same test rows. `accuracy_after` is that with X W, whatever
        the verdict was. Where W was not tried, as after "no-transfer", there is nothing to tell: equal
        accuracies would teach that W changes nothing. A suggestion whose outcome stays open teaches nothing.

        Parameters
        ----------
        suggestion : Suggestion or str
            What `ask` returned, its id, or the beginning of that.
        accuracy_before, accuracy_after : float
            Accuracy on X and on X W, from 0 to 1.
        n_labels : int, optional
            How many target rows were labelled, where `ask` was not told.

        Returns
        -------
        Run
            The run that the suggestion became.

        Raises
        ------
        InvalidInputError
            Another outcome was told before; the same outcome once more changes nothing.
        """
        id = suggestion.id if isinstance(suggestion, Suggestion) else suggestion
        record = self.store.suggestion(id)
        known = record.n_labels
        if n_labels not in (None, known) and known is not None:
            raise InvalidInputError(
                f"n_labels must be what the suggestion was made for ({known}), got {n_labels!r}"
            )
        run = self.store.suggested_run(record.id)
        score = score_of(run.pair, known or n_labels, accuracy_before, accuracy_after)
        done = scored_run(run, score, record.id)
        if self.store.complete_suggestion(record.id, done):
            self._learn()
            return done
        before = self.store.run(self.store.suggestion(record.id).run or "")
        if before.scores != (score,):
            (first,) = before.scores
            raise InvalidInputError(
                f"suggestion {record.id} must be told once, and was told before with accuracies "
                f"{first.accuracy_before:g} and {first.accuracy_after:g}, "
                f"got {accuracy_before:g} and {accuracy_after:g}"
            )
        return before

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
        """Record what any algorithm or W did for a pair.

        Parameters
        ----------
        pair : DomainPair
            The domains.
        algorithm : str, Algorithm, W, LatentFactors, transformer or function
            What was used (`adopt`).
        accuracy_before, accuracy_after : float, optional
            Accuracy on X and on X W, from 0 to 1. Without them the labels of the target are used to measure
            (`evaluate`), as in `collect`.
        n_labels : int or sequence of int
            The number of labelled target rows; several where they are measured here, by default 3 to 120.
        name : str, optional
            What the experience is kept under.

        Returns
        -------
        Run
            Failed, with its reason, where the algorithm could not do this pair.
        """
        instance_of("pair", pair, DomainPair)
        used = adopt(algorithm, name, random_state=self.random_state)
        if isinstance(used, Adopted):
            used = used.on(pair)
        if (accuracy_before is None) != (accuracy_after is None):
            raise InvalidInputError(
                "accuracy_before and accuracy_after must be given both or neither, "
                f"got {accuracy_before!r} and {accuracy_after!r}"
            )
        bank, r = self._knowledge.measures()
        if accuracy_before is None or accuracy_after is None:
            counts = PRACTICE_COUNTS if n_labels is None else np.atleast_1d(n_labels).tolist()
            run = measure_run(
                pair,
                used,
                label_counts=counts,
                kernels=bank,
                n_neighbors=r,
                random_state=self.random_state,
            )
        else:
            score = score_of(pair, n_labels, accuracy_before, accuracy_after)
            run = told_run(pair, used, score, bank, r, self.random_state)
        self.store.add(run)
        self._learn()
        return run

    def practise(
        self, pairs: Iterable[DomainPair], label_counts: Sequence[int] = PRACTICE_COUNTS
    ) -> list[Run]:
        """Try the agent's own suggestions on pairs whose targets carry labels, and learn from them.

        An optimised W is always expected to do too well where the function has seen no such W; what it
        really did is the cure. Label counts that are searched in the same way share one W.
        """
        done = []
        for pair in pairs:
            known = self._knowledge.function()
            if known is None:
                raise InvalidInputError(
                    "practise needs a function to practise with, got an agent that has learned nothing yet"
                )
            past = self._knowledge.past(pair.n_features)
            plans = {count: known.function.plan(count) for count in label_counts}
            for plan in dict.fromkeys(plans.values()):
                counts = [count for count in label_counts if plans[count] == plan]
                own = Own(known.function, known.number, past, counts[0], self.random_state)
                done.append(self.observe(pair, own, n_labels=counts))
        return done

    def refine(self) -> FunctionVersion | None:
        """Take in what is new now; None where there is too little of it, or another was quicker."""
        return refine(self.store, random_state=self.random_state)

    def versions(self) -> list[FunctionVersion]:
        """Return every version of the function, the oldest first."""
        self._knowledge.function()
        return self.store.functions()

    def go_back(self, version: int) -> FunctionVersion:
        """Take a version of before into use again; it becomes the newest one, and goes on learning.

        What was learned after it is left out, until all is next learned from anew.
        """
        return self._knowledge.go_back(version)

    def wait(self) -> None:
        """Wait until refining in the background has ended.

        What went wrong in it is raised here, or when the agent is next told something.
        """
        refining, self._refining = self._refining, None
        if refining is not None:
            refining.result()

    def close(self) -> None:
        """Wait, and end the thread of the background; the store stays open."""
        if self._pool is not None:
            self.wait()
            self._pool.shutdown()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Agent({self.store!r})"

    def _learn(self) -> None:
        """Refine when there is enough that is new."""
        if self._pool is None:
            self._refine_if_due()
        elif self._refining is None or self._refining.done():
            self.wait()
            self._refining = self._pool.submit(self._refine_if_due)

    def _refine_if_due(self) -> FunctionVersion | None:
        least = self._futile + self.refine_every
        if len(self.store.unused_runs(least)) < least:
            return None
        self._knowledge.function()
        version = self.refine()
        self._futile = 0 if version is not None else len(self.store.unused_runs(least))
        return version


def _check(store: Any, reflection: Any, refine_every: Any, explore: Any, random_state: Any) -> None:
    if not isinstance(store, ExperienceStore):
        raise InvalidInputError(
            f"store must be an ExperienceStore, such as l2t.open_store(...) gives, got {store!r:.80}"
        )
    if not isinstance(reflection, ReflectionFunction | str | os.PathLike | None):
        raise InvalidInputError(
            "reflection must be a ReflectionFunction, a name, a path or None, "
            f"got {type(reflection).__name__}"
        )
    whole_number("refine_every", refine_every, least=1)
    seed(random_state)
    if explore != "upper":
        real_number("explore", explore, least=0, most=1, otherwise=" or 'upper'")
