"""The forecast that ships: fitted to tasks of many kinds, adverse ones among them.

Every kind has the same weight. Nothing is chosen on a kind that the forecast is evaluated on: the limits of
its gates are chosen on the kinds that it may be learned from, each group evaluated by a fit to the others;
the parameters for each number of labels per class are fitted by least squares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

import l2t
from l2t.algorithms import traits_by_name
from l2t.forecast import ErrorQuantiles, Familiarity, Reliability
from l2t.forecast.forecast import BOUNDS, TAIL, Expectation, Forecast
from l2t.rehearsal.rehearsal import SHOTS
from l2t.typing import Array, Mask
from reproduction.kinds import KINDS, MODES, SHIPPABLE
from reproduction.tasks import CANDIDATES, N_EVIDENCE, Task, log_ratio, measure_tasks, meta_at

__all__ = ["Limits", "choose_limits", "expectations", "fit_forecast", "forecasts_without"]
__all__ += ["left_out", "outcomes", "write_forecast"]

#: Candidates that rely on the neighbourhoods of the target.
RELYING = tuple(name for name in CANDIDATES if traits_by_name(name).relies_on_neighbours)
#: What a true task counts beside one to which something was done.
TRUE_WEIGHT = 2.0
RIDGE = 3.0
#: Numbers of labels per class that limits are chosen for.
CHOSEN_FOR = (1, 5, 15)
#: So much of a log ratio caution may cost on ordinary tasks, against what rehearsed best.
COST = 0.005
#: The variance of the log accuracy of n test rows is about this times error / (accuracy n).
NOISE = 0.5


@dataclass(frozen=True)
class Limits:
    """Parameters that are chosen by grid search; see `Forecast`."""

    least_room: float = 0.1
    excess: tuple[float, float] = (0.02, 0.1)
    share: tuple[float, float] = (0.65, 0.8)
    far: tuple[float, float] = (0.25, 0.45)
    rehearsal_weight: float = 0.7
    own_rows: float = 8.0
    evidence: tuple[float, float, float] = (1.6, 5.0, 1.0)


#: The values that are tried for each, one parameter after the other.
TRIED: dict[str, list[Any]] = {
    "least_room": [0.05, 0.1, 0.2],
    # The excess of ordinary targets varies by about .03: below .02 it says nothing.
    "excess": [(low, high) for low in (0.02, 0.04) for high in (0.08, 0.1, 0.15, 0.2)],
    "share": [(low, high) for low in (0.55, 0.6, 0.65, 0.7) for high in (0.75, 0.8, 0.85, 0.9)],
    "far": [(low, high) for low in (0.1, 0.2, 0.25, 0.3) for high in (0.35, 0.45, 0.6, 1.0)],
}


def write_forecast(data: Path, out: Path, work: Path, n_draws: int, n_jobs: int) -> None:
    """Measure tasks of all kinds that may be learned from, fit the forecast to them, and write it."""
    kinds = [name for name, kind in KINDS.items() if kind.group in SHIPPABLE]
    tasks = measure_tasks(kinds, MODES, n_draws, data, work, n_jobs=n_jobs)
    limits = choose_limits(tasks)
    forecast = fit_forecast(tasks, limits)
    reliability = reliability_of(tasks, left_out(tasks, limits))
    out.write_text(msgspec.structs.replace(forecast, reliability=reliability).to_json())


def fit_forecast(tasks: list[Task], limits: Limits) -> Forecast:
    """Return the forecast by weighted least squares, for each number of labels per class."""
    rows = _Rows(tasks)
    use, harm, other, error, spread, doubtful = rows.fit(limits)
    meta = [meta_at(task, SHOTS.index(5)) for task in tasks]
    seen = [each for each in meta if each.excess is not None]
    training = {
        "tasks": len(tasks),
        "kinds": sorted({task["kind"] for task in tasks}),
        "version": l2t.__version__,
    }
    return Forecast(
        shots=SHOTS,
        prior=dict.fromkeys(RELYING, use),
        misled=harm,
        misled_others=other,
        error=error,
        spread=spread,
        doubtful_spread=doubtful,
        **vars(limits),
        noise=NOISE,
        reliability=Reliability({}),
        familiarity=Familiarity.of(
            np.array(
                [[each.share, each.excess, each.error, each.gap] for each in seen], dtype=float
            )
        ),
        training=training,
    )


def choose_limits(tasks: list[Task]) -> Limits:
    """Return the limits that give the best choices, each group of kinds evaluated by a fit to the others."""
    rows = _Rows(tasks)
    best = Limits()
    worth = rows.worth(best)
    for _ in range(2):
        before = best
        for name, values in TRIED.items():
            for value in values:
                trial = replace(best, **{name: value})
                found = rows.worth(trial)
                if found > worth + 1e-5:
                    best, worth = trial, found
        if best == before:
            break
    return replace(best, evidence=_evidence(tasks, left_out(tasks, best)))


def left_out(tasks: list[Task], limits: Limits) -> dict[str, Forecast]:
    """Return the forecast for each group of kinds, fitted to the other groups that may be learned from."""
    ours = [task for task in tasks if task["group"] in SHIPPABLE]
    return {
        group: fit_forecast([each for each in ours if each["group"] != group], limits)
        for group in {task["group"] for task in tasks}
    }


def forecasts_without(tasks: list[Task]) -> dict[str, Forecast]:
    """Return the forecast for each group of kinds, with limits, fit and reliability of the others alone."""
    found = {}
    for group in sorted({task["group"] for task in tasks}):
        ours = [each for each in tasks if each["group"] in SHIPPABLE and each["group"] != group]
        limits = choose_limits(ours)
        reliability = reliability_of(ours, left_out(ours, limits))
        found[group] = msgspec.structs.replace(fit_forecast(ours, limits), reliability=reliability)
    return found


def expectations(
    forecast: Forecast, task: Task, at: int, draw: int | None = None, *, source: bool = True
) -> dict[str, Expectation]:
    """Return the expected log ratio of every candidate, without labelled rows or with those of a draw.

    Without the `source`, there is no rehearsal and there are no known classes.
    """
    meta = meta_at(task, at, draw)
    if not source:
        meta = replace(meta, excess=None)
    found = {"identity": Expectation(0.0, 0.0)}
    for name in CANDIDATES if source else ("spectrum",):
        rehearsed = task["rehearsed"][name][at][0] if meta.excess is not None else None
        found[name] = forecast.expect(name, meta, rehearsed, SHOTS[at])
        seen = task["evidence"][name][at] if draw is not None else None
        if seen is not None and draw is not None and seen[draw] is not None:
            n, shots, order, nearest = seen[draw]
            _, _, order_without, nearest_without = task["evidence"]["identity"][at][draw]
            suggested = forecast.suggested(
                order - order_without, nearest - nearest_without, n, shots
            )
            found[name] = found[name].weighed(suggested)
    return found


def outcomes(task: Task, name: str, at: int) -> Array:
    """Return the log ratio of each draw; NaN where it was not measured."""
    before, after = (task["accuracy"][each][at] for each in ("identity", name))
    if before is None:
        return np.full(N_EVIDENCE, np.nan)
    ratios = l2t.experiences.improvement_ratio(before, after, task["n_test"][at])
    return np.asarray(np.log(ratios))


def reliability_of(tasks: list[Task], forecasts: dict[str, Forecast]) -> Reliability:
    """Return the errors of the forecasts for left-out groups, by group."""
    errors: dict[str, list[float]] = {}
    pairs: Counter[str] = Counter()
    for task in tasks:
        group = task["group"]
        pairs[group] += 1
        for at in range(len(SHOTS)):
            for draw in range(N_EVIDENCE):
                found = expectations(forecasts[group], task, at, draw)
                for name in CANDIDATES:
                    real = outcomes(task, name, at)[draw]
                    if np.isfinite(real):
                        scale = np.hypot(found[name].spread, found[name].noise)
                        errors.setdefault(group, []).append((real - found[name].mean) / scale)
    return Reliability(
        {group: ErrorQuantiles.of(errors[group], pairs[group]) for group in sorted(errors)}
    )


def _evidence(tasks: list[Task], forecasts: dict[str, Forecast]) -> tuple[float, float, float]:
    """Return the parameters of the evidence with the least squared error."""
    rows = []
    weights = _weights(tasks)
    for task, weight in zip(tasks, weights, strict=True):
        for at in range(1, len(SHOTS)):
            for draw in range(N_EVIDENCE):
                if task["accuracy"]["identity"][at] is None:
                    continue
                seen = [task["evidence"][name][at][draw] for name in ("identity", *CANDIDATES)]
                if seen[0] is None:
                    continue
                meta = meta_at(task, at, draw)
                for name, (n, shots, order, nearest) in zip(CANDIDATES, seen[1:], strict=True):
                    rehearsed = task["rehearsed"][name][at][0] if meta.excess is not None else None
                    prior = forecasts[task["group"]].expect(name, meta, rehearsed, SHOTS[at])
                    real = outcomes(task, name, at)
                    gains = order - seen[0][2], nearest - seen[0][3]
                    rows.append(
                        (prior.mean, prior.spread, *gains, n, shots, float(real[draw]), weight)
                    )
    mean, spread, order, nearest, n, shots, real, weight = np.array(rows).T
    best, least = Limits().evidence, np.inf
    for slope, even, error in product((1.0, 1.5, 2.0, 2.5), (2.0, 3.0, 5.0), (0.5, 0.7, 1.0, 1.4)):
        w = shots / (shots + even)
        suggested = slope * ((1.0 - w) * order + w * nearest)
        variance = error**2 / n
        doubt = (TAIL + (suggested - mean) ** 2 / (spread**2 + variance)) / (TAIL + 1.0)
        ours, theirs = spread**-2 / np.maximum(doubt, 1.0), 1.0 / variance
        left = real - (ours * mean + theirs * suggested) / (ours + theirs)
        loss = float(weight @ left**2)
        if loss < least:
            best, least = (slope, even, error), loss
    return best


def _weights(tasks: list[Task]) -> Array:
    """Return the weight of each task: the same for all kinds, and more for tasks with their true source."""
    counts = Counter((task["kind"], task["mode"]) for task in tasks)
    return np.array(
        [
            (TRUE_WEIGHT if task["mode"] == "true" else 1.0) / counts[task["kind"], task["mode"]]
            for task in tasks
        ]
    )


class _Rows:
    """Tasks as arrays, one row for each task, number of labels per class and candidate."""

    def __init__(self, tasks: list[Task]) -> None:
        rows = []
        for task, weight in zip(tasks, _weights(tasks), strict=True):
            for at in range(len(SHOTS)):
                if task["accuracy"]["identity"][at] is None:
                    continue
                meta = meta_at(task, at)
                for name in CANDIDATES:
                    seen = task["rehearsed"][name][at][0] if meta.excess is not None else 0.0
                    error = 1.0 - float(np.mean(task["accuracy"]["identity"][at]))
                    rows.append(
                        (
                            *(at, name in RELYING, meta.excess is not None, meta.share),
                            *(meta.excess or 0.0, meta.error, meta.gap, seen),
                            *(error, log_ratio(task, name, at), weight),
                            SHIPPABLE.index(task["group"]) if task["group"] in SHIPPABLE else -1,
                            task["mode"] == "true",
                        )
                    )
        columns = np.array(rows, dtype=np.float64).T
        self.at, self.group = columns[0].astype(int), columns[11].astype(int)
        self.trusting, self.seen = columns[1].astype(bool), columns[2].astype(bool)
        self.share, self.excess, self.error, self.gap, self.rehearsed = columns[3:8]
        self.own_error, self.real, self.weight = columns[8:11]
        self.true = columns[12].astype(bool)

    def design(self, limits: Limits) -> tuple[Array, Array, Array]:
        """Return what the use of room is linear in, what is known of it, and how far gates are shut."""
        room = self.error * (1.0 - self.error)
        b = np.where(self.seen, room / (room + limits.least_room), 0.0)
        r = np.clip(self.rehearsed / np.maximum(room, 0.01), *BOUNDS)
        apart = np.where(self.seen, _rise(self.gap, limits.far), 1.0)
        near, far = _rise(self.excess, limits.excess), _rise(self.share, limits.share)
        gate = (1.0 - apart) * near + apart * far
        prior = (1.0 - apart) * (1.0 - near) * (1.0 - b) + apart * (1.0 - far)
        A = np.stack([self.trusting * prior, self.trusting * gate, ~self.trusting * gate], axis=1)
        return A, (1.0 - apart) * (1.0 - near) * b * r, gate

    def solve(self, limits: Limits, some: npt.NDArray[np.bool_]) -> Array:
        """Return prior, harm and other harm (shots, 3), by some of the rows."""
        A, known, _ = self.design(limits)
        room = self.own_error * (1.0 - self.own_error)
        left = np.clip(self.real / np.maximum(room, 0.01), *BOUNDS) - known
        found = np.zeros((len(SHOTS), 3))
        for at in range(len(SHOTS)):
            here = some & (self.at == at)
            if here.any():
                w = (self.weight * room**2)[here]
                w = w / max(w.mean(), 1e-12)
                B = A[here]
                found[at] = np.linalg.solve(
                    B.T @ (w[:, None] * B) + RIDGE * np.eye(3), B.T @ (w * left[here])
                )
        return found

    def worth(self, limits: Limits) -> float:
        """Return the mean log ratio of the choice, each group evaluated by a fit to the others.

        Less where caution costs ordinary tasks more than `COST` at some number of labels per class.
        """
        A, known, _ = self.design(limits)
        use = np.full(len(A), np.nan)
        for group in np.unique(self.group[self.group >= 0]):
            mine = self.group == group
            solved = self.solve(limits, (self.group >= 0) & ~mine)
            use[mine] = (A[mine] * solved[self.at[mine]]).sum(axis=1) + known[mine]
        total, cost = [], []
        for at in (SHOTS.index(each) for each in CHOSEN_FOR):
            judged = (self.at == at) & (self.group >= 0)
            got, rehearsed = (self._taken(each, judged) for each in (use, self.rehearsed))
            weight, true = (each[judged][:: len(CANDIDATES)] for each in (self.weight, self.true))
            total.append((weight @ got, weight.sum()))
            cost.append(np.average((rehearsed - got)[true], weights=weight[true]))
        got, weight = np.sum(total, axis=0)
        return float(got / weight - 10.0 * max(*cost, COST))

    def _taken(self, scores: Array, some: Mask) -> Array:
        """Return the real log ratio of the candidate with the best score, 0 where none is above 0."""
        score, real = (each[some].reshape(-1, len(CANDIDATES)) for each in (scores, self.real))
        taken = real[np.arange(len(score)), score.argmax(axis=1)]
        return np.where(score.max(axis=1) > 0, taken, 0.0)

    def fit(self, limits: Limits) -> list[tuple[float, ...]]:
        """Return prior, harm, other harm, error and both spreads, each by labels per class."""
        A, known, gate = self.design(limits)
        solved = self.solve(limits, np.ones(len(A), dtype=bool))
        room = np.maximum(self.own_error * (1.0 - self.own_error), 0.01)
        left = np.clip(self.real / room - (A * solved[self.at]).sum(axis=1) - known, -4, 4)
        rows = [solved[:, i] for i in range(3)]
        rows.append(self._mean(self.own_error, np.ones(len(A), dtype=bool)))
        rows += [np.sqrt(self._mean(left**2, each)) for each in (gate < 0.5, gate >= 0.5)]
        return [tuple(np.round(row, 4).tolist()) for row in rows]

    def _mean(self, values: Array, some: npt.NDArray[np.bool_]) -> Array:
        """Return weighted means for each number of labels per class; those of all where there is none."""
        found = []
        for at in range(len(SHOTS)):
            here = some & (self.at == at)
            if not here.any():
                here = some if some.any() else np.ones(len(some), dtype=bool)
            found.append(np.average(values[here], weights=self.weight[here]))
        return np.array(found)


def _rise(values: Array, between: Iterable[float]) -> Array:
    low, high = between
    return np.clip((values - low) / (high - low), 0.0, 1.0)
