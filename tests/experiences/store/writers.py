"""Processes that write to a store, and what may happen to them.

Run as ``python -m tests.experiences.store.writers CASE URL``.
A process of its own imports the package once and forks: eight interpreters would take longer to start
than all they write.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import resource
import signal
import sys
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, event

from l2t.exceptions import StoreError
from l2t.experiences.store import open_store
from tests.experiences.store.contract import random_run

FORK = multiprocessing.get_context("fork")
PROCESSES, EACH, SHARED = 8, 24, 8


def eight(url: str) -> None:
    """Write from eight processes at once, each some runs of its own and some of its neighbour."""
    barrier = FORK.Barrier(PROCESSES)
    taken = FORK.Array("i", PROCESSES)

    def write(index: int) -> None:
        barrier.wait()
        with open_store(url) as store:  # which does not exist yet: one of the eight makes it
            first = index * (EACH - SHARED)
            taken[index] = sum(store.add(random_run(n)) for n in range(first, first + EACH))

    processes = [FORK.Process(target=write, args=(index,)) for index in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    print(sum(taken))


def killed(url: str) -> None:
    """Kill a writer twenty times, each time at another step of its work, and check the store."""
    chance = random.Random(0)
    path = Path(url.removeprefix("sqlite:///"))
    kept: set[int] = set()
    for turn in range(20):
        if turn in (1, 2, 3, 4):  # the first turns are killed while they make the store
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink()
            kept = set()
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            _write_until_killed(url, turn * 10_000, theirs)
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as pipe:
            # The child reports each statement before it begins, and is killed during one of them.
            lines = [pipe.readline() for _ in range(chance.randrange(1, 20 if turn < 5 else 120))]
            assert all(lines), "the writer ended by itself"
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            lines += pipe.readlines()
        kept |= {int(line) for line in lines if line.strip().isdigit()}
        with open_store(url) as store:
            assert store.check() == [], store.check()
            there = store.keys()
            assert {random_run(number, n_domains=10**6, rows=100).key for number in kept} <= there
            assert store.count() == 2 * len(there)
    print("sound")


def _write_until_killed(url: str, first: int, pipe: int) -> None:
    """Report each statement, each commit and the number of each run that was added; never end."""
    for name in ("before_cursor_execute", "commit"):
        event.listen(Engine, name, lambda *_: os.write(pipe, b"statement\n"))
    try:
        with open_store(url) as store:
            for number in itertools.count(first):
                store.add(random_run(number, n_domains=10**6, rows=100))
                os.write(pipe, b"%d\n" % number)
    finally:
        os._exit(1)


def forked(url: str) -> None:
    """Use one store on both sides of a fork."""
    with open_store(url) as store:
        store.add(random_run(0))
        children = [
            FORK.Process(
                target=lambda first: [store.add(random_run(n)) for n in range(first, first + 9)],
                args=(first,),
            )
            for first in (10, 20)
        ]
        for child in children:
            child.start()
        for number in range(30, 39):
            store.add(random_run(number))
        for child in children:
            child.join()
            assert child.exitcode == 0
        print(len(store.keys()))


def full(url: str) -> None:
    """Write until no file may grow any more, then read."""
    with open_store(url) as store:
        before = store.keys()
        size = max(
            file.stat().st_size for file in Path(url.removeprefix("sqlite:///")).parent.iterdir()
        )
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100_000, size + 100_000))
        added = set()
        try:
            for number in range(1000, 2000):
                run = random_run(number, W=np.random.default_rng(number).normal(size=(4, 5000)))
                store.add(run)
                added.add(run.key)
        except StoreError as error:
            print(error)
        assert store.keys() == before | added
        assert all(each.statistics is not None for each in store.experiences())


def readonly(url: str) -> None:
    """Read as a user who may not write, then try to write."""
    if os.geteuid() == 0:
        os.setuid(65534)
    with open_store(url, create=False) as store:
        assert store.count() == 6
        assert store.run(random_run(1).key).W is not None
        try:
            store.add(random_run(100))
        except StoreError as error:
            print(error)


if __name__ == "__main__":
    {case.__name__: case for case in (eight, killed, forked, full, readonly)}[sys.argv[1]](
        sys.argv[2]
    )
