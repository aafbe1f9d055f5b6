"""Collection: exactly once, resumable, and the same wherever it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.neighbors import KNeighborsClassifier

import l2t
from l2t import Domain, DomainPair, KernelBank, PairSampler
from l2t.algorithms import GFK, Diagnostics, LatentFactors
from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate, executors

NAMES = ("tca", "itl", "gfk")
QUICK = {"algorithms": NAMES, "n_components": 3, "n_draws": 3, "progress": False}


def make_pairs(n=3, seed=0):
    rng = np.random.default_rng(seed)
    source = Domain(
        rng.normal(size=(120, 6)) + np.repeat(np.arange(4), 30)[:, None], list("abcd") * 30
    )
    target = Domain(rng.normal(size=(160, 6)), list("wxyz") * 40)
    return PairSampler(source, target, n, n_classes=2, max_per_class=30)


def content(store):
    """Everything that must be the same whoever did the work: all but durations, times and hosts."""
    records = {}
    for each in store.experiences():
        W = None if each.status == "failed" else store.run(each.run_key).W.tobytes()
        numbers = (
            [
                value.tobytes()
                for value in (each.statistics.d, each.statistics.Q, each.statistics.tau)
            ]
            if each.statistics
            else None
        )
        records[each.run_key, each.n_labels] = (
            each.source,
            each.target,
            each.source_name,
            each.target_name,
            each.algorithm,
            dict(each.params),
            each.random_state,
            dict(each.protocol),
            each.status,
            each.reason,
            repr(each.accuracy_before),
            repr(each.accuracy_after),
            repr(each.improvement_ratio),
            repr(each.standard_error_before),
            repr(each.standard_error_after),
            each.version,
            W,
            numbers,
        )
    return records


@pytest.fixture
def memory():
    with l2t.open_store("memory://") as store:
        yield store


@pytest.fixture(scope="module")
def serial_content():
    with l2t.open_store("memory://") as store:
        l2t.collect(make_pairs(), store, **QUICK)
        return content(store)


def test_an_experience_is_what_was_measured(memory):
    pairs = make_pairs(1)
    summary = l2t.collect(pairs, memory, **QUICK)
    assert (summary.done, summary.failed, summary.already_there) == (3, 0, 0)
    pair = pairs[0]
    found = {(each.algorithm, each.n_labels): each for each in memory.experiences()}
    assert {count for _, count in found} == {3, 15, 30}, "45 of 60 rows would leave too few"
    gfk = GFK(n_components=3, random_state=0).fit(pair)
    codes = pair.target.codes
    before = evaluate(pair.target.X, codes, n_draws=3)
    after = evaluate(pair.target.X @ gfk.W, codes, n_draws=3)
    each = found["gfk", 15]
    assert each.accuracy_before == before.mean[1]
    assert each.standard_error_after == after.standard_error[1]
    assert each.improvement_ratio == pytest.approx(after.mean[1] / before.mean[1])
    assert each.source == pair.source.fingerprint
    assert each.version == l2t.__version__
    np.testing.assert_array_equal(memory.run(each.run_key).W, gfk.W)
    stats = l2t.pair_statistics(pair, gfk.W)
    np.testing.assert_array_equal(each.statistics.Q, stats.Q)
    again = memory.run(each.run_key)
    assert again.pair == pair
    assert again.key == each.run_key


def test_groups_of_the_target_are_never_split(memory):
    source, target = (make_pairs(1)[0].source, make_pairs(1)[0].target)
    doubled = target.take(np.repeat(np.arange(len(target)), 2))
    grouped = Domain(doubled.X, doubled.y, groups=np.repeat(np.arange(len(target)), 2))
    l2t.collect([DomainPair(source, grouped)], memory, **QUICK)
    each = next(each for each in memory.experiences() if each.n_labels == 30)
    expected, leaking = (
        evaluate(grouped.X, grouped.codes, label_counts=(30,), n_draws=3, groups=groups).mean[0]
        for groups in (grouped.group_codes, None)
    )
    assert each.accuracy_before == expected
    assert expected < leaking, "a twin would have revealed the class"


def test_no_transfer_with_very_many_features_is_collected(memory):
    rng = np.random.default_rng(0)
    source, target = (Domain(rng.normal(size=(60, 4100)), np.arange(60) % 3) for _ in range(2))
    options = {**QUICK, "algorithms": ["identity"], "shared": False}
    assert l2t.collect([DomainPair(source, target)], memory, **options).done == 1
    for each in memory.experiences():
        assert each.accuracy_after == each.accuracy_before
    W = memory.run(each.run_key).W
    gaps = [target.X[:5] - target.X[5:10], (target.X[:5] - target.X[5:10]) @ W]
    np.testing.assert_allclose(*(np.linalg.norm(gap, axis=1) for gap in gaps))


def test_nothing_is_done_twice(memory):
    l2t.collect(make_pairs(2), memory, **QUICK)
    summary = l2t.collect(make_pairs(3), memory, **QUICK)
    assert (summary.done, summary.already_there) == (3, 6)
    other = l2t.collect(make_pairs(1), memory, **{**QUICK, "n_draws": 4})
    assert other.done == 3, "another protocol is other work"


@pytest.mark.integration
def test_two_processes_give_the_same_records(memory, serial_content):
    l2t.collect(make_pairs(), memory, n_jobs=2, **QUICK)
    assert content(memory) == serial_content


def test_one_random_algorithm_a_pair(memory):
    l2t.collect(make_pairs(12), memory, one_per_pair=True, **QUICK)
    runs = {each.run_key: each.algorithm for each in memory.experiences()}
    assert len(runs) == 12
    assert set(runs.values()) == set(NAMES)
    with l2t.open_store("memory://") as again:
        l2t.collect(make_pairs(12), again, one_per_pair=True, **QUICK)
        assert content(again) == content(memory)


@dataclass(frozen=True)
class Broken:
    """An algorithm with a bug."""

    name: ClassVar[str] = "broken"

    def fit(self, pair):
        raise ZeroDivisionError("an unlucky\nnumber")


def test_a_failed_run_is_an_experience_and_stops_nothing(memory):
    pair = make_pairs(1)[0]
    unlabelled = DomainPair(Domain(pair.source.X), pair.target)
    small = DomainPair(pair.source, pair.target.take(np.arange(20)))
    options = {**QUICK, "algorithms": ["itl", Broken(), GFK(n_components=3)]}
    summary = l2t.collect([unlabelled, small], memory, **options)
    assert (summary.done, summary.failed) == (1, 5)
    reasons = {
        (each.algorithm, each.target): each.reason for each in memory.experiences(status="failed")
    }
    assert reasons["itl", pair.target.fingerprint] == "itl needs labels in the source, got none"
    assert reasons["broken", pair.target.fingerprint] == "ZeroDivisionError: an unlucky number"
    assert reasons["gfk", small.target.fingerprint].startswith(
        "label_counts must leave at least 30"
    )
    assert all(np.isfinite(each.improvement_ratio) for each in memory.experiences(status="done"))
    again = l2t.collect([unlabelled, small], memory, **options)
    assert again.already_there == 6


def test_targets_with_too_few_labelled_rows_are_refused(memory):
    """No run on them could be evaluated, so that failed runs would be all that is stored."""
    pair = make_pairs(1)[0]
    source, target = pair.source, pair.target
    rows = np.arange(len(target))
    few = target.take(rows[:15])
    with pytest.raises(InvalidInputError, match="besides 3 to train on, got 15 in all"):
        l2t.collect([DomainPair(source, few)] * 2, memory, **QUICK)
    grouped = Domain(target.X, target.y, groups=rows % 2)
    with pytest.raises(InvalidInputError, match="30 labelled rows of other groups to test"):
        l2t.collect(DomainPair(source, grouped), memory, **QUICK)
    assert memory.count() == 0


@dataclass(frozen=True)
class Unlucky:
    """An algorithm that the machine fails once, by what is in a file."""

    name: ClassVar[str] = "unlucky"

    trouble: str

    def fit(self, pair):
        if (trouble := Path(self.trouble)).exists():
            trouble.unlink()
            raise {"memory": MemoryError(), "disk": OSError(28, "No space left")}[trouble.name]
        return GFK(n_components=3).fit(pair)


@pytest.mark.parametrize("trouble", ["memory", "disk"])
def test_a_run_that_the_machine_failed_is_no_experience(memory, tmp_path, trouble, proves):
    (tmp_path / trouble).touch()
    options = {**QUICK, "algorithms": [Unlucky(str(tmp_path / trouble)), "gfk"]}
    found = l2t.collect(make_pairs(1), memory, **options)
    assert (found.done, found.failed) == (1, 0)
    assert found.lost in (("MemoryError:",), ("OSError: [Errno 28] No space left",))
    again = l2t.collect(make_pairs(1), memory, **options)
    assert (again.done, again.already_there, again.lost) == (1, 1, ())
    proves(f"A run that fails for lack of memory or disk is done again: {trouble}", 1, "runs")


def test_without_memory_for_the_baseline_all_runs_of_the_pair_are_lost(memory, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr("l2t.experiences.collection.evaluate", fails)
    assert len(l2t.collect(make_pairs(1), memory, **QUICK).lost) == 3
    assert memory.count() == 0


def test_failed_runs_are_tried_again_on_request(memory):
    options = {**QUICK, "algorithms": [Broken(), "gfk"]}
    l2t.collect(make_pairs(1), memory, **options)
    again = l2t.collect(make_pairs(1), memory, retry_failed=True, **options)
    assert (again.failed, again.already_there) == (1, 1)
    assert memory.count(status="failed") == 1


def test_a_task_that_kills_its_workers_is_given_up_and_the_others_done(memory, monkeypatch):
    class Executor:
        def map(self, function, tasks, give_up):
            first, *others = tasks
            give_up(first)
            return map(function, others)

    monkeypatch.setattr("l2t.experiences.collection.Executor", lambda *_: Executor())
    found = l2t.collect(make_pairs(2), memory, **QUICK)
    assert (found.done, found.failed) == (3, 0)
    assert found.lost == ("the worker was killed 3 times",) * 3


def test_other_classifiers_and_banks(memory):
    bank = KernelBank(-2, 2, 1)
    options = {**QUICK, "classifier": KNeighborsClassifier(3), "kernels": bank, "n_neighbors": 3}
    l2t.collect(make_pairs(1), memory, **options)
    each = next(iter(memory.experiences(algorithm="gfk", n_labels=30)))
    assert each.protocol["classifier"] == "KNeighborsClassifier(n_neighbors=3)"
    assert each.statistics.kernels == bank
    assert each.statistics.n_neighbors == 3


def test_classifiers_with_many_parameters_are_told_apart(memory):
    def voting(last):
        members = [(f"n{k}", KNeighborsClassifier(k + 1)) for k in range(29)]
        return VotingClassifier([*members, ("last", KNeighborsClassifier(last))])

    options = {**QUICK, "algorithms": ["gfk"], "label_counts": (30,), "n_draws": 1}
    for last, new in ((3, 1), (4, 1), (3, 0)):
        summary = l2t.collect(make_pairs(1), memory, **options, classifier=voting(last))
        assert (summary.done, summary.failed) == (new, 0)


@dataclass(frozen=True)
class Columns:
    """An algorithm without `params`: its fields are its hyper-parameters."""

    name: ClassVar[str] = "columns"
    k: int = 1

    def fit(self, pair):
        diagnostics = Diagnostics((0.0,), 0, "closed-form")
        return LatentFactors(np.eye(pair.n_features, self.k), "linear", self.name, diagnostics)


class Untold:
    """An algorithm that does not tell its hyper-parameters."""

    name = "untold"

    def fit(self, pair):
        raise NotImplementedError


def test_algorithms_of_one_name_are_told_apart_by_their_parameters(memory):
    for k, new in ((1, 1), (2, 1), (np.int64(2), 0)):
        options = {**QUICK, "algorithms": [Columns(k)]}
        assert l2t.collect(make_pairs(1), memory, **options).done == new
    runs = [memory.run(key) for key in sorted(memory.keys())]
    assert sorted((run.params["k"], run.W.shape[1]) for run in runs) == [(1, 1), (2, 2)]
    with pytest.raises(InvalidInputError, match="untold must have params, a mapping"):
        l2t.collect(make_pairs(1), memory, **{**QUICK, "algorithms": [Untold()]})


def test_bad_arguments(memory):
    with pytest.raises(InvalidInputError, match="algorithms must be one or more, got none"):
        l2t.collect(make_pairs(1), memory, algorithms=[])
    with pytest.raises(LookupError, match="there is no algorithm 'pca'"):
        l2t.collect(make_pairs(1), memory, algorithms=["pca"])
    with pytest.raises(InvalidInputError, match="label_counts must be one or more numbers"):
        l2t.collect(make_pairs(1), memory, label_counts=())
    with pytest.raises(
        InvalidInputError, match="label_counts must be a whole number of at least 1"
    ):
        l2t.collect(make_pairs(1), memory, label_counts=(0, 3))


def test_a_single_pair(memory):
    assert l2t.collect(make_pairs(1)[0], memory, **QUICK).done == len(QUICK["algorithms"])


@pytest.fixture
def collector(posix):
    """A function that collects into a store in a process that dies at its n-th call of any function."""
    command = [sys.executable, str(Path(__file__).with_name("collector.py"))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, bufsize=1) as process:

        def collect(path: Path, last: int) -> str:
            process.stdin.write(f"{path} {last}\n")
            return process.stdout.readline().strip()

        yield collect


@pytest.mark.integration
def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path, serial_content, collector, proves):
    """A sound store after each kill, and the same records in the end."""
    kills = 0
    rng = np.random.default_rng(0)
    calls = int(collector(tmp_path / "whole.db", 0))
    for turn in range(3):
        path = tmp_path / f"killed {turn}.db"
        outcomes = []
        for last in rng.integers(1, calls, size=6):
            outcomes.append(collector(path, last))
            with l2t.open_store(path) as store:
                assert store.check() == []
                assert content(store).items() <= serial_content.items()
        assert outcomes[0] == "killed", "the whole takes more calls"
        assert all(each == "killed" or each.isdigit() for each in outcomes)
        kills += outcomes.count("killed")
        assert collector(path, 0).isdigit()
        with l2t.open_store(path) as store:
            assert content(store) == serial_content
    proves("A collection that is killed resumes to the same records", kills, "kills")


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning")
@pytest.mark.usefixtures("posix")
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_records(
    memory, serial_content, monkeypatch
):
    from distributed import Client, LocalCluster

    monkeypatch.setattr(executors, "CONNECT_TIMEOUT", "300s")

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster) as client,
    ):
        pids = list(client.run(os.getpid).values())
        assert len(set(pids)) == 2
        killed = []

        class Watched:
            """The store, with a worker killed when the first runs have arrived."""

            keys = memory.keys
            note_collection = memory.note_collection

            def add_packed(self, packed):
                if not killed:
                    os.kill(pids[0], signal.SIGKILL)
                    killed.append(pids[0])
                return memory.add_packed(packed)

        l2t.collect(make_pairs(), Watched(), cluster=cluster.scheduler_address, **QUICK)
    assert killed
    assert content(memory) == serial_content


@pytest.mark.parametrize("kind", ["copies", "groups"])
def test_source_rows_that_tell_labels_of_target_rows_are_not_trained_on(rng, kind):
    """Labels are random: only copies of tested rows, or other rows of their groups, tell them."""
    X, y = rng.normal(size=(60, 6)), rng.permutation(np.arange(60) % 2)
    similar, groups = X, None
    if kind == "groups":
        similar, groups = X + 0.01 * rng.normal(size=X.shape), np.arange(100)
    source = Domain(
        np.concatenate([similar, rng.normal(size=(40, 6))]),
        np.concatenate([y, np.arange(40) % 2]),
        groups=groups,
    )
    target = Domain(X, y, groups=None if groups is None else groups[:60])
    with l2t.open_store("memory://") as store:
        l2t.collect(
            [DomainPair(source, target)],
            store,
            algorithms=["identity"],
            label_counts=(4,),
            progress=False,
        )
        accuracies = {row.trained_on: row.accuracy_after for row in store.experiences()}
    assert set(accuracies) == {"source", "both", "target"}
    assert max(accuracies.values()) < 0.75
