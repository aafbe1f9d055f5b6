"""What takes long: functions of a request that tell events and return a result."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from l2t.agent import Agent
from l2t.domains import Domain, DomainPair, normalize, read_domain, write_domain
from l2t.exceptions import InvalidInputError
from l2t.experiences import open_store
from l2t.inference import Inference, Step, infer
from l2t.interfaces.dashboard.pictures import Camera, numbers
from l2t.reflection import assess, learning_curve, load_reflection
from l2t.reflection.assessment import CurvePoint
from l2t.reflection.splits import held_out

__all__ = ["ask", "curve", "rank", "transfer"]

Tell = Callable[..., None]
_OUT = Path("out")
_MOST_RUNS = 2000  # of a store, for a learning curve


def transfer(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Infer W for a pair, showing every step, and leave the results as files."""
    pair = _pair(request)
    watch = _watched(pair, tell)
    found = infer(pair, load_reflection("reflection.json"), callback=watch, **request["options"])
    return _finished(pair, found)


def ask(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Do the same by the agent of a store, where its suggestion waits to be told the outcome."""
    pair = _pair(request)
    watch = _watched(pair, tell)
    with open_store(request["store"], create=False) as store:
        suggestion = Agent(store).ask(pair, request["n_labels"], callback=watch)
    found = suggestion.inference
    assert found is not None  # it begins with a function, and does not explore
    kept = {"suggestion": suggestion.id, "version": suggestion.version}
    return _finished(pair, found) | kept


def rank(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Rank sources, telling each as soon as it is known."""
    target, reflection = _domain(request, "target"), load_reflection("reflection.json")
    ranked = []
    for number in range(request["n_sources"]):
        source = _domain(request, f"source{number}")
        try:
            told = _told(infer(DomainPair(source, target), reflection, **request["options"]))
        except InvalidInputError as error:  # of another space, say; the others may do
            told = {"predicted": None, "interval": None, "verdict": None, "reason": str(error)}
        row = {name: told[name] for name in ("predicted", "interval", "verdict", "reason")}
        ranked.append({"source": source.name} | row)
        tell("ranked", **ranked[-1])
    ranked.sort(key=lambda each: math.inf if each["predicted"] is None else -each["predicted"])
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


def _watched(pair: DomainPair, tell: Tell) -> Callable[[Step], None]:
    """Tell how the pair looks, and return what tells every step."""
    camera = Camera(pair)
    tell("scene", **camera.scene())
    tell("frame", name="as they are", iteration=None, value=None, points=camera.picture(None))

    def watch(step: Step) -> None:
        points = camera.picture(step.W)
        tell("frame", name=step.name, iteration=step.iteration, value=step.value, points=points)

    return watch


def _finished(pair: DomainPair, found: Inference) -> dict[str, Any]:
    _write_results(pair.target, found)
    return _told(found) | {"source": pair.source.name, "target": pair.target.name}


def _domain(request: dict[str, Any], file: str) -> Domain:
    domain = read_domain(f"{file}.npz", name=request["names"][file])
    return normalize(domain, request["normalize"])


def _write_results(target: Domain, found: Inference) -> None:
    moved = target.with_features(found.transform(target))
    write_domain(moved, _OUT / "target_z.csv")
    write_domain(moved, _OUT / "target_z.npz")
    np.save(_OUT / "W.npy", found.W, allow_pickle=False)
    (_OUT / "result.json").write_text(json.dumps(_told(found), indent=1) + "\n")


def _told(found: Inference) -> dict[str, Any]:
    why = found.explanation
    vote = found.vote
    return {
        "predicted": found.predicted,
        "interval": found.interval,
        "verdict": found.verdict,
        "reason": found.reason,
        "n_labels": found.n_labels,
        "start": found.start,
        "stop_reason": found.stop_reason,
        "candidates": [asdict(each) for each in found.candidates],
        "history": found.history,
        "plan": asdict(found.plan),
        "W_shape": found.W.shape,
        "vote": None
        if vote is None
        else {"n_labels": vote.n_labels, "without": vote.without, "with_W": vote.with_W},
        "terms": why.terms,
        "exponents": why.kernels.exponents.tolist(),
        "weights": why.weights.tolist(),
        "by_kernel": {name: part.tolist() for name, part in why.by_kernel.items()},
        "explanation": str(why),
    }
