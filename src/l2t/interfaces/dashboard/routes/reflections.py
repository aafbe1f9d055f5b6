"""Reflection functions: parameters, and accuracy on the pairs of this store."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi import Path as PathParameter

from l2t.experiences import Experience, ExperienceStore
from l2t.forecast import Forecast
from l2t.interfaces.dashboard.context import Context, Here
from l2t.interfaces.dashboard.errors import Refused
from l2t.interfaces.dashboard.functions import LEARNED_HERE, NamedFunction
from l2t.interfaces.dashboard.jobs import Job
from l2t.interfaces.dashboard.models import JobOut
from l2t.interfaces.dashboard.routes.predictions import job_out
from l2t.interfaces.dashboard.routes.sources import family_of
from l2t.paper import Reflection, assess, load_reflection, recompute_statistics
from l2t.paper.training_set import HELD_OUT_ONE_IN, held_out
from l2t.prediction.summary import finite_or_none
from l2t.typing import JsonObject

router = APIRouter(tags=["reflection functions"])

Name = Annotated[str, PathParameter(max_length=200)]
Pairs = Literal["all", "held-out"]
_FRESH = 30.0  # seconds
_MAX_RUNS = 300  # that a function is assessed on
_MAX_RECOMPUTED = 60  # of them, if their statistics have to be recomputed


@router.get("/reflections")
def reflections(here: Here) -> list[JsonObject]:
    """Return the reflection functions; `latest` marks the one that was learned last.

    The rank correlation is Spearman's, of predicted and measured ratios on pairs held out in learning.
    """
    latest = here.functions.latest()
    return [_summary(function, latest) for function in here.functions.all().values()]


@router.get("/reflections/{name}")
def reflection(here: Here, name: Name) -> JsonObject:
    """Return one function in full; in the convex form of 1/f there is neither lambda nor mu."""
    known = here.functions.get(name)
    function = known.function
    calibration = function.calibration
    return {
        "summary": _summary(known, here.functions.latest()),
        "exponents": function.kernels.exponents.tolist(),
        "beta": function.kernel_weights.tolist(),
        "lambda_": function.parameters.get("lambda"),
        "mu": function.parameters.get("mu"),
        "b": function.parameters["b"],
        "n_neighbors": function.n_neighbors,
        "label_range": function.label_range,
        "trained_on": function.trained_on,
        "calibrated_on": None if calibration is None else calibration[0].n_pairs,
        "algorithms": dict(function.training.get("algorithms", {})),
    }


@router.get("/reflections/{name}/assessment")
def assessment(
    here: Here,
    name: Name,
    pairs: Annotated[
        Pairs, Query(description="All pairs, or those that a learning curve holds out.")
    ] = "all",
) -> JsonObject:
    """Return predicted and measured ratios for up to 300 runs of this store.

    `perhaps_seen`: whether the function may have been learned from this store.
    """
    known = here.functions.get(name)
    key = ("assessment", name, known.learned_at, pairs)
    return here.memo.get(key, lambda: _assessment(here, known, pairs), fresh_for=_FRESH)


@router.get("/forecast")
def forecast() -> JsonObject:
    """Return the parameters of the shipped forecast, and its coverage on kinds of data left out of learning.

    `covered` is the share of a kind's pairs inside the 90 % interval; `prior` is the part of the possible
    gain that a candidate reached on other data, by labels per class (`shots`).
    """
    known = Forecast.default()
    half_width = known.reliability.half_width(0.9)
    return {
        "kinds": [
            {"name": name, "n_pairs": kind.n_pairs, "covered": kind.covered(half_width)}
            for name, kind in known.reliability.kinds.items()
        ],
        "shots": known.shots,
        "prior": known.prior,
        "misled": known.misled,
    }


@router.post("/learning-curves", status_code=202)
def learning_curve(here: Here) -> JobOut:
    """Start a job that measures a learning curve: functions from more and more pairs, on held-out ones."""
    url = here.shared_store("a learning curve")

    def keep(job: Job) -> None:
        here.functions.add_learned(load_reflection(job.folder / "out" / "reflection.json"))

    return job_out(here.jobs.start("curve", lambda folder: {"store": url}, on_done=keep))


def _summary(known: NamedFunction, latest: NamedFunction) -> JsonObject:
    training = known.function.training
    chosen = _chosen(known.function)
    return {
        "name": known.name,
        "origin": known.origin,
        "learned_at": known.learned_at,
        "latest": known.name == latest.name,
        **{name: training.get(name) for name in ("experiences", "pairs", "version")},
        "held_out_rank_correlation": chosen.get("spearman"),
        "held_out_rmse": chosen.get("rmse"),
    }


def _chosen(function: Reflection) -> JsonObject:
    """Return the settings that were chosen in learning, with their scores on pairs held out."""
    training = function.training
    for choice in training.get("choices", ()):
        settings = all(choice.get(name) == training.get(name) for name in ("gamma", "huber"))
        if settings and choice.get("n_neighbors") == function.n_neighbors:
            return finite_or_none(choice)
    return {}


def _assessment(here: Context, known: NamedFunction, pairs: Pairs) -> JsonObject:
    summaries, function = here.store.summaries, known.function
    keys = summaries.some_runs(_MAX_RUNS if pairs == "all" else HELD_OUT_ONE_IN * _MAX_RUNS)
    if not keys:
        raise Refused(404, "the store has no runs yet to assess a function on")
    experiences = here.store.experiences(key=keys, trained_on=function.trained_on)
    if pairs == "held-out":
        experiences = (experience for experience in experiences if held_out(experience.target))
    readable = list(_with_statistics(function, experiences, here.store))
    assessment = assess(function, readable)
    totals = here.memo.get("totals", summaries.totals)
    learned = function.training.get("runs")
    return {
        "name": known.name,
        "pairs": pairs,
        "n_pairs": assessment.n_pairs,
        "n_runs": len(assessment.runs),
        "terms": assessment.terms,
        "warnings": assessment.warnings,
        "families": _families(function, readable),
        "points": [finite_or_none(asdict(run)) for run in assessment.runs],
        "coverage": [
            {"n_labels": count, "share": share, "count": n}
            for count, (share, n) in sorted(assessment.coverage.items())
        ],
        "reliability": [
            {"level": level, "share": share} for level, share in assessment.reliability.items()
        ],
        "perhaps_seen": (known.name == LEARNED_HERE and pairs == "all")
        or (learned is not None and learned == totals["runs"] - totals["failed"]),
        **finite_or_none(
            {"rank_correlation": assessment.rank_correlation, "rmse": assessment.rmse}
        ),
    }


def _families(function: Reflection, known: list[Experience]) -> list[JsonObject]:
    """Return the accuracy of a function for each family of targets (see `family_of`)."""
    groups: dict[str, list[Experience]] = {}
    for experience in known:
        groups.setdefault(family_of(experience.target_name), []).append(experience)
    rows = []
    for name, some in sorted(groups.items()):
        assessment = assess(function, some)
        row = {"rank_correlation": assessment.rank_correlation, "rmse": assessment.rmse}
        row["coverage"] = assessment.reliability.get(0.9, math.nan)
        sizes = {"n_pairs": assessment.n_pairs, "n_runs": len(assessment.runs)}
        rows.append({"family": name} | sizes | finite_or_none(row))
    return rows


def _with_statistics(
    function: Reflection, experiences: Iterable[Experience], store: ExperienceStore
) -> Iterable[Experience]:
    """Return experiences with the statistics that a function needs, recomputed for some runs if needed."""
    r = function.n_neighbors
    done = [
        (experience.statistics.n_neighbors, experience)
        for experience in experiences
        if experience.statistics
    ]
    ready = [experience for neighbors, experience in done if neighbors == r]
    if ready:
        return ready
    keys = dict.fromkeys(experience.run_key for _, experience in done)
    some = set(list(keys)[:_MAX_RECOMPUTED])
    return recompute_statistics(
        (experience for _, experience in done if experience.run_key in some), store, n_neighbors=r
    )
