"""Executors: the same results wherever the work is done."""

from __future__ import annotations

import operator
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from l2t.exceptions import InvalidInputError, L2TError
from l2t.experiences import executors
from l2t.experiences.executors import MAX_LOST, Executor
from l2t.numerics import in_threads

pytestmark = pytest.mark.integration


def square(task):
    return task**2


def blas_threads(_):
    import numpy as np

    np.ones((2, 2)) @ np.ones((2, 2))
    return max(info["num_threads"] for info in threadpool_info())


def fail(task):
    raise ValueError(f"task {task}")


@pytest.mark.parametrize("executor", [Executor(1), Executor(2)], ids=["serial", "processes"])
def test_all_results_come_back(executor):
    assert sorted(executor.map(square, iter(range(20)))) == [n**2 for n in range(20)]
    assert list(executor.map(square, [])) == []
    assert set(executor.map(blas_threads, range(3))) == {1}
    with pytest.raises(ValueError, match="task 7"):
        list(executor.map(fail, [7]))


def test_processes_are_other_processes():
    assert os.getpid() not in set(Executor(2).map(lambda _: os.getpid(), range(4)))


def die_of_it(task):
    """Kill this process: always for "poison", and as long as the file of a task can be deleted."""
    if task == "poison":
        os.kill(os.getpid(), signal.SIGKILL)
    with suppress(FileNotFoundError):
        Path(task).unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


@pytest.mark.usefixtures("posix")
def test_a_killed_worker_is_replaced_and_its_task_done_again(tmp_path, proves):
    tasks = [str(tmp_path / f"{number}") for number in range(6)]
    for deadly in tasks[:2]:
        Path(deadly).touch()
    given_up = []
    tasks.insert(3, "poison")
    found = sorted(Executor(2).map(die_of_it, tasks, given_up.append))
    assert found == sorted(set(tasks) - {"poison"})
    assert given_up == ["poison"]
    proves("A killed local worker is replaced, and its task done again", 2 + MAX_LOST, "kills")


@pytest.mark.usefixtures("posix")
def test_a_task_that_kills_its_workers_is_an_error_where_nobody_counts(monkeypatch):
    monkeypatch.setattr("l2t.experiences.executors.MAX_LOST", 1)
    with pytest.raises(L2TError, match="the worker of a task was killed 1 times"):
        list(Executor(2).map(die_of_it, ["poison"]))


def first_or_wait(task):
    """Return the first task; any other when its pipe is opened for writing."""
    number, pipe = task
    if number:
        pipe.open().close()
    return number


@pytest.mark.usefixtures("posix")
def test_tasks_are_taken_as_they_are_needed(tmp_path):
    """Thousands of pairs must not be made before the first is done."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    taken = []

    def tasks():
        for n in range(100):
            taken.append(n)
            yield n, pipe

    results = Executor(2).map(first_or_wait, tasks())
    assert next(results) == 0
    assert len(taken) < 20
    with pipe.open("w"):
        assert sorted(results) == list(range(1, 100))
    assert len(taken) == 100


def test_numbers_of_processes():
    for bad in (0, -2, 1.5, "two", True):
        with pytest.raises(
            InvalidInputError, match="n_jobs must be a whole number of at least 1 or -1"
        ):
            Executor(bad, None)


def test_a_scheduler_that_does_not_answer_is_reported(monkeypatch):
    monkeypatch.setattr(executors, "CONNECT_TIMEOUT", "1s")
    with pytest.raises(L2TError, match=r"cannot connect to a Dask scheduler at tcp://127.0.0.1:9"):
        list(Executor(1, "tcp://127.0.0.1:9").map(square, [1]))


class Counted:
    """A function that counts how often it is sent to a worker."""

    sent = 0

    def __getstate__(self):
        type(self).sent += 1
        return {}

    def __call__(self, task):
        return -task


def test_a_cluster_gets_the_function_once():
    """A model may be bound to it, and tasks may be many."""
    from distributed import LocalCluster

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "protocol": "tcp"}
    with LocalCluster(n_workers=1, processes=False, **options) as cluster:
        counts = []
        for n_tasks in (1, 20):
            Counted.sent = 0
            found = Executor(1, cluster.scheduler_address).map(Counted(), range(n_tasks))
            assert sorted(found) == sorted(-task for task in range(n_tasks))
            counts.append(Counted.sent)
    assert counts[0] == counts[1] > 0


def names_of_threads(_):
    return in_threads(lambda _: threading.current_thread().name, range(20))


@pytest.mark.parametrize("executor", [Executor(2), Executor(1)], ids=["worker", "alone"])
def test_a_worker_has_one_thread(executor):
    ((*names,),) = executor.map(names_of_threads, [None])
    assert (len(set(names)) == 1 and "Pool" not in names[0]) == (executor.n_jobs > 1)


#: Runs a cluster in one process, tells its address, and waits.
CLUSTER = """
from distributed import LocalCluster
with LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=None,
                  host="tcp://127.0.0.1") as cluster:
    print(cluster.scheduler_address, flush=True)
    input()
"""


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_killed_scheduler_gives_one_sentence(monkeypatch, capfd, proves):
    monkeypatch.setattr(executors, "CONNECT_TIMEOUT", "300s")
    command = [sys.executable, "-c", CLUSTER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as cluster:
        try:
            assert cluster.stdout is not None
            address = cluster.stdout.readline().strip()
            results = Executor(1, address).map(operator.neg, range(10_000))
            assert next(results) <= 0
        finally:
            cluster.kill()
        with pytest.raises(L2TError, match="connection to the Dask scheduler was lost") as caught:
            list(results)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in capfd.readouterr().err
    proves("A killed Dask scheduler ends in one sentence", 1, "kills")
