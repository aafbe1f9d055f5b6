"""The functions that jobs run: each takes a request, reports events and returns a result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from l2t.agent import Agent
from l2t.display import finite_interval
from l2t.domains import Domain, DomainPair, KnownClasses, normalize, read_domain
from l2t.domains.known import MAX_TARGETS
from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.inference import Inference, rank_sources
from l2t.interfaces.dashboard.settings import ReportEvent
from l2t.paper import assess, learning_curve
from l2t.paper.training_set import held_out
from l2t.prediction.summary import finite_or_none
from l2t.typing import JsonObject

_OUT = Path("out")
_MAX_RUNS = 2000  # of a store, for a learning curve


def ask(request: JsonObject, report: ReportEvent) -> JsonObject:
    """Ask what to transfer, and store the suggestion."""
    pair = DomainPair(_domain(request, "source"), _domain(request, "target"))
    with open_store(request["store"], create=False) as store:
        suggestion = Agent(store).ask(pair, callback=_stages(report), **request["options"])
    assert suggestion.inference is not None  # it is new
    return _summary(suggestion.inference) | {"suggestion": suggestion.id}


def _stages(report: ReportEvent) -> Callable[[str], None]:
    return lambda stage: report("stage", name=stage)


def rank(request: JsonObject, report: ReportEvent) -> JsonObject:
    """Rank sources by how much each improves the accuracy, and report each result at once."""
    target, known = _domain(request, "target"), _known_classes(request)
    ranked: list[JsonObject] = []
    for number in range(request["n_sources"]):
        source = _domain(request, f"source{number}")
        try:
            (source_rank,) = rank_sources(target, [source], known=known, **request["options"])
            row: JsonObject = {"adds": source_rank.adds} | _summary(source_rank.inference)
        except InvalidInputError as error:  # it has other features, for example
            row = {"adds": None, "reason": str(error)}
        ranked.append({"source": source.name} | row)
        report("ranked", **ranked[-1])
    ranked.sort(key=lambda row: math.inf if row["adds"] is None else -row["adds"])
    return {"target": target.name, "ranking": ranked}


def curve(request: JsonObject, report: ReportEvent) -> JsonObject:
    """Measure a learning curve on the store, and save the function learned from most pairs."""
    with open_store(request["store"], create=False) as store:
        keys = store.summaries.some_runs(_MAX_RUNS)
        if not keys:
            raise InvalidInputError("a learning curve needs finished runs, got an empty store")
        experiences = list(store.experiences(key=keys))
    points, function = learning_curve(
        experiences, callback=lambda point: report("point", **finite_or_none(asdict(point)))
    )
    function.save(_OUT / "reflection.json")
    assessed = assess(
        function, (experience for experience in experiences if held_out(experience.target))
    )
    listed = [finite_or_none(asdict(point)) for point in points]
    return {"points": listed, "held_out_pairs": assessed.n_pairs, "runs": len(keys)}


def _known_classes(request: JsonObject) -> KnownClasses | None:
    """Return the classes of the newest labelled targets in the store, scaled as the pair is.

    A target that shares a row with the one at hand is left out: after scaling, that row could not be
    recognised, and its label must not be used.
    """
    if request["store"] is None:
        return None
    target = read_domain("target.npz")
    with open_store(request["store"], create=False) as store:
        past = list(store.targets(n_features=target.n_features, limit=MAX_TARGETS))
    with_classes = ((domain, KnownClasses([domain])) for domain in past)
    separate = (
        domain for domain, known in with_classes if len(known.without(target)) == len(known)
    )
    return KnownClasses(normalize(domain, request["normalize"]) for domain in separate)


def _summary(inference: Inference) -> JsonObject:
    names = ("choice", "verdict", "predicted", "reason")
    summary = {name: getattr(inference, name) for name in names}
    return summary | {"interval": finite_interval(inference.interval)}


def _domain(request: JsonObject, file: str) -> Domain:
    domain = read_domain(f"{file}.npz", name=request["names"][file])
    return normalize(domain, request["normalize"])
