"""Tasks in which source and target have the same classes: five benchmarks, and development data.

All choices are made on the development data (digits, photographs and sketches, intents, letters); the
benchmarks are for evaluation alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from l2t.domains import Domain, digits, mnist, normalize, read_domain
from l2t.domains.sampling import spelling
from l2t.typing import AnyArray
from reproduction.office_caltech import DOMAINS, load_office_caltech

__all__ = ["BENCHMARKS", "DEVELOPMENT", "MOST_ROWS", "SharedTask", "SourceGroup", "several_sources"]
__all__ += ["shared_tasks"]

DEVELOPMENT = ("digits", "photo-sketch", "intents", "letters", "noise features")
BENCHMARKS = ("office-caltech-surf", "office-caltech-googlenet", "usps-mnist", "amazon-reviews",
              "activity")  # fmt: skip
#: Intents of hwu64 and clinc150 that mean the same.
INTENTS = {
    "alarm_set": "alarm", "play_music": "play_music", "weather_query": "weather",
    "qa_definition": "definition", "general_joke": "tell_joke", "general_repeat": "repeat",
    "transport_traffic": "traffic", "transport_taxi": "uber", "cooking_recipe": "recipe",
    "datetime_convert": "timezone", "lists_query": "todo_list", "qa_maths": "calculator",
    "qa_currency": "exchange_rate", "general_affirm": "yes", "general_negate": "no",
    "datetime_query": "time", "music_query": "what_song", "takeaway_order": "order",
}  # fmt: skip
#: At most so many random rows of a domain, but for SURF, whose figures are compared with published ones.
MOST_ROWS = {"development": 500, "benchmark": 300}


@dataclass(frozen=True, eq=False)
class SharedTask:
    """A source and a target with the same classes; all labels of the target are known for evaluation."""

    benchmark: str
    name: str
    source: Domain
    target: Domain


@dataclass(frozen=True, eq=False)
class SourceGroup:
    """Several sources of one target."""

    kind: str
    target: Domain
    sources: dict[str, Domain]


def several_sources(data: Path) -> Iterator[SourceGroup]:
    """Yield targets with several sources: each domain of SURF, and development data.

    Development: another domain and rows of the target's own; and letters in four parts along a direction.
    """
    surf = _domains("office-caltech-surf", data)
    yield from _each_from_others("surf", {name: _some(each, 0, 250) for name, each in surf.items()})
    for kind in ("digits", "intents", "photo-sketch"):
        for task in list(shared_tasks(kind, data))[:2]:
            order = np.random.default_rng(3).permutation(len(task.target))
            near, target = task.target.take(order[:200]), task.target.take(order[-200:])
            far = _some(task.source, 0, 200)
            yield SourceGroup(kind, target, {"far": far, "near": near})
    letters = normalize(read_domain(data / "letters" / "letters.npz"), "zscore")
    rng = np.random.default_rng(0)
    few = letters.take(np.isin(letters.codes, rng.permutation(26)[:10]))
    parts = np.array_split(np.argsort(few.X @ rng.normal(size=few.n_features)), 4)
    yield from _each_from_others(
        "letters",
        {
            f"part {i}": normalize(_some(few.take(rows), 0, 200), "zscore")
            for i, rows in enumerate(parts, 1)
        },
    )


def _each_from_others(kind: str, domains: dict[str, Domain]) -> Iterator[SourceGroup]:
    for name, target in domains.items():
        yield SourceGroup(kind, target, {k: each for k, each in domains.items() if k != name})


def shared_tasks(benchmark: str, data: Path) -> Iterator[SharedTask]:
    """Yield the tasks of a benchmark, or of one kind of development data."""
    if benchmark == "letters":
        yield from _letters(data)
        return
    if benchmark == "photo-sketch":
        yield from _photo_sketch(data)
        return
    if benchmark == "noise features":
        yield from _noisy(data)
        return
    domains = _domains(benchmark, data)
    steps = (1, 2) if benchmark == "activity" else range(1, len(domains))
    names = list(domains)
    for at, name in enumerate(names):
        for step in steps:
            other = names[(at + step) % len(names)]
            yield SharedTask(benchmark, f"{name} > {other}", domains[name], domains[other])


@cache
def _domains(benchmark: str, data: Path) -> dict[str, Domain]:
    """Return the domains by name, scaled as suits them."""
    folder = data / benchmark
    if benchmark == "office-caltech-surf":
        return load_office_caltech(folder)
    if benchmark == "office-caltech-googlenet":
        found = {each: normalize(read_domain(folder / f"{DOMAINS[each]}.npz")) for each in "AWD"}
    elif benchmark == "usps-mnist":
        found = {each: normalize(read_domain(folder / f"{each}.npz")) for each in ("usps", "mnist")}
    elif benchmark == "amazon-reviews":
        names = ("books", "dvd", "electronics", "kitchen")
        read = {each: read_domain(folder / f"{each}.svmlight") for each in names}
        width = max(each.n_features for each in read.values())
        found = {
            name: normalize(Domain(np.pad(np.log1p(d.X), ((0, 0), (0, width - d.n_features))), d.y))
            for name, d in read.items()
        }
    elif benchmark == "activity":
        whole, users = read_domain(folder / "wisdm.npz"), np.load(folder / "wisdm.npz")["user"]
        groups = np.array_split(np.random.default_rng(0).permutation(np.unique(users)), 4)
        found = {
            f"users {i}": normalize(whole.take(np.isin(users, group)), "zscore")
            for i, group in enumerate(groups, 1)
        }
    elif benchmark == "intents":
        found = _intents(folder)
    else:
        found = {"digits": normalize(digits()), "mnist": normalize(mnist())}
    most = MOST_ROWS["benchmark" if benchmark in BENCHMARKS else "development"]
    return {name: _some(each, 0, most) for name, each in found.items()}


def _intents(folder: Path) -> dict[str, Domain]:
    hwu, clinc = (read_domain(folder / f"{name}.npz") for name in ("hwu64", "clinc150"))
    found = {}
    for name, domain, wanted in (
        ("hwu64", hwu, {each: each for each in INTENTS}),
        ("clinc150", clinc, {other: each for each, other in INTENTS.items()}),
    ):
        labels = np.array([wanted.get(domain.classes[code], "") for code in domain.codes])
        found[name] = Domain(domain.X[labels != ""], labels[labels != ""])
    return found


def _photo_sketch(data: Path) -> Iterator[SharedTask]:
    """Yield four tasks of ten classes that photographs and sketches have both, by name."""
    photo, sketch = (
        normalize(read_domain(data / "photo-sketch" / f"{name}.npz"))
        for name in ("photo", "sketch")
    )
    both = sorted(
        {spelling(name) for name in photo.classes} & {spelling(name) for name in sketch.classes}
    )
    for seed in range(2):
        chosen = np.random.default_rng(seed).permutation(both)[:10]
        ours, theirs = (_named(each, chosen, seed) for each in (photo, sketch))
        yield SharedTask("photo-sketch", f"photo > sketch {seed}", ours, theirs)
        yield SharedTask("photo-sketch", f"sketch > photo {seed}", theirs, ours)


def _named(domain: Domain, names: AnyArray, seed: int) -> Domain:
    labels = np.array([spelling(domain.classes[code]) for code in domain.codes])
    rows = np.isin(labels, names)
    return _some(Domain(domain.X[rows], labels[rows]), seed)


def _letters(data: Path) -> Iterator[SharedTask]:
    """Yield three tasks of ten letters: rows at both ends of a random direction of the features."""
    letters = normalize(read_domain(data / "letters" / "letters.npz"), "zscore")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        place = letters.X @ rng.normal(size=letters.n_features)
        few = np.isin(letters.codes, rng.permutation(26)[:10])
        low, high = (
            normalize(_some(letters.take(few & rows), seed), "zscore")
            for rows in (place < np.quantile(place, 0.35), place > np.quantile(place, 0.65))
        )
        yield SharedTask("letters", f"low > high {seed}", low, high)


def _noisy(data: Path) -> Iterator[SharedTask]:
    """Yield digits and intents with 400 features of noise, of two and four times the spread of the data."""
    for kind in ("digits", "intents"):
        for task in shared_tasks(kind, data):
            for strength in (2, 4):
                rng = np.random.default_rng(0)
                ours, theirs = (
                    _with_noise(each, strength, rng) for each in (task.source, task.target)
                )
                yield SharedTask("noise features", f"{task.name} {strength}", ours, theirs)


def _with_noise(domain: Domain, strength: float, rng: np.random.Generator) -> Domain:
    some = _some(domain, 0, MOST_ROWS["benchmark"])
    spread = strength * np.sqrt(some.X.var(axis=0).sum() / 400)
    return some.with_features(np.hstack([some.X, spread * rng.normal(size=(len(some), 400))]))


def _some(domain: Domain, seed: int, most: int = MOST_ROWS["development"]) -> Domain:
    rows = np.random.default_rng(seed).permutation(len(domain))[:most]
    return domain.take(np.sort(rows))
