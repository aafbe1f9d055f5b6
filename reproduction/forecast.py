"""The forecast that ships: fitted to tasks of many kinds, adverse ones among them.

Every kind counts the same, and an adverse task half as much as an ordinary one. The thresholds
were chosen on other draws of all twelve kinds, with every group left out in turn.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

import l2t
from l2t.reflection.forecast import TRUSTING, Forecast, Signs, rise
from l2t.rehearsal.rehearsal import SHOTS
from l2t.typing import Array
from reproduction.kinds import KINDS, MODES, SHIPPABLE
from reproduction.tasks import CANDIDATES, Task, log_ratio, measure_tasks

__all__ = ["choose", "fit_forecast", "write_forecast"]

ROOM = 0.2
EXCESS = (0.02, 0.10)
SHARE = (0.65, 0.80)
FAR = (0.25, 0.45)
#: What an adverse task counts beside an ordinary one.
ADVERSE = 0.5
RIDGE = 3.0
#: Log ratios beyond these count as these.
BOUNDS = (-0.7, 0.5)


def write_forecast(data: Path, out: Path, work: Path, n_draws: int, n_jobs: int) -> None:
    """Measure tasks of all kinds that may be shipped from, fit the forecast to them, and write it."""
    kinds = [name for name, kind in KINDS.items() if kind.group in SHIPPABLE]
    tasks = measure_tasks(kinds, MODES, n_draws, data, work, n_jobs=n_jobs)
    out.write_text(fit_forecast(tasks).to_json())


def fit_forecast(tasks: list[Task]) -> Forecast:
    """Return the forecast by weighted least squares, for each number of labels per class."""
    counts = Counter((task["kind"], task["mode"]) for task in tasks)
    weights = {
        key: (ADVERSE if key[1].startswith("adverse") else 1.0) / count
        for key, count in counts.items()
    }
    columns = [_fitted_at(tasks, at, weights) for at in range(len(SHOTS))]
    prior, harm, other, spread, doubtful = np.round(columns, 4).T.tolist()
    training = {
        "tasks": len(tasks),
        "kinds": sorted({task["kind"] for task in tasks}),
        "version": l2t.__version__,
    }
    return Forecast(
        shots=SHOTS,
        prior=tuple(prior),
        harm=tuple(harm),
        other_harm=tuple(other),
        spread=tuple(spread),
        doubtful_spread=tuple(doubtful),
        room=ROOM,
        excess=EXCESS,
        share=SHARE,
        far=FAR,
        training=training,
    )


def choose(forecast: Forecast, task: Task, at: int, *, rehearsed: bool = True) -> dict[str, float]:
    """Return the expected log ratio of every candidate; the largest is the choice."""
    found = {"identity": 0.0}
    signs = task["signs"][at] if rehearsed else None
    for name in CANDIDATES:
        if signs is None:
            if name == "spectrum":  # the others need known classes
                alone = Signs(task["share"])
                found[name] = forecast.expect(name, alone, None, SHOTS[at]).mean
            continue
        ratio = task["rehearsed"][name][at]
        found[name] = forecast.expect(name, Signs(**signs), ratio, SHOTS[at]).mean
    return found


def _fitted_at(
    tasks: list[Task], at: int, weights: dict[tuple[str, str], float]
) -> tuple[float, ...]:
    """Return prior, harm, other harm and both spreads for one number of labels per class."""
    measured = [task for task in tasks if np.isfinite(log_ratio(task, "spectrum", at))]
    if not measured:
        return (0.0,) * 5
    plain = [task for task in measured if task["mode"] != "permuted"]
    shares = np.array([rise(task["share"], SHARE) for task in plain])
    prior = float(
        _solve(
            np.column_stack([1.0 - shares, shares]),
            _outcomes(plain, "spectrum", at),
            np.array([weights[task["kind"], task["mode"]] for task in plain]),
        )[0]
    )
    rows, left, gates, weight = [], [], [], []
    for task in measured:
        signs = task["signs"][at]
        if signs is None or rise(signs["gap"], FAR) > 0.5:
            continue
        g = rise(signs["share"] - signs["rehearsed_share"], EXCESS)
        b = signs["error"] / (signs["error"] + ROOM)
        for name in CANDIDATES:
            ordinary = b * task["rehearsed"][name][at]
            ordinary += (1.0 - b) * prior * (name in TRUSTING)
            rows.append([g * (name in TRUSTING), g * (name not in TRUSTING)])
            left.append(_outcomes([task], name, at)[0] - (1.0 - g) * ordinary)
            gates.append(g)
            weight.append(weights[task["kind"], task["mode"]])
    A, y, gate = np.array(rows), np.array(left), np.array(gates)
    harm, other = _solve(A, y, np.array(weight))
    residual = y - A @ [harm, other]
    ordinary, doubtful = (residual[gate == each] for each in (0, 1))
    return prior, float(harm), float(other), _spread(ordinary), _spread(doubtful)


def _spread(residual: Array) -> float:
    return float(residual.std()) if len(residual) else 0.0


def _outcomes(tasks: list[Task], name: str, at: int) -> Array:
    return np.clip([log_ratio(task, name, at) for task in tasks], *BOUNDS)


def _solve(A: Array, y: Array, weights: Array) -> Array:
    """Return the coefficients of weighted ridge regression."""
    w = (weights * len(weights) / weights.sum())[:, None]
    return np.linalg.solve(A.T @ (w * A) + RIDGE * np.eye(A.shape[1]), A.T @ (w[:, 0] * y))
