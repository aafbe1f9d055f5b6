"""`l2t transfer` and `l2t rank`: what to transfer between files, and which source to take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from l2t.agent import Suggestion
from l2t.domains import Domain, DomainPair, normalize, read_domains, write_domain
from l2t.domains.files import check_writable
from l2t.domains.files._disk import replacing
from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate, improvement_ratio, open_store
from l2t.inference import Inference, PastTargets, infer, rank_sources
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_record, show_rows
from l2t.interfaces.cli.reading import check_overwriting, described, read_pair

__all__ = ["expectation", "run_rank", "run_transfer"]

FEW = 15  # labels to measure with, where nobody says how many


def run_transfer(
    source: Path,
    target: Path,
    *,
    reading: dict[str, Any],
    how: str,
    options: dict[str, Any],
    past: str | None,
    outputs: dict[str, Path | None],
    format: Format,
    quiet: bool,
) -> None:
    """Read both files, infer W, write what was asked for, and print what to expect."""
    check_overwriting(outputs.values(), [source, target, options["reflection"]], store=past)
    _check_outputs(outputs)
    pair = read_pair(source, target, reading=reading, how=how, quiet=quiet)
    found = infer(pair, past=_recalled(past, pair.target), **options)
    record = _record(source, target, pair, found)
    show_record(_for_people(record, found) if format is Format.table else record, format)
    label = reading["label"] or "label"
    for name, domain in (("target", pair.target), ("source", pair.source)):
        if (path := outputs[name]) is not None:
            write_domain(domain.with_features(found.transform(domain)), path, label=label)
            kept = "" if found.verdict == "transfer" else ", features as they were"
            say(f"{name} written to {path}{kept}", quiet)
    if (path := outputs["W"]) is not None:
        with replacing(path) as handle:
            np.save(handle, found.W, allow_pickle=False)
        say(f"W written to {path}", quiet)
    if (path := outputs["plot"]) is not None:
        from l2t.plots import plot_transfer

        plot_transfer(pair, found).savefig(path, dpi=150)
        say(f"drawn to {path}", quiet)


def run_rank(
    target: Path,
    sources: list[Path],
    *,
    reading: dict[str, Any],
    how: str,
    options: dict[str, Any],
    past: str | None,
    format: Format,
    quiet: bool,
) -> None:
    """Print the sources, the most promising one first."""
    domains = read_domains([*sources, target], **reading)
    *read, last = (normalize(domain, how) for domain in domains)
    ranked = rank_sources(last, read, past=_recalled(past, last), **options)
    rows = []
    for place, each in enumerate(ranked, start=1):
        low, high = each.inference.interval or (None, None)
        rows.append(
            {
                "rank": place,
                "source": str(sources[each.index]),
                "predicted": each.predicted,
                "low": low,
                "high": high,
                "verdict": each.inference.verdict,
            }
        )
    show_rows(rows, format)
    if rows[0]["verdict"] == "transfer":
        say(f"next: l2t transfer {rows[0]['source']} {target} -o FILE", quiet)


def _recalled(url: str | None, target: Domain) -> PastTargets | None:
    """Return the past targets of a store that have the target's features, without its own rows."""
    if url is None:
        return None
    with open_store(url, create=False) as store:
        return PastTargets.of(store, like=target)


def _check_outputs(outputs: dict[str, Path | None]) -> None:
    """Refuse what cannot be written, before anything is computed."""
    for name, path in outputs.items():
        if path is None:
            continue
        if name == "plot":
            from l2t.plots import check_figure_path

            check_figure_path(path)
        elif name == "W":
            if path.suffix != ".npy" or not path.parent.is_dir():
                raise InvalidInputError(
                    f"W is written as .npy to a folder that exists, got {str(path)!r}"
                )
        else:
            check_writable(path)


def _record(source: Path, target: Path, pair: DomainPair, found: Inference) -> dict[str, Any]:
    told = {
        **expectation(source, target, pair, found),
        "columns_of_W": found.W.shape[1],
        "started_from": found.start,
    }
    return told | _measured(pair.target, found)


def expectation(
    source: Path, target: Path, pair: DomainPair, found: Inference | Suggestion
) -> dict[str, Any]:
    """Return what is expected of a W for a pair of files."""
    low, high = found.interval or (None, None)
    return {
        "source": described(source, pair.source),
        "target": described(target, pair.target),
        "labels": found.n_labels,
        "predicted_improvement": found.predicted,
        "low": low,
        "high": high,
        "verdict": found.verdict,
        "because": found.reason,
    }


def _for_people(record: dict[str, Any], found: Inference) -> dict[str, Any]:
    """Return the record in fewer lines."""
    interval = ""
    if found.interval is not None:
        interval = ", 90 % interval {:.3f} to {:.3f}".format(*found.interval)
    labels = "" if found.n_labels is None else f" with {found.n_labels} labels"
    told = {
        "source": record["source"],
        "target": record["target"],
        "predicted": f"{found.predicted:.3f} times the accuracy without transfer{labels}{interval}",
    }
    if "measured_improvement" in record:
        told["measured"] = (
            f"{record['measured_improvement']:.3f} times with {record['measured_with_labels']} labels: 1-NN "
            f"accuracy {record['accuracy_after']:.3f} instead of {record['accuracy_before']:.3f}"
        )
    m, u = found.W.shape
    return told | {
        "verdict": found.verdict,
        "because": found.reason,
        "W": f"{m} x {u}, found from {found.start}",
    }


def _measured(target: Domain, found: Inference) -> dict[str, Any]:
    """Return the measured improvement, where all labels of the target are there for it."""
    if target.y is None or target.labeled is not None:
        return {}
    counts = (found.n_labels or FEW,)
    try:
        before, after = (
            evaluate(Z, target.codes, label_counts=counts, groups=target.group_codes)
            for Z in (target.X, target.X @ found.W)
        )
    except InvalidInputError:  # too few rows to measure anything
        return {}
    return {
        "measured_with_labels": counts[0],
        "accuracy_before": float(before.mean[0]),
        "accuracy_after": float(after.mean[0]),
        "measured_improvement": float(improvement_ratio(before.mean, after.mean, before.n_test)[0]),
    }
