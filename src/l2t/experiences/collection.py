"""Collection: run algorithms on pairs, evaluate each W, and store every run.

A run (pair, algorithm, parameters, seed, protocol) is identified by its content: a run that the store has is
not repeated. A run that fails is stored with its reason and does not stop the others; one that fails for lack
of memory or disk space, or because its worker was killed, is not stored, as it may succeed next time. The
runs of one pair are one task: they share its span and its accuracy without transfer.

If source and target have classes in common, each W is also scored with the classifier trained on the labelled
rows of the source (0 labels, tested on target rows of the source's classes) and of both.
"""

from __future__ import annotations

import socket
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from l2t._version import __version__
from l2t.algorithms import Algorithm, LatentFactors, make_all
from l2t.algorithms.base import dense_factor, plain_params
from l2t.domains import DomainPair
from l2t.domains.copies import Copies, join_copies, joint_groups
from l2t.domains.labels import label_key
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning
from l2t.experiences.evaluation import (
    LABEL_COUNTS,
    MIN_TEST_ROWS,
    Accuracies,
    evaluate,
    held_out_splits,
    improvement_ratio,
)
from l2t.experiences.executors import MAX_LOST, Executor
from l2t.experiences.experience import Run, Score, TrainedOn, run_key, sha256
from l2t.experiences.heartbeat import Heartbeat
from l2t.experiences.store import ExperienceStore, Packed, pack
from l2t.progress import progress_bar
from l2t.statistics import KernelBank, pair_statistics
from l2t.typing import Indices, JsonObject
from l2t.validation import whole_number

if TYPE_CHECKING:
    from distributed import Client
    from sklearn.base import ClassifierMixin

#: Errors of the machine: the run may succeed next time.
TRANSIENT = (MemoryError, OSError)


@dataclass(frozen=True)
class Collection:
    """The result of `collect`.

    Attributes
    ----------
    done, failed : int
        The number of runs that were added, by status.
    already_there : int
        The number of runs that the store had.
    seconds : float
        The duration.
    lost : tuple of str, default=()
        A reason for each run that was not completed: lack of memory or disk space, or killed workers.
    """

    done: int
    failed: int
    already_there: int
    seconds: float
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Protocol:
    """How runs are evaluated; all fields are part of the key of a run."""

    label_counts: tuple[int, ...]
    n_draws: int
    kernels: KernelBank
    n_neighbors: int
    classifier: ClassifierMixin | None

    def as_json(self) -> JsonObject:
        """Return the protocol as plain values."""
        lists = {"label_counts": [*self.label_counts], "kernels": [*astuple(self.kernels)]}
        name = "1-nn" if self.classifier is None else _text(self.classifier)
        return vars(self) | lists | {"classifier": name}


@dataclass(frozen=True, eq=False)
class _Task:
    """Runs of one pair to be executed."""

    pair: DomainPair
    algorithms: tuple[Algorithm, ...]
    random_state: int
    protocol: _Protocol
    shared: bool

    def missing_in(self, store: ExperienceStore, retry_failed: bool) -> _Task:
        """Return the task without the runs in the store, from which `retry_failed` deletes failed ones."""
        settings = (self.random_state, self.settings)
        keys = {run_key(self.pair, a.name, plain_params(a), *settings): a for a in self.algorithms}
        if retry_failed and store.count(key=list(keys), status="failed"):
            store.delete(key=list(keys), status="failed")
        stored = store.keys(keys)
        return replace(self, algorithms=tuple(keys[key] for key in keys if key not in stored))

    @cached_property
    def settings(self) -> JsonObject:
        """The protocol as plain values, marked if classes in common are not scored as such."""
        ignored = not self.shared and self.common_codes is not None
        return self.protocol.as_json() | ({"shared": False} if ignored else {})

    @cached_property
    def joined(self) -> Copies:
        """The domains, with copies of rows in one group."""
        return join_copies(self.pair.target, [self.pair.source])

    @cached_property
    def common_codes(self) -> Indices | None:
        """The classes of source rows as codes of the target, -1 if unlabelled; None without common classes.

        Classes that the target does not have get codes after those of the target. Source rows that are copies
        of target rows, or of their groups, count as unlabelled: they would tell the labels of tested rows.
        """
        source, target = self.pair.source, self.joined.target
        code_of = {label_key(name): code for code, name in enumerate(target.classes)}
        new_codes = [
            code_of.get(label_key(name), len(target.classes) + code)
            for code, name in enumerate(source.classes)
        ]
        of_target, of_source = joint_groups([target, *self.joined.sources])
        known = source.labeled_rows(default=True) & (source.codes >= 0)
        known &= ~np.isin(of_source, of_target)
        codes = np.where(known, np.array([*new_codes, -1])[source.codes], -1)
        several = len(np.unique(codes[known])) > 1
        n_test = np.isin(target.codes, codes[known]).sum()
        return codes if several and n_test >= MIN_TEST_ROWS else None

    def accuracies(self, factors: LatentFactors | None = None) -> dict[TrainedOn, Accuracies]:
        """Return the accuracies under W, or on the original features, for each kind of training rows."""
        (source, target), protocol = (self.pair.source, self.pair.target), self.protocol
        measure = partial(evaluate, classifier=protocol.classifier, random_state=self.random_state)
        measure_draws = partial(
            measure,
            label_counts=protocol.label_counts,
            n_draws=protocol.n_draws,
            groups=self.joined.target.group_codes,
        )
        Z = target.X if factors is None else target.X @ factors.W
        accuracies: dict[TrainedOn, Accuracies] = {"target": measure_draws(Z, target.codes)}
        if self.shared and (codes := self.common_codes) is not None:
            rows = codes >= 0
            X = source.X[rows]
            labelled = X if factors is None else X @ factors.source_W, codes[rows]
            tested = np.where(np.isin(target.codes, codes[rows]), target.codes, -1)
            accuracies["source"] = measure(Z, tested, label_counts=(0,), n_draws=1, source=labelled)
            accuracies["both"] = measure_draws(Z, target.codes, source=labelled)
        return accuracies


def collect(  # noqa: PLR0913
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
    classifier: ClassifierMixin | None = None,
    n_jobs: int = 1,
    cluster: str | Client | None = None,
    retry_failed: bool = False,
    shared: bool = True,
    random_state: int = 0,
    progress: bool = True,
) -> Collection:
    """Run algorithms on pairs and add every run to a store.

    Runs that the store has are not repeated, so that a collection that was interrupted can be resumed.

    Parameters
    ----------
    pairs : iterable of DomainPair, or DomainPair
        Pairs with labelled targets, such as a `PairSampler`.
    store : ExperienceStore
        The store.
    algorithms : "all", or a sequence of names or algorithms, default="all"
        The algorithms to run.
    one_per_pair : bool, default=False
        Whether to run one random algorithm per pair, as in the paper, instead of all.
    n_components : int, optional
        The number of components of algorithms given by name, by default that of each algorithm.
    label_counts : sequence of int, default=(3, 15, 30, 45, 60, 75, 90, 105, 120)
        The numbers of labelled target rows, as in `evaluate`.
    n_draws : int, default=10
        The number of draws per label count, as in `evaluate`.
    kernels : KernelBank, optional
        The kernels of the statistics that are stored, as in `pair_statistics`.
    n_neighbors : int, default=5
        The number of neighbours of the statistics that are stored, as in `pair_statistics`.
    classifier : scikit-learn classifier, optional
        The classifier, by default 1-NN, as in `evaluate`.
    n_jobs : int, default=1
        The number of local processes, each with one BLAS thread; -1 for all cores.
    cluster : str or dask.distributed.Client, optional
        A Dask cluster to use instead, such as ``"tcp://scheduler:8786"``.
    retry_failed : bool, default=False
        Whether to delete and repeat the runs that are stored as failed.
    shared : bool, default=True
        Whether equal labels of source and target mean equal classes. If so, each W is also scored with the
        classifier trained on the source and on both (`Score.trained_on`).
    random_state : int, default=0
        The seed of algorithms, draws, pairings, and of the choice of `one_per_pair`.
    progress : bool, default=True
        Whether to show a progress bar on stderr.

    Returns
    -------
    Collection
        The numbers of runs that were done, failed or already there.

    Raises
    ------
    InvalidInputError
        If an argument is invalid, or no target of a sequence of pairs has enough labelled rows to test;
        errors of single runs are stored instead.
    """
    params = {"n_components": n_components, "random_state": random_state}
    if not (chosen := make_all("algorithms", algorithms, **params)):
        raise InvalidInputError("algorithms must be one or more, got none")
    pairs = [pairs] if isinstance(pairs, DomainPair) else pairs
    bank = KernelBank() if kernels is None else kernels
    protocol = _Protocol(_checked(label_counts), n_draws, bank, n_neighbors, classifier)
    if isinstance(pairs, Sequence):
        check_test_rows(pairs, protocol.label_counts, n_draws, random_state)
    executor, start = Executor(n_jobs, cluster), time.perf_counter()
    counts = {"done": 0, "failed": 0, "already_there": 0}
    lost: list[str] = []
    runs_per_pair = 1 if one_per_pair else len(chosen)
    total = len(pairs) * runs_per_pair if isinstance(pairs, Sequence) else None
    with (
        Heartbeat(store, total) as heartbeat,
        progress_bar(total, "collecting", shown=progress) as advance,
    ):

        def tasks() -> Iterator[_Task]:
            for index, pair in enumerate(pairs):
                wanted = _draw_one(chosen, index, random_state) if one_per_pair else chosen
                requested = _Task(pair, wanted, random_state, protocol, shared)
                task = requested.missing_in(store, retry_failed)
                for _ in range(len(wanted) - len(task.algorithms)):
                    counts["already_there"] += 1
                    advance("already there")
                heartbeat.report(counts)
                if task.algorithms:
                    yield task

        def give_up(task: _Task) -> None:
            lost.extend([f"the worker was killed {MAX_LOST} times"] * len(task.algorithms))

        latest = ""
        for packed, reasons in executor.map(_execute, tasks(), give_up):
            lost += reasons
            new = store.add_packed(packed)
            for key, row in packed.runs.items():
                counts[row["status"] if key in new else "already_there"] += 1
                advance(row["algorithm"])
                latest = f"{row['algorithm']}: {row['source_name']} -> {row['target_name']}"
            heartbeat.report(counts, latest)
    return Collection(**counts, seconds=time.perf_counter() - start, lost=tuple(lost))


def _checked(label_counts: Sequence[int]) -> tuple[int, ...]:
    """Return numbers of labels as ints; an error if there are none, or one is below 1."""
    if not len(label_counts):
        raise InvalidInputError("label_counts must be one or more numbers of labels, got none")
    return tuple(whole_number("label_counts", count, least=1) for count in label_counts)


def check_test_rows(
    pairs: Sequence[DomainPair],
    label_counts: Sequence[int] = LABEL_COUNTS,
    n_draws: int = 10,
    random_state: int = 0,
) -> None:
    """Raise an InvalidInputError if every run on the pairs would fail for lack of labelled target rows."""
    n_labeled, others = [], ""
    for pair in pairs:
        known = pair.target.codes >= 0
        codes, groups = pair.target.codes[known], pair.target.group_codes
        if groups is not None:
            groups, others = groups[known], " of other groups"
        if held_out_splits(codes, label_counts, n_draws, random_state, groups):
            return
        n_labeled.append(len(codes))
    if n_labeled:
        raise InvalidInputError(
            f"the target of a pair must have {MIN_TEST_ROWS} labelled rows{others} to test besides "
            f"{min(label_counts)} to train on, got {max(n_labeled)} in all"
        )


def _draw_one(
    chosen: tuple[Algorithm, ...], index: int, random_state: int
) -> tuple[Algorithm, ...]:
    """Return one random algorithm, which depends only on the seed and the index of the pair."""
    rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(index,)))
    return (chosen[int(rng.integers(len(chosen)))],)


def _text(classifier: ClassifierMixin) -> str:
    """Return a classifier as text, with a digest of its parameters where scikit-learn abbreviates it."""
    text = repr(classifier)
    if "..." not in text or not hasattr(classifier, "get_params"):
        return text
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        params = repr(sorted(classifier.get_params().items()))
    return f"{text} {sha256(params)}"


def _execute(task: _Task) -> tuple[Packed, list[str]]:
    """Execute the runs of one pair in a worker; return them packed, and the reasons of lost runs."""
    before, done, reasons = _baseline(task), [], []
    for algorithm in task.algorithms:
        try:
            done.append(_run(task, algorithm, before))
        except TRANSIENT as error:
            reasons.append(_reason(error))
    return pack(done), reasons


def _baseline(task: _Task) -> dict[TrainedOn, Accuracies] | Exception:
    """Return the accuracies without transfer, or the error that prevents them."""
    try:
        return task.accuracies()
    except (L2TError, *TRANSIENT) as error:
        return error


def _run(task: _Task, algorithm: Algorithm, before: dict[TrainedOn, Accuracies] | Exception) -> Run:
    """Return one run; an error becomes its reason, unless it is transient."""
    start = time.perf_counter()
    outcome: dict[str, Any]
    try:
        if isinstance(before, Exception):
            raise before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", L2TWarning)  # fewer columns of W show in its shape
            outcome = _measure(task, algorithm, before)
    except TRANSIENT:
        raise
    except Exception as error:
        outcome = {"status": "failed", "reason": _reason(error)}
    return Run(
        pair=task.pair,
        algorithm=algorithm.name,
        params=plain_params(algorithm),
        random_state=task.random_state,
        protocol=task.settings,
        duration=time.perf_counter() - start,
        version=__version__,
        host=socket.gethostname(),
        **outcome,
    )


def _reason(error: Exception) -> str:
    """Return the message of an error as one line."""
    kind = "" if isinstance(error, L2TError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split()) or type(error).__name__


def _measure(task: _Task, algorithm: Algorithm, before: dict[TrainedOn, Accuracies]) -> JsonObject:
    """Fit the algorithm, compute the statistics, and score each label count."""
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
        plain = before[kind]
        ratio = improvement_ratio(plain.mean, after.mean, after.n_test)
        columns = plain.mean, plain.standard_error, after.mean, after.standard_error, ratio
        rows = np.column_stack(columns).tolist()
        for count, row in zip(after.label_counts, rows, strict=True):
            scores.append(replace(Score(count, *row), trained_on=kind))
    W = dense_factor(task.pair, factors.W)
    return {"status": "done", "W": W, "statistics": statistics, "scores": tuple(scores)}
