"""What the fuzz does: each attack draws one damaged file, text, call or request, and uses it.

An attack may end with a result or an `L2TError`. Whatever else leaves it is a bug.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import json
import random
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from starlette.testclient import TestClient

import l2t
from l2t.algorithms import make, names
from l2t.interfaces.cli import main
from l2t.interfaces.dashboard.app import create_app
from l2t.interfaces.dashboard.settings import Settings
from l2t.paper.files import from_json
from l2t.statistics import pair_statistics
from tests.domains.test_files_damage import mutate, valid
from tests.experiences.store.contract import random_run

TABLES = ("npz", "csv", "parquet", "svmlight", "npz, stored")
MATLAB = ("mat", "mat, sparse")  # each is read in a process of its own, which takes half a second
#: Nothing that a JSON file may hold is used unchecked.
ODD = (None, True, -1, 0, 1e308, -0.5, 2**70, "", "\0", "9", [], {}, [[]], [1e308], {"a": None})


@cache
def file(kind: str, folder: Path) -> tuple[bytes, str, dict[str, str]]:
    """Return the bytes of a good file, its format and how to read it."""
    if kind != "model":
        return valid(folder / "good", kind)
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2
    result = l2t.predict([l2t.Domain(X, y)], l2t.Domain(X, y, labeled=np.arange(12) < 4))
    return result.model.save(folder / "good").read_bytes(), kind, {}


def read(kind: str, path: Path, **options: Any) -> Any:
    return l2t.load_model(path) if kind == "model" else l2t.read_domain(path, **options)


def attack_files(chance: random.Random, folder: Path) -> None:
    kind = chance.choice(MATLAB if chance.random() < 0.005 else (*TABLES, "model"))
    content, format, named = file(kind, folder)
    for _ in range(chance.choice([1, 1, 2])):
        content = mutate(content, chance) or b"x"
    path = folder / chance.choice(["file", f"file.{format}"])
    path.write_bytes(content)
    chosen = {"format": format} | named if chance.random() < 0.7 else {}
    read(kind, path, **chosen)


def attack_flips(chance: random.Random, folder: Path) -> None:
    """A bit that flips in what has a checksum is noticed, or changes nothing."""
    kind = chance.choice((*TABLES, "model", "reflection"))
    content, format, named = (shipped(), "", {}) if kind == "reflection" else file(kind, folder)
    changed = bytearray(content)
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    if kind == "reflection":
        from_json(bytes(changed))
        return
    (folder / "flipped").write_bytes(changed)
    options = {} if kind == "model" else {"format": format} | named
    found = read(kind, folder / "flipped", **options)
    (folder / "whole").write_bytes(content)
    if kind in ("npz", "npz, stored", "parquet"):
        assert found == read(kind, folder / "whole", **options), "a bit flipped unnoticed"
    elif kind == "model":
        whole, X = read(kind, folder / "whole"), np.eye(3)
        np.testing.assert_array_equal(found.predict_proba(X), whole.predict_proba(X))


@cache
def store(folder: Path) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of a store of six runs and a rehearsal, and what is read of it."""
    path = folder / "good.db"
    with l2t.open_store(path) as opened:
        for number in range(6):
            opened.add(random_run(number))
        opened.add_rehearsal({"play": 1}, {"accuracies": [0.5, 0.75]})
    with l2t.open_store(path) as opened:
        return path.read_bytes(), read_store(opened, sorted(opened.keys()))


def read_store(opened: l2t.ExperienceStore, keys: list[str]) -> dict[str, Any]:
    """Return what a store holds, as text, or the error of a part that cannot be read."""
    reads: dict[str, Callable[[], Any]] = {
        "keys": lambda: sorted(opened.keys()),
        "experiences": lambda: [experience_text(one) for one in opened.experiences()],
        "page": lambda: [
            experience_text(one)
            for one in opened.experiences(limit=4, order="improvement_ratio", statistics=False)
        ],
        "rehearsal": lambda: opened.rehearsal({"play": 1}),
    }
    reads |= {f"run {key}": partial(run_text, opened, key) for key in keys}
    content = {}
    for name, read_part in reads.items():
        try:
            content[name] = read_part()
        except l2t.exceptions.StoreError as error:
            content[name] = error
    return content


def experience_text(experience: Any) -> str:
    statistics = experience.statistics
    arrays = () if statistics is None else (statistics.d, statistics.Q, statistics.tau)
    text = repr(dataclasses.replace(experience, statistics=None))
    return text + "".join(str(array.tolist()) for array in arrays)


def run_text(opened: l2t.ExperienceStore, key: str) -> str:
    run = opened.run(key)
    sides = [(side.fingerprint, side.name) for side in (run.pair.source, run.pair.target)]
    return f"{sides} {run.scores} {run.W.tolist()} {run.params} {run.created_at} {run.duration}"


def attack_stores(chance: random.Random, folder: Path) -> None:
    """What is read of a damaged store is what was stored; otherwise it is refused."""
    content, whole = store(folder)
    start, size = chance.randrange(len(content)), chance.choice([1, 1, 8, 64])
    part = bytes(size) if chance.random() < 0.3 else chance.randbytes(size)
    for left in folder.glob("damaged.db*"):
        left.unlink()
    damaged = content[:start] + part + content[start + size :]
    (folder / "damaged.db").write_bytes(damaged[: len(content)])
    with l2t.open_store(folder / "damaged.db", create=False) as opened:
        keys = [name.removeprefix("run ") for name in whole if name.startswith("run ")]
        for name, part_read in read_store(opened, keys).items():
            refused = isinstance(part_read, Exception) and "\n" not in str(part_read)
            assert refused or part_read == whole[name], name
        assert not any("\n" in problem for problem in opened.check())


@cache
def shipped() -> bytes:
    return (resources.files("l2t.paper.shipped") / "default.json").read_bytes()


def attack_json(chance: random.Random, folder: Path) -> None:
    """Bytes are changed, or a value of the tree."""
    if chance.random() < 0.3:
        from_json(mutate(shipped(), chance))
        return
    tree = json.loads(shipped())
    for _ in range(chance.choice([1, 1, 2, 4])):
        place: Any = tree
        while True:
            keys = list(place if isinstance(place, dict) else range(len(place)))
            key = chance.choice(keys)
            deeper = isinstance(place[key], dict | list) and place[key]
            if not deeper or chance.random() < 0.2:
                break
            place = place[key]
        if chance.random() < 0.2:
            del place[key]
        else:
            place[key] = copy.deepcopy(chance.choice([*ODD, chance.gauss(0, 1), 12]))
        if not tree or not place:
            break
    function = from_json(json.dumps(tree))
    with np.errstate(over="ignore"):  # a weight may be 1e308
        function.predict(pair_statistics(*usual_pair()), 3)


@cache
def usual_pair() -> tuple[l2t.DomainPair, np.ndarray]:
    rng = np.random.default_rng(0)
    source, target = (l2t.Domain(rng.normal(size=(12, 4)), np.arange(12) % 3) for _ in range(2))
    return l2t.DomainPair(source, target), np.eye(4, 2)


def attack_toml(chance: random.Random, folder: Path) -> None:
    text = (
        b'source = "a.npz"\ntarget = "b.npz"\npairs = 3\nalgorithms = "gfk"\none-per-pair = false\n'
    )
    (folder / "run.toml").write_bytes(mutate(text, chance))
    message = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(message):
        patch.chdir(folder)  # where neither a.npz nor b.npz is
        patch.setattr(sys, "argv", ["l2t", "collect", "--config", "run.toml"])
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code in (1, 2)
    assert "Traceback" not in message.getvalue()


def rows(chance: random.Random, n: int, m: int) -> np.ndarray:
    """Rows that are odd in one way or another."""
    rng = np.random.default_rng(chance.getrandbits(32))
    X = rng.normal(size=(n, m))
    way = chance.randrange(9)
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
        X = np.outer(X[:, 0], X[0])  # of rank one
    elif way == 6 and chance.random() < 0.3:
        X[chance.randrange(n), chance.randrange(m)] = chance.choice([np.nan, np.inf, 1e200, 1e-300])
    return X * 10.0 ** chance.choice([0] * 12 + [-200, -140, -40, 40, 140, 200])


def shown_as(X: np.ndarray, chance: random.Random) -> Any:
    """Return rows as people have them: in another type of number, memory layout or container."""
    way = chance.randrange(14)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if way == 0:
            return X.astype(chance.choice([np.float32, np.float16, np.longdouble]))
        if way == 1:
            return np.nan_to_num(X).clip(-1e4, 1e4).astype(chance.choice([int, np.uint8, bool]))
    if way == 2:
        return sparse.csr_array(X)
    if way == 3:
        return pd.DataFrame(X)
    if way == 4:
        return X.tolist()
    if way == 5:
        return np.asfortranarray(X)[::-1]
    return np.ma.array(X, mask=X > 2) if way == 6 else X


def labels(chance: random.Random, n: int) -> Any:
    """Labels of few classes, of one row each, of several types, or none at all."""
    codes = np.arange(n) % chance.choice([1, 2, 2, 3, 3, 4, 50])
    way = chance.randrange(12)
    if way == 0:
        return [f"class {code}" for code in codes]
    if way == 1:
        return codes / 2 - 1
    if way == 2:
        return [None if chance.random() < 0.3 else int(code) for code in codes]
    return codes if way > 3 else chance.choice([codes.astype(bool), [*codes[1:], "a"], [{}] * n])


def attack_numbers(chance: random.Random, folder: Path) -> None:
    m = chance.choice([1, 2, 6, 6, 20, 40])
    ns, nt = (chance.choice([1, 2, 5, 20, 30, 60]) for _ in range(2))
    source = l2t.Domain(shown_as(rows(chance, ns, m), chance), labels(chance, ns))
    target = l2t.Domain(shown_as(rows(chance, nt, m), chance))
    pair = l2t.DomainPair(source, target)
    way = chance.random()
    if way < 0.03:
        known = np.arange(nt) < chance.randint(0, nt)
        classes = np.arange(nt) % 3 + chance.choice([0, 5])  # the source's classes, or others
        found = l2t.predict([source], l2t.Domain(target.X, classes, labeled=known)).probabilities
    elif way < 0.1:
        found = l2t.infer(pair, n_labels=chance.randint(1, 9)).transform(target)
    else:
        size = chance.choice([{}, {}, {"n_components": chance.choice([1, 2, 5, 100])}])
        name = chance.choice(names())
        fixed = name in ("identity", "spectrum", "classes", "classes+spectrum", "coral")
        W = make(name, **{} if fixed else size).fit(pair).W
        found = target.X @ W
        statistics = pair_statistics(pair, W)
        assert all(np.isfinite(each).all() for each in (statistics.d, statistics.Q, statistics.tau))
    assert np.isfinite(found).all()


@cache
def visitor() -> tuple[TestClient, list[str]]:
    """A visitor of a dashboard, and the paths that it documents."""
    app = create_app(l2t.open_store("memory://"), Settings(read_only=True))
    client = TestClient(app, base_url="http://127.0.0.1:8765", raise_server_exceptions=False)
    return client, list(client.get("/api/openapi.json").json()["paths"])


def attack_routes(chance: random.Random, folder: Path) -> None:
    client, paths = visitor()
    words = ["experiences.csv", "api", "static", "..", "%2e%2e", "%00", "default", "'", "9" * 40]
    words += ["0" * 32, "0" * 64, chance.randbytes(4).hex()]
    path = re.sub(r"{\w+}", lambda _: chance.choice(words), chance.choice(paths))
    if chance.random() < 0.3:
        path = "/" + "/".join(chance.choices([*words, path[1:]], k=chance.randint(0, 4)))
    keys = ["limit", "offset", "order", "status", "algorithm", "n_labels", "since", "q"]
    values = ["", "-1", "1e999", "nan", "\0", "é" * 50, "2020-01-01", "done", "9" * 30]
    query = {chance.choice(keys): chance.choice(values) for _ in range(chance.randint(0, 3))}
    method = chance.choice(["GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"])
    body = chance.randbytes(chance.choice([0, 1, 100])) if method in ("POST", "PUT") else None
    answer = client.request(method, path, params=query, content=body)
    assert answer.status_code < 500, f"{method} {path} {query}: {answer.status_code}"
