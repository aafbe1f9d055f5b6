"""What each step of the recipe for the paper's method is worth, on moderate numbers of pairs.

The steps: only the best half of each pair's runs, 20 neighbours in tau, the convex form of 1/f, practice,
several numbers of columns side by side, selection by real ratios, and the memory of past targets.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from l2t.algorithms import PAPER
from l2t.experiences import collect, open_store
from l2t.paper import learn, practice, recompute_statistics, select
from l2t.paper.plan import Plan
from reproduction.paper.measuring import Measured, measure
from reproduction.paper.methods import Method, PaperMethod
from reproduction.paper.section import mean, standard_error
from reproduction.paper.setting import Setting

__all__ = ["write_recipe"]

#: The label counts of the table.
SHOWN = (3, 15, 30, 60, 120)
#: The search with 20 columns, with several numbers side by side, and the same with fewer steps for memory.
ALONE, SIDES = Plan(n_components=20, n_iter=10), Plan(n_iter=10)
FEW_STEPS = Plan(n_iter=5)
#: What `select` chooses from.
SETTINGS: tuple[dict[str, Any], ...] = tuple(
    {"form": form, "best": best, "gamma": gamma, "n_neighbors": r}
    for form in ("paper", "convex")
    for best, gamma, r in ((0.5, 1e-2, 5), (0.5, 1e-2, 20), (0.5, 1e-4, 20), (1.0, 1e-4, 20))
)
CONVEX: dict[str, Any] = {"best": 0.5, "form": "convex"}


def write_recipe(data: Path, out: Path, work: Path, scale: str = "recipe") -> None:
    """Measure the steps on photo > sketch, and write the table to a file."""
    setting = Setting.of(data, scale, work, progress=False)
    setting.work.mkdir(parents=True, exist_ok=True)
    methods = _methods(setting)
    found = measure(methods, setting.pairs("test"), setting, "testing")
    sizes, shown = setting.sizes, [count for count in SHOWN if count in found.label_counts]
    lines = [
        f"{setting.family}: {sizes.train} training, {sizes.validation} validation and {sizes.test} testing "
        "pairs, which share no class; mean ratio ± standard error",
        "",
        "| | " + " | ".join(f"{count} labels" for count in shown) + " |",
        "|---|" + len(shown) * "---|",
        *(_row(found, name, shown) for name in methods),
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    print(f"written to {out}", file=sys.stderr)


def _methods(setting: Setting) -> dict[str, Method]:
    """Return the paper's method with more and more of the recipe, without past targets and with them."""
    past = setting.past()
    options: dict[str, Any] = {"label_counts": setting.label_counts, "progress": False}
    with open_store(setting.work / "practice.db") as store, setting.timed("practice"):
        algorithms = practice(n_neighbors=20)
        collect(setting.pairs("train"), store, algorithms=algorithms, n_neighbors=20, **options)
        practised = list(store.experiences(status="done", algorithm="practice"))
    with setting.collected(n_neighbors=5) as store:
        runs = store.experiences(status="done")
        before = [each for each in runs if each.algorithm in PAPER]
        wider = list(recompute_statistics(before, store, n_neighbors=20))
        with setting.timed("selection"):
            pairs = setting.pairs("validation")
            chosen = select(before, pairs, settings=SETTINGS, plan=ALONE, store=store)
    for trial in chosen.trials:
        print(f"{trial.ratio:.4f} {trial.settings}", file=sys.stderr)
    plain, half, neighbors = (
        learn(each, best=best) for each, best in ((before, 1.0), (before, 0.5), (wider, 0.5))
    )
    convex, with_practice = learn(wider, **CONVEX), learn([*wider, *practised], **CONVEX)
    return {
        "before: all runs of the eight, r = 5": PaperMethod(plain, ALONE),
        "the best half": PaperMethod(half, ALONE),
        "the best half, r = 20": PaperMethod(neighbors, ALONE),
        "the best half, r = 20, convex": PaperMethod(convex, ALONE),
        "the same with practice": PaperMethod(with_practice, ALONE),
        "convex, side by side": PaperMethod(convex, SIDES),
        "convex with practice, side by side": PaperMethod(with_practice, SIDES),
        "selected, side by side": PaperMethod(chosen.function, SIDES),
        "past targets: before": PaperMethod(plain, ALONE, past=past),
        "past targets: convex, side by side, 5 steps": PaperMethod(convex, FEW_STEPS, past=past),
        "past targets: with practice, side by side, 5 steps": PaperMethod(
            with_practice, FEW_STEPS, past=past
        ),
        "past targets: selected, side by side, 5 steps": PaperMethod(
            chosen.function, FEW_STEPS, past=past
        ),
    }


def _row(found: Measured, name: str, shown: Sequence[int]) -> str:
    at = [found.label_counts.index(count) for count in shown]
    means, errors = mean(found[name])[at], standard_error(found[name])[at]
    cells = (f"{m:.3f} ± {e:.3f}" for m, e in zip(means, errors, strict=True))
    return f"| {name} | " + " | ".join(cells) + " |"
