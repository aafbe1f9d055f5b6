"""Collection: run algorithms on pairs, evaluate each W, and store every run.

The unit of work is the run (pair, algorithm, parameters, seed, protocol), identified by its content: a run
that the store has is not repeated. A run that fails by its mathematics is stored with its reason, and never
stops the others; one that fails for lack of memory or disk, or with its worker, is not stored: it may succeed
next time. The runs of one pair are one task: they share its span and its accuracy without transfer.

Where source and target have classes in common, every W is also scored with the classifier trained on the
labelled rows of the source (0 labels, tested on target rows of the source's classes) and of both.
"""

from __future__ import annotations

import socket
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from l2t._version import __version__
from l2t.algorithms import Algorithm, LatentFactors, make_all
from l2t.domains import DomainPair
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning
from l2t.experiences.evaluation import (
    LABEL_COUNTS,
    MIN_TEST_ROWS,
    Accuracies,
    evaluate,
    improvement_ratio,
)
from l2t.experiences.executors import MAX_LOST, Executor
from l2t.experiences.experience import Run, Score, TrainedOn, run_key
from l2t.experiences.heartbeat import Heartbeat
from l2t.experiences.store import ExperienceStore, Packed, pack
from l2t.progress import progress_bar
from l2t.statistics import KernelBank, pair_statistics
from l2t.typing import Indices

#: Errors of the machine, not of the run: it may succeed next time.
TRANSIENT = (MemoryError, OSError)


@dataclass(frozen=True)
class Collection:
    """The numbers of runs that a collection added, by status, and found in the store, and its duration.

    `lost` has a reason for each run that was not done: lack of memory or disk, or killed workers.
    """

    done: int
    failed: int
    already_there: int
    seconds: float
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Protocol:
    """How runs are measured; every field is part of a run's key."""

    label_counts: tuple[int, ...]
    n_draws: int = 10
    kernels: KernelBank = field(default_factory=KernelBank)
    n_neighbors: int = 5
    classifier: Any = None

    def as_json(self) -> dict[str, Any]:
        """Return the protocol as plain values."""
        lists = {"label_counts": [*self.label_counts], "kernels": [*astuple(self.kernels)]}
        name = "1-nn" if self.classifier is None else repr(self.classifier)
        return vars(self) | lists | {"classifier": name}


@dataclass(frozen=True, eq=False)
class _Task:
    """The runs of one pair that are still to be done."""

    pair: DomainPair
    algorithms: tuple[Algorithm, ...]
    random_state: int
    protocol: _Protocol
    shared: bool = True

    def missing_in(self, store: ExperienceStore, retry_failed: bool) -> _Task:
        """Return the task without the runs that the store has; failed ones are deleted to be done again."""
        work = (self.random_state, self.protocol.as_json())
        keys = {run_key(self.pair, a.name, _params(a), *work): a for a in self.algorithms}
        if retry_failed and store.count(key=list(keys), status="failed"):
            store.delete(key=list(keys), status="failed")
        there = store.keys(keys)
        return replace(self, algorithms=tuple(keys[key] for key in keys if key not in there))

    @cached_property
    def source_codes(self) -> Indices | None:
        """The classes of source rows by the target's codes, -1 where unlabelled; None if none is shared.

        Classes that the target does not have come after its own.
        """
        source, target = self.pair.source, self.pair.target
        place = {name: code for code, name in enumerate(target.classes)}
        names = [place.setdefault(name, len(place)) for name in source.classes]
        known = source.labeled_rows(default=True) & (source.codes >= 0)
        codes = np.where(known, np.array([*names, -1])[source.codes], -1)
        several = len(np.unique(codes[known])) > 1
        n_test = np.isin(target.codes, codes[known]).sum()
        return codes if self.shared and several and n_test >= MIN_TEST_ROWS else None

    def accuracies(self, factors: LatentFactors | None = None) -> dict[TrainedOn, Accuracies]:
        """Return the accuracies on the features as they are, or under W."""
        (source, target), protocol = (self.pair.source, self.pair.target), self.protocol
        how: Any = {"classifier": protocol.classifier, "random_state": self.random_state}
        some = how | {"label_counts": protocol.label_counts, "n_draws": protocol.n_draws}
        some["groups"] = target.group_codes
        Z = target.X if factors is None else target.X @ factors.W
        found: dict[TrainedOn, Accuracies] = {"target": evaluate(Z, target.codes, **some)}
        if (codes := self.source_codes) is not None:
            rows = codes >= 0
            X = source.X[rows]
            labelled = X if factors is None else X @ factors.source_W, codes[rows]
            tested = np.where(np.isin(target.codes, codes[rows]), target.codes, -1)
            alone: Any = {"label_counts": (0,), "n_draws": 1, "source": labelled}
            found["source"] = evaluate(Z, tested, **how, **alone)
            found["both"] = evaluate(Z, target.codes, source=labelled, **some)
        return found


def collect(
    pairs: Sequence[DomainPair] | Iterable[DomainPair],
    store: ExperienceStore,
    *,
    algorithms: str | Sequence[str | Algorithm] = "all",
    one_per_pair: bool = False,
    n_components: int | None = None,
    label_counts: Sequence[int] = LABEL_COUNTS,
    n_draws: int = 10,
    kernels: KernelBank | None = None,
    n_neighbors: int = 5,
    classifier: Any = None,
    n_jobs: int = 1,
    cluster: Any = None,
    retry_failed: bool = False,
    shared: bool = True,
    random_state: int = 0,
    progress: bool = True,
) -> Collection:
    """Run algorithms on pairs and add every run to a store.

    Parameters
    ----------
    pairs : sequence or iterable of DomainPair
        Pairs whose targets carry labels for scoring, such as a `PairSampler`.
    store : ExperienceStore
        Where runs are kept; what is there already is not done again.
    algorithms : "all", or a sequence of names or algorithms, default="all"
        What to run.
    one_per_pair : bool, default=False
        Run one random algorithm per pair, as the paper does, instead of all of them.
    n_components : int, optional
        For algorithms given by name; by default what each has as its own.
    label_counts, n_draws, classifier : sequence of int, int, classifier, default=(3, ..., 120), 10 and None
        How a W is scored (`evaluate`).
    kernels, n_neighbors : KernelBank, int, default=None and 5
        The statistics that are stored with a run (`pair_statistics`).
    n_jobs : int, default=1
        Local processes, -1 for all cores; BLAS is kept to one thread in each.
    cluster : str or dask.distributed.Client, optional
        A Dask cluster to work on instead, such as ``"tcp://scheduler:8786"``.
    retry_failed : bool, default=False
        Whether runs that the store has as failed are deleted and done again.
    shared : bool, default=True
        Whether equal labels of source and target mean equal classes: then every W is scored with the
        classifier trained on the source and on both as well (`Score.trained_on`).
    random_state : int, default=0
        The seed of algorithms, draws, pairings, and of the choice of `one_per_pair`.
    progress : bool, default=True
        Whether to show a progress bar on standard error.

    Returns
    -------
    Collection
        How many runs were added, failed, or were there already.
    """
    settings = {"n_components": n_components, "random_state": random_state}
    chosen = make_all("algorithms", algorithms, **settings)
    if not chosen:
        raise InvalidInputError("algorithms must be one or more, got none")
    bank = KernelBank() if kernels is None else kernels
    protocol = _Protocol(tuple(map(int, label_counts)), n_draws, bank, n_neighbors, classifier)
    executor, start = Executor(n_jobs, cluster), time.perf_counter()
    counts = {"done": 0, "failed": 0, "already_there": 0}
    lost: list[str] = []
    each = 1 if one_per_pair else len(chosen)
    total = len(pairs) * each if isinstance(pairs, Sequence) else None
    with (
        Heartbeat(store, total) as heart,
        progress_bar(total, "collecting", shown=progress) as advance,
    ):

        def tasks() -> Iterator[_Task]:
            for index, pair in enumerate(pairs):
                wanted = _one_of(chosen, index, random_state) if one_per_pair else chosen
                whole = _Task(pair, wanted, random_state, protocol, shared)
                task = whole.missing_in(store, retry_failed)
                for _ in range(len(wanted) - len(task.algorithms)):
                    counts["already_there"] += 1
                    advance("already there")
                heart.beat(counts)
                if task.algorithms:
                    yield task

        def give_up(task: _Task) -> None:
            lost.extend([f"{MAX_LOST} workers were killed during them"] * len(task.algorithms))

        latest = ""
        for packed, reasons in executor.map(_perform, tasks(), give_up):
            lost += reasons
            new = store.add_packed(packed)
            for key, row in packed.runs.items():
                counts[row["status"] if key in new else "already_there"] += 1
                advance(row["algorithm"])
                latest = f"{row['algorithm']}: {row['source_name']} -> {row['target_name']}"
            heart.beat(counts, latest)
    return Collection(**counts, seconds=time.perf_counter() - start, lost=tuple(lost))


def measure_run(
    pair: DomainPair, algorithm: Algorithm, *, label_counts: Sequence[int], random_state: int = 0
) -> Run:
    """Return one run, measured as `collect` does with the target's labels alone.

    An error becomes its reason, unless it may pass.
    """
    protocol = _Protocol(tuple(int(count) for count in label_counts))
    task = _Task(pair, (algorithm,), random_state, protocol, shared=False)
    return _run(task, algorithm, _before(task))


def _one_of(chosen: tuple[Algorithm, ...], index: int, random_state: int) -> tuple[Algorithm, ...]:
    """Return one random algorithm, which depends on the seed and the number of the pair alone."""
    rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(index,)))
    return (chosen[int(rng.integers(len(chosen)))],)


def _params(algorithm: Algorithm) -> Mapping[str, Any]:
    """Return the parameters of an algorithm; one of a plug-in may have none."""
    return dict(getattr(algorithm, "params", {}))


def _perform(task: _Task) -> tuple[Packed, list[str]]:
    """Do the runs of one pair; pack them here, to spare the writer, beside reasons of lost ones."""
    before, done, reasons = _before(task), [], []
    for algorithm in task.algorithms:
        try:
            done.append(_run(task, algorithm, before))
        except TRANSIENT as error:
            reasons.append(_reason(error))
    return pack(done), reasons


def _before(task: _Task) -> dict[TrainedOn, Accuracies] | Exception:
    """Return the accuracies without transfer, or why there are none."""
    try:
        return task.accuracies()
    except (L2TError, *TRANSIENT) as error:
        return error


def _run(task: _Task, algorithm: Algorithm, before: dict[TrainedOn, Accuracies] | Exception) -> Run:
    """Return one run; an error becomes its reason, unless it may pass."""
    start = time.perf_counter()
    found: dict[str, Any]
    try:
        if isinstance(before, Exception):
            raise before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", L2TWarning)  # a clipped W shows in its shape
            found = _measured(task, algorithm, before)
    except TRANSIENT:
        raise
    except Exception as error:
        found = {"status": "failed", "reason": _reason(error)}
    return Run(
        pair=task.pair,
        algorithm=algorithm.name,
        params=_params(algorithm),
        random_state=task.random_state,
        protocol=task.protocol.as_json(),
        duration=time.perf_counter() - start,
        version=__version__,
        host=socket.gethostname(),
        **found,
    )


def _reason(error: Exception) -> str:
    """Return an error as one line."""
    kind = "" if isinstance(error, L2TError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split()) or type(error).__name__


def _measured(
    task: _Task, algorithm: Algorithm, before: dict[TrainedOn, Accuracies]
) -> dict[str, Any]:
    """Fit, compute the statistics, and score every label count."""
    factors = algorithm.fit(task.pair)
    statistics = pair_statistics(
        task.pair,
        factors.W,
        kernels=task.protocol.kernels,
        n_neighbors=task.protocol.n_neighbors,
        random_state=task.random_state,
    )
    scores: list[Score] = []
    for kind, after in task.accuracies(factors).items():
        both = before[kind], after
        columns = [each for of in both for each in (of.mean, of.standard_error)]
        ratio = improvement_ratio(before[kind].mean, after.mean, after.n_test)
        rows = np.column_stack([*columns, ratio]).tolist()
        for count, row in zip(after.label_counts, rows, strict=True):
            scores.append(replace(Score(count, *row), trained_on=kind))
    return {"status": "done", "W": factors.W, "statistics": statistics, "scores": tuple(scores)}
