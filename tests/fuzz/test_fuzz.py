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
    "json": (200, 3_000, "files", "A reflection function with wrong values is refused, or works"),
    "toml": (40, 600, "files", "Damaged settings of the command line end in one sentence"),
    "routes": (120, 2_000, "requests", "No request to the dashboard is answered by 500"),
    "files": (120, 14_300, "files", "A damaged file is read, or refused by one sentence"),
    "numbers": (120, 10_600, "calls", "Odd numbers give finite results or one sentence"),
}


def seeds(name: str):
    """Yield the seeds that failed once, then fixed ones, or new ones while there is time."""
    lines = SEEDS.read_text().split("\n") if SEEDS.exists() else []
    yield from (int(line.split()[1]) for line in lines if line.startswith(f"{name} "))
    short, least, *_ = ATTACKS[name]
    if not SECONDS:
        yield from range(short)
        return
    share = (1 + list(ATTACKS).index(name)) / len(ATTACKS)
    spare = SECONDS * share if math.isfinite(SECONDS) else 0.0
    first = secrets.randbits(40)
    for done in itertools.count():
        if (passed := time.monotonic() - BEGAN) > SECONDS or (done >= least and passed > spare):
            return
        yield first + done


def attempt(name: str, seed: int, folder: Path) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(attacks, f"attack_{name}")(random.Random(f"{name} {seed}"), folder)
    except L2TError as error:
        sentence = str(error)
    else:
        return
    assert sentence.strip()
    assert "\n" not in sentence


@pytest.mark.parametrize("name", ATTACKS)
def test_a_result_or_one_sentence(name, tmp_path, proves):
    done = 0
    for seed in seeds(name):
        try:
            attempt(name, seed, tmp_path)
        except BaseException:
            with SEEDS.open("a") as file:
                file.write(f"{name} {seed}\n")
            raise
        done += 1
    _, _, unit, promise = ATTACKS[name]
    print(f"{done:,} {unit}")
    proves(promise, done, unit)
