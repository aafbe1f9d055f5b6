"""L2T on new pairs, beside the eight base algorithms."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from l2t.inference.comparison import TransferStudy, measure_transfer
from l2t.reflection import load_reflection
from reproduction.families import FAMILIES, draw_pairs
from reproduction.pages import write_page
from reproduction.paper.measuring import p_values
from reproduction.shipped import SHIPPED, VALIDATION_PAIRS
from reproduction.verdicts import LABEL_COUNTS, RULES, measure_verdicts

__all__ = ["summary", "write_inference"]


def write_inference(data: Path, out: Path, pairs: int, jobs: int) -> None:
    """Measure L2T beside the base algorithms on testing pairs of every family."""
    start = time.perf_counter()
    function = load_reflection("default")
    studies, verdicts = {}, []
    for family in FAMILIES:
        drawn = draw_pairs(family, "test", pairs, data)
        studies[family] = summary(measure_transfer(drawn, function, n_jobs=jobs))
        held = draw_pairs(family, "validation", VALIDATION_PAIRS, data)
        verdicts.append(measure_verdicts(held, function, n_jobs=jobs))
    write_page(
        out / "inference.md",
        minutes=(time.perf_counter() - start) / 60,
        jobs=jobs,
        pairs=pairs,
        trained=SHIPPED["default"],
        validation=VALIDATION_PAIRS,
        studies=studies,
        plans=function.training["plans"],
        chosen=function.plans,
        verdict_counts=LABEL_COUNTS,
        verdicts={
            rule: [found[at].tolist() for found in verdicts] for at, rule in enumerate(RULES)
        },
    )


def summary(study: TransferStudy) -> dict[str, Any]:
    """Return the means of a study; L2T is compared with the best base algorithm at each count."""
    means = study.mean(study.base)
    best = np.where(np.isnan(means), -np.inf, means).argmax(axis=0)
    p = [p_values(study.l2t, study.base[b])[at] for at, b in enumerate(best)]
    return {
        "label_counts": study.label_counts,
        "bases": dict(zip(study.names, means.tolist(), strict=True)),
        "always": study.mean(study.always).tolist(),
        "l2t": list(zip(study.mean(study.l2t), study.standard_error(study.l2t), strict=True)),
        "best": [(study.names[b], value) for b, value in zip(best, p, strict=True)],
        "predicted": study.mean(study.predicted).tolist(),
        "transferred": study.mean(study.transferred).tolist(),
    }
