"""Whatever files, texts, numbers and requests hold: a result, or one sentence.

A short run of fixed seeds in every test run; ``make fuzz`` spends ten minutes on new ones (FUZZ_SECONDS). A
seed that failed is kept in seeds.txt, and is tried first from then on.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import random
import secrets
import sys
import time
import warnings
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

import l2t
from l2t.algorithms import make
from l2t.exceptions import L2TError
from l2t.interfaces.cli import main
from l2t.interfaces.dashboard.app import create_app
from l2t.interfaces.dashboard.settings import Settings
from l2t.reflection.files import from_json
from l2t.statistics import pair_statistics
from tests.domains.test_files_damage import mutate, valid

SEEDS = Path(__file__).with_name("seeds.txt")
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
ALGORITHMS = ["tca", "itl", "gfk", "dip", "sie", "lsdt", "stl", "cmf"]
ALGORITHMS += ["identity", "spectrum", "classes", "classes+spectrum"]


def one_sentence(error: L2TError) -> None:
    assert str(error).strip()
    assert "\n" not in str(error)


def attack_files(chance: random.Random, folder: Path) -> None:
    kinds = ["npz", "csv", "parquet", "svmlight", "npz, stored"] * 8 + ["mat", "mat, sparse"]
    content, format, _ = valid(folder / "file", chance.choice(kinds))
    for _ in range(chance.randint(1, 3)):
        content = mutate(content, chance) or b"x"
    path = folder / chance.choice(["file", f"file.{format}"])
    path.write_bytes(content)
    l2t.read_domain(path, format=chance.choice([format, None]))


@cache
def shipped() -> bytes:
    return (resources.files("l2t.reflection.shipped") / "default.json").read_bytes()


def attack_json(chance: random.Random, folder: Path) -> None:
    from_json(mutate(shipped(), chance))


def attack_toml(chance: random.Random, folder: Path) -> None:
    text = (
        b'source = "a.npz"\ntarget = "b.npz"\npairs = 3\nalgorithms = "gfk"\none-per-pair = false\n'
    )
    (folder / "run.toml").write_bytes(mutate(text, chance))
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(said):
        patch.chdir(folder)  # where neither a.npz nor b.npz is
        patch.setattr(sys, "argv", ["l2t", "collect", "--config", "run.toml"])
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code in (1, 2)
    assert "Traceback" not in said.getvalue()


def rows(chance: random.Random, n: int, m: int) -> np.ndarray:
    """Rows that are odd in one way or another."""
    rng = np.random.default_rng(chance.getrandbits(32))
    X = rng.normal(size=(n, m))
    way = chance.randrange(8)
    if way == 0:
        X = X[rng.integers(chance.randint(1, 5), size=n) % n]  # copies of few rows
    elif way == 1:
        X = np.eye(m)[rng.integers(m, size=n)]
    elif way == 2:
        X[:, rng.random(m) < 0.5] = chance.choice([0.0, 1.0, 1e6])  # columns that say nothing
    elif way == 3:
        X *= 10.0 ** rng.integers(-12, 12, size=m)
    elif way == 4:
        X += 10.0 ** chance.randint(0, 12)
    elif way == 5:
        X[chance.randrange(n), chance.randrange(m)] = chance.choice([np.nan, np.inf, 1e200, 1e-300])
    X = X * 10.0 ** chance.choice([0, 0, 0, -200, -40, 40, 200])
    return X.astype(np.float32) if chance.random() < 0.3 else X


def attack_numbers(chance: random.Random, folder: Path) -> None:
    m = chance.choice([1, 2, 6, 40])
    ns, nt = (chance.choice([1, 2, 5, 30, 60]) for _ in range(2))
    source = l2t.Domain(rows(chance, ns, m), np.arange(ns) % chance.randint(1, 4))
    target = l2t.Domain(rows(chance, nt, m))
    pair = l2t.DomainPair(source, target)
    way = chance.random()
    if way < 0.05:
        known = np.arange(nt) < chance.randint(0, nt)
        labels = np.arange(nt) % 3 + chance.choice([0, 5])  # the source's classes, or others
        found = l2t.predict([source], l2t.Domain(target.X, labels, labeled=known)).probabilities
    elif way < 0.15:
        found = l2t.infer(pair, n_labels=chance.randint(1, 9)).transform(target)
    else:
        W = make(chance.choice(ALGORITHMS)).fit(pair).W
        found = target.X @ W
        statistics = pair_statistics(pair, W)
        assert all(np.isfinite(each).all() for each in (statistics.d, statistics.Q, statistics.tau))
    assert np.isfinite(found).all()


@cache
def visitor() -> TestClient:
    app = create_app(l2t.open_store("memory://"), Settings(read_only=True))
    return TestClient(app, base_url="http://127.0.0.1:8765", raise_server_exceptions=False)


def attack_routes(chance: random.Random, folder: Path) -> None:
    words = ["experiences", "experiences.csv", "reflections", "transfers", "agent", "collections"]
    words += [
        "api",
        "static",
        "..",
        "%2e%2e",
        "%00",
        "default",
        "'",
        "9" * 40,
        chance.randbytes(4).hex(),
    ]
    path = "/".join(chance.choices(words, k=chance.randint(0, 4)))
    names = ["limit", "offset", "order", "status", "algorithm", "n_labels", "since", "q"]
    values = ["", "-1", "1e999", "nan", "\0", "é" * 50, "2020-01-01", "done", "9" * 30]
    query = {chance.choice(names): chance.choice(values) for _ in range(chance.randint(0, 3))}
    method = chance.choice(["GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
    body = chance.randbytes(chance.choice([0, 1, 100])) if method in ("POST", "PUT") else None
    answer = visitor().request(method, f"/{path}", params=query, content=body)
    assert answer.status_code < 500, f"{method} /{path} {query}: {answer.status_code}"


#: What is attacked: by what, and how often in a short run.
ATTACKS = {
    "files": (attack_files, 120),
    "json": (attack_json, 200),
    "toml": (attack_toml, 40),
    "numbers": (attack_numbers, 120),
    "routes": (attack_routes, 120),
}


def seeds(name: str, count: int):
    """Yield the seeds that failed once, then fixed ones, or new ones while there is time."""
    lines = SEEDS.read_text().split("\n") if SEEDS.exists() else []
    yield from (int(line.split()[1]) for line in lines if line.startswith(f"{name} "))
    if not SECONDS:
        yield from range(count)
        return
    end = time.monotonic() + SECONDS / len(ATTACKS)
    for seed in itertools.count(secrets.randbits(40)):
        if time.monotonic() > end:
            return
        yield seed


@pytest.mark.parametrize("name", ATTACKS)
def test_a_result_or_one_sentence(name, tmp_path, proves):
    attack, count = ATTACKS[name]
    done = 0
    for seed in seeds(name, count):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                attack(random.Random(f"{name} {seed}"), tmp_path)
        except L2TError as error:
            one_sentence(error)
        except BaseException:
            with SEEDS.open("a") as file:
                file.write(f"{name} {seed}\n")
            raise
        done += 1
    proves(f"Anything gives a result or one sentence: {name}", done, "attacks")
