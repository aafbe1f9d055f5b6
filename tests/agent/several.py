"""Several agents on one store, and agents that die; run as ``python several.py CASE URL``."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from l2t import Agent, Domain, DomainPair, open_store

FORK = multiprocessing.get_context("fork")
PROCESSES, EACH = 4, 6


def pair(number: int) -> DomainPair:
    rng = np.random.default_rng(number)
    sides = [
        Domain(rng.normal(size=(3, 6))[np.arange(24) % 3] + rng.normal(size=(24, 6)), name=name)
        for name in ("source", "target")
    ]
    return DomainPair(*sides)


def work(url: str, first: int) -> None:
    """Ask and tell."""
    with open_store(url) as store:
        agent = Agent(store)
        for number in range(first, first + EACH):
            suggestion = agent.ask(pair(number), 3)
            agent.tell(suggestion, 0.5, 0.4 + 0.01 * number)


def together(url: str) -> None:
    """Four processes at once; the store does not exist yet."""
    barrier = FORK.Barrier(PROCESSES)

    def one(index: int) -> None:
        barrier.wait()
        work(url, index * EACH)

    processes = [FORK.Process(target=one, args=(index,)) for index in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print([process.exitcode for process in processes])


def telling(url: str) -> None:
    """Four processes tell the same suggestion at once, each something else, and one dies before it tells."""
    with open_store(url) as store:
        id = Agent(store).ask(pair(0), 3).id
    barrier = FORK.Barrier(PROCESSES)

    def one(index: int) -> None:
        with open_store(url) as store:
            agent = Agent(store)
            barrier.wait()
            try:
                agent.tell(id, 0.5, 0.5 + 0.1 * index)
            except ValueError:
                os._exit(7)

    processes = [FORK.Process(target=one, args=(index,)) for index in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    print(sorted(process.exitcode for process in processes))
    dying(url)


def dying(url: str) -> None:
    """An agent is killed between ask and tell; another tells."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        with open_store(url) as store:
            os.write(theirs, Agent(store).ask(pair(0), 3).id.encode())
            os.kill(os.getpid(), signal.SIGKILL)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        id = pipe.read()
    _, status = os.waitpid(child, 0)
    with open_store(url) as store:
        run = Agent(store).tell(id, 0.5, 0.6)
        (experience,) = store.experiences(key=run.key)
        print(os.WTERMSIG(status), experience.improvement_ratio)


if __name__ == "__main__":
    with threadpool_limits(1):
        {case.__name__: case for case in (together, telling)}[sys.argv[1]](sys.argv[2])
