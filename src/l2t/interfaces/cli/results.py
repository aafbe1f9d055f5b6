"""Results of an inference as records and as text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from l2t.agent import Suggestion
from l2t.algorithms import NO_TRANSFER, traits_by_name
from l2t.display import finite_interval
from l2t.domains import Domain, DomainPair, Table, write_domain
from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate, improvement_ratio
from l2t.inference import Candidate, Inference
from l2t.inference.choice import LEAST_SKILL
from l2t.paper import Reflection
from l2t.typing import JsonObject


def expectation(
    source: Path, target: Path, pair: DomainPair, inference: Inference | Suggestion
) -> JsonObject:
    """Return the choice for a pair of files and the improvement to expect of it, as a record."""
    low, high = finite_interval(inference.interval) or (None, None)
    return {
        "source": _described(source, pair.source),
        "target": _described(target, pair.target),
        "labels": inference.n_labels,
        "choice": inference.choice,
        "predicted_improvement": inference.predicted,
        "low": low,
        "high": high,
        "verdict": inference.verdict,
        "used": used_rows(inference.choice),
        "because": inference.reason,
        "columns": inference.W.shape[1],
    }


def used_rows(choice: str) -> str:
    """Return which rows the features of a choice are computed from; a transfer may need no source."""
    if choice == NO_TRANSFER:
        return "nothing: the original features are kept"
    if not traits_by_name(choice).uses_source:
        return "the target's own rows; the source adds nothing"
    return "the source"


def _described(path: Path, domain: Domain) -> str:
    """Return a description of a file."""
    text = f"{path}: {len(domain)} rows, {domain.n_features} features"
    if domain.y is None:
        return f"{text}, no labels"
    if domain.labeled is not None:
        text += f", {int(domain.labeled.sum())} labelled rows"
    classes = len(domain.classes)
    return f"{text}, {classes} {'class' if classes == 1 else 'classes'}"


def measured(target: Domain, inference: Inference) -> JsonObject:
    """Return the measured improvement; nothing if not all labels of the target are known."""
    if target.y is None or target.labeled is not None:
        return {}
    counts = (inference.n_labels,)
    try:
        before, after = (
            evaluate(Z, target.codes, label_counts=counts, groups=target.group_codes)
            for Z in (target.X, inference.transform(target))
        )
    except InvalidInputError:  # too few rows to measure anything
        return {}
    return {
        "accuracy_before": float(before.mean[0]),
        "accuracy_after": float(after.mean[0]),
        "measured_improvement": float(improvement_ratio(before.mean, after.mean, before.n_test)[0]),
    }


def for_display(record: JsonObject) -> JsonObject:
    """Return the record with fewer fields, for display."""
    interval = None if record["low"] is None else (record["low"], record["high"])
    expected = _expected_ratio(record["predicted_improvement"], interval)
    words = {name: record[name] for name in ("source", "target", "choice")}
    words["predicted"] = f"{expected}, with {record['labels']} labels"
    if "measured_improvement" in record:
        words["measured"] = (
            f"{record['measured_improvement']:.3f} times with {record['labels']} labels: 1-NN accuracy "
            f"{record['accuracy_after']:.3f} instead of {record['accuracy_before']:.3f}"
        )
    return words | {name: record[name] for name in ("used", "because")}


def _expected_ratio(predicted: float, interval: tuple[float, float] | None) -> str:
    """Return a predicted ratio with its interval as text."""
    words = f"{predicted:.3f} times the accuracy without transfer"
    known = finite_interval(interval)
    if known is None:
        return f"{words}, 90 % interval unknown"
    low, high = known
    return words if low == high else f"{words}, 90 % interval {low:.3f} to {high:.3f}"


def candidate_rows(inference: Inference) -> list[JsonObject]:
    """Return one row per candidate: rehearsed and predicted ratio, and evidence from labelled rows."""
    rows = [
        {
            "candidate": f"{candidate.name} (chosen)" if candidate.chosen else candidate.name,
            "rehearsed": candidate.rehearsed,
            "predicted": candidate.predicted,
            "same_class_nearer": _nearer(candidate),
            "note": candidate.reason,
        }
        for candidate in inference.candidates.values()
    ]
    for name in ("rehearsed", "same_class_nearer", "note"):
        if not any(row[name] for row in rows):
            rows = [{key: value for key, value in row.items() if key != name} for row in rows]
    return rows


def explanation_lines(inference: Inference) -> Iterator[str]:
    """Yield lines with the choice, and the evidence for and against each candidate."""
    labels = f"with {inference.n_labels} labelled rows of {inference.n_classes} classes"
    yield f"choice: {inference.choice}\nused: {used_rows(inference.choice)}"
    yield f"expected: {_expected_ratio(inference.predicted, inference.interval)}, {labels}"
    yield f"why: {inference.reason}"
    for candidate in inference.candidates.values():
        yield ""
        yield f"{candidate.name}{', chosen' if candidate.chosen else ''}"
        if candidate.name == NO_TRANSFER:
            yield "  the original features, which all others are compared with"
        elif candidate.predicted is None:
            yield f"  cannot be used: {candidate.reason}"
        else:
            yield f"  rehearsal: {_rehearsed(candidate, inference)}"
            yield f"  labelled rows: {_evidence(candidate)}"
            yield f"  expected: {_expected_ratio(candidate.predicted, candidate.interval)}"


def _rehearsed(candidate: Candidate, inference: Inference) -> str:
    if candidate.rehearsed is None or inference.rehearsal is None:
        return "none"
    words = (
        f"{candidate.rehearsed:.3f} times the accuracy, in {inference.rehearsal.n_plays} rehearsals"
    )
    if inference.rehearsal.skill < LEAST_SKILL:
        words += "; not used, because the features do not separate the known classes"
    return words


def _evidence(candidate: Candidate) -> str:
    evidence = candidate.evidence
    if evidence is None:
        return "too few to check this candidate"
    order, order_without, nearest, nearest_without = (
        f"{100 * share:.0f} %"
        for share in (
            evidence.order,
            evidence.order_without,
            evidence.nearest,
            evidence.nearest_without,
        )
    )
    side = "evidence for it" if evidence.suggests.mean > 0 else "evidence against it"
    if (order, nearest) == (order_without, nearest_without) or evidence.suggests.mean == 0:
        side = "evidence neither for nor against it"
    return (
        f"{evidence.n_rows}, {side}: same-class rows nearer in {order} of the comparisons "
        f"({order_without} without it), 1-NN accuracy {nearest} ({nearest_without} without it)"
    )


def _nearer(candidate: Candidate) -> str:
    """Return in how many comparisons the row of the same class is nearer; empty without evidence."""
    evidence = candidate.evidence
    if evidence is None:
        return ""
    return f"{evidence.order:.0%}, {evidence.order_without:.0%} without it".replace("%", " %")


def write_side(
    side: str, table: Table, domain: Domain, inference: Inference | Suggestion, path: Path
) -> str:
    """Write a file with transformed features, or the original ones if nothing is transferred."""
    transferred = inference.verdict == "transfer"
    features = inference.transform(domain) if transferred else None
    if path.suffix.lower() == ".npz":
        raw = table.domain
        write_domain(raw if features is None else raw.with_features(features), path)
    else:
        table.write(path, features=features)
    return f"{side} written to {path}{'' if transferred else ', with its original features'}"


def learning_summary(function: Reflection) -> JsonObject:
    """Return how a reflection function was learned, in words."""
    about = function_summary(function)
    words = {name: about[name] for name in ("experiences", "runs", "pairs", "trained_on")}
    words["rank_correlation_on_held_out_pairs"] = about["rank_correlation_on_held_out_pairs"]
    if about["starts"] is not None:
        words["starting_points_that_agree"] = f"{about['starts_agreeing']} of {about['starts']}"
    return words


def function_summary(function: Reflection) -> JsonObject:
    """Return the parameters of a reflection function, and how it was learned."""
    training = function.training
    correlations = (choice.get("spearman") for choice in training.get("choices", []))
    best = max((value for value in correlations if value is not None), default=None)
    names = "experiences runs pairs gamma huber starts starts_agreeing stopped"
    return {
        **{name: training.get(name) for name in names.split()},
        "rank_correlation_on_held_out_pairs": best,
        "neighbors": function.n_neighbors,
        "kernels": len(function.kernels),
        "trained_on": function.trained_on,
        **function.parameters,
    }
