"""What each step of the recipe for the paper's method is worth, on moderate numbers of pairs.

The steps: only the best half of each pair's runs, 20 neighbours in tau, the convex form of 1/f, practice,
several numbers of columns side by side, selection by real ratios, and the memory of past targets.
"""

from __future__ import annotations

import itertools
import sys
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
ALONE, SIDES = Plan(n_components=20), Plan(n_components=(5, 10, 20, 80))
FEW_STEPS = Plan(n_components=(5, 10, 20, 80), n_iter=5)
#: What `select` chooses from.
SETTINGS: tuple[dict[str, Any], ...] = tuple(
    {"form": form, "best": best, "gamma": gamma, "n_neighbors": r}
    for form, best, gamma, r in itertools.product(
        ("paper", "convex"), (1.0, 0.5), (1e-2, 1e-4), (5, 20)
    )
)
CONVEX: dict[str, Any] = {"best": 0.5, "form": "convex"}


def write_recipe(data: Path, out: Path, work: Path) -> None:
    """Measure the steps on photo > sketch, and write the table to a file."""
    setting = Setting.of(data, "recipe", work, progress=False)
    setting.work.mkdir(parents=True, exist_ok=True)
    methods = _methods(setting)
    found = measure(methods, setting.pairs("test"), setting, "testing")
    sizes = setting.sizes
    lines = [
        f"{setting.family}: {sizes.train} training, {sizes.validation} validation and {sizes.test} testing "
        "pairs, which share no class; mean ratio ± standard error",
        "",
        "| | " + " | ".join(f"{count} labels" for count in SHOWN) + " |",
        "|---|" + len(SHOWN) * "---|",
        *(_row(found, name) for name in methods),
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    print(f"written to {out}", file=sys.stderr)


def _methods(setting: Setting) -> dict[str, Method]:
    """Return the paper's method with more and more of the recipe, without past targets and with them."""
    past = setting.past()
    with open_store(setting.work / "recipe.db") as store:
        with setting.timed("experiences and practice"):
            collect(
                setting.pairs("train"),
                store,
                algorithms=(*PAPER, *practice(n_neighbors=20)),
                label_counts=setting.label_counts,
                n_neighbors=20,
                progress=False,
            )
        every = list(store.experiences(status="done"))
        bases = [each for each in every if each.algorithm in PAPER]
        before = list(recompute_statistics(bases, store, n_neighbors=5))
        plain, half = learn(before, best=1.0), learn(before, best=0.5)
        neighbors = learn(bases, best=0.5)
        convex, practised = learn(bases, **CONVEX), learn(every, **CONVEX)
        with setting.timed("selection"):
            pairs = setting.pairs("validation")
            chosen = select(every, pairs, settings=SETTINGS, plan=ALONE, store=store)
    print(f"selected: {chosen.best.settings}", file=sys.stderr)
    for trial in chosen.trials:
        print(f"{trial.ratio:.4f} {trial.settings}", file=sys.stderr)
    return {
        "before: all runs of the eight, r = 5": PaperMethod(plain, ALONE),
        "the best half": PaperMethod(half, ALONE),
        "r = 20": PaperMethod(neighbors, ALONE),
        "convex form": PaperMethod(convex, ALONE),
        "practice": PaperMethod(practised, ALONE),
        "u = 5, 10, 20, 80 side by side": PaperMethod(practised, SIDES),
        "selected instead": PaperMethod(chosen.function, SIDES),
        "before, with past targets": PaperMethod(plain, ALONE, past=past),
        "recipe, with past targets": PaperMethod(practised, SIDES, past=past),
        "recipe, with past targets, 5 steps": PaperMethod(practised, FEW_STEPS, past=past),
        "selected, with past targets, 5 steps": PaperMethod(chosen.function, FEW_STEPS, past=past),
    }


def _row(found: Measured, name: str) -> str:
    at = [found.label_counts.index(count) for count in SHOWN]
    means, errors = mean(found[name])[at], standard_error(found[name])[at]
    cells = (f"{m:.3f} ± {e:.3f}" for m, e in zip(means, errors, strict=True))
    return f"| {name} | " + " | ".join(cells) + " |"
