"""Collections that are killed; each line of standard input is a store and the call at which to die."""

from __future__ import annotations

import os
import signal
import sys
from itertools import count

import l2t


def collect(url: str, last: int = 0, n_pairs: int = 3) -> int:
    """Collect, and die at the given call of any function; return how many calls there were otherwise."""
    from test_collection import QUICK, make_pairs  # beside this script

    calls = count(1)

    def watch(*_: object) -> None:
        if next(calls) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)
    with l2t.open_store(url) as store:
        l2t.collect(make_pairs(n_pairs), store, **QUICK)
    sys.setprofile(None)
    return next(calls) - 1


def main() -> None:
    """Answer each line with the number of calls, or with "killed"."""
    collect("memory://", n_pairs=1)  # so that no collection below imports anything
    for line in sys.stdin:
        url, last = line.rsplit(maxsplit=1)
        child = os.fork()
        if child == 0:
            print(collect(url, int(last)), flush=True)
            sys.exit()
        _, status = os.waitpid(child, 0)
        if status != 0:
            print("killed" if status == signal.SIGKILL else f"ended with {status}", flush=True)


if __name__ == "__main__":
    main()
