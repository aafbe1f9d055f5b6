"""Candidates for people: what is expected of the choice, a small table of all, and what speaks for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from l2t.inference import Candidate, Inference
from l2t.inference.inference import LEAST_SKILL

__all__ = ["candidate_rows", "expected_ratio", "explained"]


def expected_ratio(predicted: float, interval: tuple[float, float] | None) -> str:
    """Return what to expect of a candidate in words."""
    words = f"{predicted:.3f} times the accuracy without transfer"
    if interval is None or interval[0] == interval[1]:
        return words
    return f"{words}, 90 % interval {interval[0]:.3f} to {interval[1]:.3f}"


def candidate_rows(found: Inference) -> list[dict[str, Any]]:
    """Return one row per candidate: rehearsed, predicted, and what the labelled rows say."""
    rows = [
        {
            "candidate": f"{each.name} (chosen)" if each.chosen else each.name,
            "rehearsed": each.rehearsed,
            "predicted": each.predicted,
            "same_class_nearer": _nearer(each, "{:.0%}, {:.0%} without it"),
            "note": each.reason,
        }
        for each in found.candidates.values()
    ]
    for name in ("rehearsed", "same_class_nearer", "note"):
        if not any(row[name] for row in rows):
            rows = [{key: value for key, value in row.items() if key != name} for row in rows]
    return rows


def explained(found: Inference) -> Iterator[str]:
    """Yield lines that say what spoke for and against each candidate, and which was chosen."""
    labels = f"with {found.n_labels} labelled rows of {found.n_classes} classes"
    yield f"choice: {found.choice} ({found.verdict})"
    yield f"expected: {expected_ratio(found.predicted, found.interval)}, {labels}"
    yield f"why: {found.reason}"
    for each in found.candidates.values():
        yield ""
        yield f"{each.name}{', chosen' if each.chosen else ''}"
        if each.name == "identity":
            yield "  the features as they are, which all others are compared with"
        elif each.predicted is None:
            yield f"  cannot be used: {each.reason}"
        else:
            yield f"  rehearsal: {_rehearsed(each, found)}"
            yield f"  labelled rows: {_evidence(each)}"
            yield f"  expected: {expected_ratio(each.predicted, each.interval)}"


def _rehearsed(candidate: Candidate, found: Inference) -> str:
    if candidate.rehearsed is None or found.rehearsal is None:
        return "none"
    words = f"{candidate.rehearsed:.3f} times the accuracy, in {found.rehearsal.n_plays} rehearsals"
    if found.rehearsal.skill < LEAST_SKILL:
        words += "; it does not count, as the features do not tell the known classes apart"
    return words


def _evidence(candidate: Candidate) -> str:
    evidence = candidate.evidence
    if evidence is None:
        return "too few to check this candidate"
    side = "for" if evidence.log_ratio > 0 else "against"
    nearer = _nearer(candidate, "{:.0%} of the comparisons with it, {:.0%} without")
    return f"{evidence.n_rows} speak {side} it: same-class rows are nearer in {nearer}"


def _nearer(candidate: Candidate, words: str) -> str:
    """Return how often the row of the same class is the nearer one; empty without evidence."""
    evidence = candidate.evidence
    if evidence is None:
        return ""
    return words.format(evidence.order, evidence.order_without).replace("%", " %")
