"""Several agents on one store, and agents that die; run as ``python several.py CASE URL``."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from l2t import Agent, Domain, DomainPair, open_store

FORK = multiprocessing.get_context("fork")
PROCESSES, EACH = 4, 12


def pair(number: int) -> DomainPair:
    rng = np.random.default_rng(number)
    sides = [
        Domain(rng.normal(size=(3, 6))[np.arange(24) % 3] + rng.normal(size=(24, 6)), name=name)
        for name in ("source", "target")
    ]
    return DomainPair(*sides)


def work(url: str, first: int) -> None:
    """Ask and tell, and observe; the function is refined again and again meanwhile."""
    with open_store(url) as store:
        agent = Agent(store, refine_every=6)
        for number in range(first, first + EACH):
            rng = np.random.default_rng(number)
            suggestion = agent.ask(pair(number), 3)
            agent.tell(suggestion, 0.5, float(rng.uniform(0.4, 0.7)))
            agent.observe(
                pair(number), rng.normal(size=(6, 2)), 0.5, float(rng.uniform(0.4, 0.7)), 3
            )


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
        run = Agent(store, reflection=None).tell(id, 0.5, 0.6)
        (experience,) = store.experiences(key=run.key)
        print(os.WTERMSIG(status), experience.improvement_ratio)


def refining(url: str) -> None:
    """An agent is killed again and again, wherever it is; reported outcomes stay, and learning resumes."""
    rng = np.random.default_rng(0)
    for turn in range(4):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            with open_store(url) as store:
                agent = Agent(store, refine_every=4)
                os.write(theirs, b"ready")
                for number in itertools.count(10**6 * turn):  # it lives until it is killed
                    agent.observe(pair(number), np.eye(6, 2), 0.5, 0.55, 3)
                    os.write(theirs, b".")
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as pipe:
            for _ in range(int(rng.integers(5, 25))):
                pipe.read(1)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        with open_store(url) as store:
            assert store.check() == [], store.check()
    with open_store(url) as store:
        numbers = [version.number for version in Agent(store).versions()]
        assert numbers == [*range(1, len(numbers) + 1)], numbers
        print(len(numbers) > 1)


if __name__ == "__main__":
    with threadpool_limits(1):
        {case.__name__: case for case in (together, telling, refining)}[sys.argv[1]](sys.argv[2])
