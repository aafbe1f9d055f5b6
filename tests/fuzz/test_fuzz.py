"""Whatever files, texts, numbers and requests hold: a result, or one sentence.

A short run of fixed seeds in every test run. ``make fuzz`` (FUZZ_SECONDS) takes new seeds: each attack as
often as `ATTACKS` says, and then for as long as there is time; FUZZ_SECONDS=inf does the former alone. A seed
that failed is kept in seeds.txt, and tried first from then on.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import secrets
import time
import warnings
from pathlib import Path

import pytest

from l2t.exceptions import L2TError
from tests.fuzz import attacks

SEEDS = Path(__file__).with_name("seeds.txt")
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
BEGAN = time.monotonic()
#: By attack: how often in a test run, how often at least by `make fuzz`, of what, and what it proves.
ATTACKS = {
    "flips": (60, 2_000, "bits", "A flipped bit is harmless, or noticed where there are checksums"),
    "files": (120, 14_300, "files", "A damaged file is read, or refused by one sentence"),
    "json": (200, 3_000, "files", "A reflection function with wrong values is refused, or works"),
    "numbers": (120, 10_600, "calls", "Odd numbers give finite results or one sentence"),
    "toml": (40, 600, "files", "Damaged settings of the command line end in one sentence"),
    "stores": (60, 1_000, "stores", "What is read of a damaged store is what was stored"),
    "routes": (120, 2_000, "requests", "No request to the dashboard is answered by 500"),
}


def time_is_up() -> bool:
    return time.monotonic() - BEGAN > SECONDS


def seeds(name: str):
    """Yield the seeds that failed once, then fixed ones, or new ones."""
    lines = SEEDS.read_text().split("\n") if SEEDS.exists() else []
    yield from (int(line.split()[1]) for line in lines if line.startswith(f"{name} "))
    short, least, *_ = ATTACKS[name]
    first = secrets.randbits(40)
    yield from range(short) if not SECONDS else range(first, first + least)


def attempt(name: str, seed: int, folder: Path) -> None:
    """Attack once; keep the seed where it fails."""
    sentence = "a result"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(attacks, f"attack_{name}")(random.Random(f"{name} {seed}"), folder)
    except L2TError as error:
        sentence = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # also what pytest raises
        keep(name, seed)
        raise
    if not sentence.strip() or "\n" in sentence:
        keep(name, seed)
        pytest.fail(f"not one sentence: {sentence!r}")


def keep(name: str, seed: int) -> None:
    with SEEDS.open("a") as file:
        file.write(f"{name} {seed}\n")


@pytest.mark.parametrize("name", ATTACKS)
def test_a_result_or_one_sentence(name, tmp_path, proves):
    done = 0
    for seed in seeds(name):
        if SECONDS and time_is_up():
            break
        attempt(name, seed, tmp_path)
        done += 1
    _, _, unit, promise = ATTACKS[name]
    print(f"{done:,} {unit}")
    proves(promise, done, unit)


@pytest.mark.skipif(not 0 < SECONDS < math.inf, reason="only `make fuzz` goes on")
def test_as_long_as_there_is_time(tmp_path):
    first, done = secrets.randbits(40), 0
    for name in itertools.cycle(ATTACKS):
        if time_is_up():
            break
        attempt(name, first + done, tmp_path)
        done += 1
    print(f"{done:,} more")
