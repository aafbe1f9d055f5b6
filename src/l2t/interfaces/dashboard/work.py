"""What takes long: functions of a request that report events and return a result."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from l2t.agent import Agent
from l2t.agent.knowledge import MAX_TARGETS
from l2t.domains import Domain, DomainPair, KnownClasses, normalize, read_domain, write_domain
from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.inference import Inference, infer, rank_sources
from l2t.interfaces.dashboard.pictures import numbers, picture
from l2t.reflection import assess, learning_curve
from l2t.reflection.assessment import CurvePoint
from l2t.reflection.calibration import finite_interval
from l2t.reflection.lesson import held_out

__all__ = ["ask", "curve", "rank", "transfer"]

Tell = Callable[..., None]
_OUT = Path("out")
_MOST_RUNS = 2000  # of a store, for a learning curve


def transfer(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Find what to transfer for a pair, reporting each stage, and leave the results as files."""
    pair = _pair(request)
    known = _known_classes(request)
    found = infer(
        pair, known=known, callback=lambda stage: tell("stage", name=stage), **request["options"]
    )
    return _finished(pair, found)


def ask(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Do the same by the agent of a store, which keeps its suggestion until the outcome is reported."""
    pair = _pair(request)
    with open_store(request["store"], create=False) as store:
        suggestion = Agent(store).ask(
            pair, callback=lambda stage: tell("stage", name=stage), **request["options"]
        )
    assert suggestion.inference is not None  # it is new, and not read from the store
    kept = {"suggestion": suggestion.id, "version": suggestion.version}
    return _finished(pair, suggestion.inference) | kept


def rank(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Rank sources by what each adds over having none, reporting each as soon as it is known."""
    target, known = _domain(request, "target"), _known_classes(request)
    ranked: list[dict[str, Any]] = []
    for number in range(request["n_sources"]):
        source = _domain(request, f"source{number}")
        try:
            (found,) = rank_sources(target, [source], known=known, **request["options"])
            row = {"adds": found.adds} | _summary(found.inference)
        except InvalidInputError as error:  # with other features, say; the others may do
            row = {"adds": None, "reason": str(error)}
        ranked.append({"source": source.name} | row)
        tell("ranked", **ranked[-1])
    ranked.sort(key=lambda each: math.inf if each["adds"] is None else -each["adds"])
    return {"target": target.name, "ranking": ranked}


def curve(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Measure a learning curve on the store, and leave the function that learned most."""
    with open_store(request["store"], create=False) as store:
        keys = store.summaries.some_runs(_MOST_RUNS)
        if not keys:
            raise InvalidInputError(
                "a learning curve needs runs that were done, got an empty store"
            )
        experiences = list(store.experiences(key=keys))

    def point(each: CurvePoint) -> None:
        tell("point", **numbers(asdict(each)))

    points, function = learning_curve(experiences, callback=point)
    function.save(_OUT / "reflection.json")
    told = assess(function, (each for each in experiences if held_out(each.target)))
    return {
        "points": [numbers(asdict(each)) for each in points],
        "held_out_pairs": told.n_pairs,
        "runs": len(keys),
    }


def _pair(request: dict[str, Any]) -> DomainPair:
    return DomainPair(_domain(request, "source"), _domain(request, "target"))


def _known_classes(request: dict[str, Any]) -> KnownClasses | None:
    """Return the classes of the newest labelled targets in the store, scaled as the pair is.

    A target that shares a row with the one at hand is left out: after scaling, that row might not be
    recognised any more, and its label must not be used.
    """
    if request["store"] is None:
        return None
    target = read_domain("target.npz")
    with open_store(request["store"], create=False) as store:
        keys = list(store.target_runs(n_features=target.n_features).values())[-MAX_TARGETS:]
        past = [store.target(key) for key in keys]
    others = (each for each in past if not _share_rows(each, target))
    return KnownClasses(normalize(each, request["normalize"]) for each in others)


def _share_rows(labelled: Domain, target: Domain) -> bool:
    known = KnownClasses([labelled])
    return len(known.without(target)) < len(known)


def _finished(pair: DomainPair, found: Inference) -> dict[str, Any]:
    """Write the results, and return them with a picture."""
    transferred = found.verdict == "transfer"
    moved = pair.target.with_features(found.transform(pair.target))
    write_domain(moved, _OUT / "target_z.csv")
    write_domain(moved, _OUT / "target_z.npz")
    if transferred:
        np.save(_OUT / "W.npy", found.W, allow_pickle=False)
    result = _summary(found) | {
        "source": pair.source.name,
        "target": pair.target.name,
        "n_labels": found.n_labels,
        "n_classes": found.n_classes,
        "candidates": [numbers(each) for each in found.candidates.records()],
        "W_shape": found.W.shape,
    }
    (_OUT / "result.json").write_text(json.dumps(result, indent=1) + "\n")
    return result | {"picture": picture(pair, found.W if transferred else None)}


def _summary(found: Inference) -> dict[str, Any]:
    return {
        "choice": found.choice,
        "verdict": found.verdict,
        "predicted": found.predicted,
        "interval": finite_interval(found.interval),
        "reason": found.reason,
    }


def _domain(request: dict[str, Any], file: str) -> Domain:
    domain = read_domain(f"{file}.npz", name=request["names"][file])
    return normalize(domain, request["normalize"])
