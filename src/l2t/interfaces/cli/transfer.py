"""`l2t transfer` and `l2t rank`: what to transfer between files, and which source to take."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np

from l2t.agent import Suggestion
from l2t.domains import Domain, DomainPair, KnownClasses, normalize, read_domains, write_domain
from l2t.domains.files import check_writable
from l2t.domains.files._disk import replacing
from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate, improvement_ratio, open_store
from l2t.inference import Inference, infer, rank_sources
from l2t.interfaces.cli.candidates import candidate_rows, expected_ratio
from l2t.interfaces.cli.formats import Format
from l2t.interfaces.cli.output import say, show_record, show_rows
from l2t.interfaces.cli.reading import check_overwriting, described, read_pair

__all__ = [
    "expectation",
    "for_people",
    "known_classes",
    "read_both",
    "run_rank",
    "run_transfer",
    "write_side",
]


def run_transfer(
    source: Path,
    target: Path,
    *,
    reading: dict[str, Any],
    how: str,
    options: dict[str, Any],
    store: str | None,
    outputs: dict[str, Path | None],
    format: Format,
    quiet: bool,
) -> None:
    """Read both files, infer, print what to expect, and write what was asked for."""
    check_overwriting(outputs.values(), [source, target, options["reflection"]], store=store)
    _check_outputs(outputs)
    raw, pair = read_both(source, target, reading=reading, how=how, quiet=quiet)
    known = known_classes(store, pair.n_features, quiet)
    _note_what_is_missing(source, pair.source, known, quiet)
    found = infer(pair, known=known, **options)
    record = expectation(source, target, pair, found) | _measured(pair.target, found)
    if format is Format.table:
        show_record(for_people(record), format)
        show_rows(candidate_rows(found), format)
    elif format is Format.json:
        show_record(record | {"candidates": found.candidates.records()}, format)
    else:
        show_record(record, format)
    for name in ("target", "source"):
        if (path := outputs[name]) is not None:
            say(f"{name} {write_side(name, raw, pair, found, path, reading['label'])}", quiet)
    if (path := outputs["matrix"]) is not None:
        W = found.W if isinstance(found.W, np.ndarray) else found.W.toarray()
        with replacing(path) as handle:
            np.save(handle, W, allow_pickle=False)
        say(f"matrix written to {path}", quiet)
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
    store: str | None,
    typed: list[str],
    format: Format,
    quiet: bool,
) -> None:
    """Print the sources, the one that adds most first, and the command that takes it."""
    domains = read_domains([*sources, target], **reading)
    *read, last = (normalize(domain, how) for domain in domains)
    known = known_classes(store, last.n_features, quiet)
    ranked = rank_sources(last, read, known=known, **options)
    rows: list[dict[str, Any]] = []
    for place, each in enumerate(ranked, start=1):
        low, high = each.inference.interval or (None, None)
        rows.append(
            {
                "rank": place,
                "source": str(sources[each.index]),
                "adds": each.adds,
                "predicted": each.predicted,
                "low": low,
                "high": high,
                "choice": each.inference.choice,
            }
        )
    if format is Format.table:
        show_rows([row | {"adds": _added(row["adds"])} for row in rows], format)
    else:
        show_rows(rows, format)
    if ranked[0].adds <= 1:
        say("no source adds anything to what the target itself allows", quiet)
    if ranked[0].inference.verdict == "transfer":
        output = f"{target.name.partition('.')[0]}_z.csv"
        command = ["l2t", "transfer", rows[0]["source"], str(target), *typed, "-o", output]
        say(f"next: {shlex.join(command)}", quiet)


def _added(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio > 1 else "nothing"


def read_both(
    source: Path, target: Path, *, reading: dict[str, Any], how: str, quiet: bool
) -> tuple[DomainPair, DomainPair]:
    """Return the pair of two files as they are, and normalized."""
    raw = read_pair(source, target, reading=reading, how="none", quiet=quiet)
    return raw, DomainPair(*(normalize(side, how) for side in (raw.source, raw.target)))


def write_side(
    side: str,
    raw: DomainPair,
    pair: DomainPair,
    found: Inference | Suggestion,
    path: Path,
    label: str | None,
) -> str:
    """Write a transformed domain, or the domain as it was read where the choice is not to transfer."""
    domain = getattr(pair, side)
    if transferred := found.verdict == "transfer":
        domain = domain.with_features(found.transform(domain))
    write_domain(domain if transferred else getattr(raw, side), path, label=label or "label")
    return f"written to {path}{'' if transferred else ', features as they were'}"


def known_classes(url: str | None, n_features: int, quiet: bool) -> KnownClasses | None:
    """Return the classes of a store's labelled targets with so many features."""
    if url is None:
        return None
    with open_store(url, create=False) as store:
        known = KnownClasses(store.targets(n_features=n_features))
    if not known.n_classes:
        say(f"note: the store has no labelled target with {n_features} features", quiet)
    return known


def _note_what_is_missing(
    path: Path, source: Domain, known: KnownClasses | None, quiet: bool
) -> None:
    """Say what cannot be done without labels of the source."""
    if source.y is None and (known is None or not known.n_classes):
        say(
            f"note: {path} has no labels, so L2T can neither rehearse on its classes nor see which features "
            "tell classes apart: the source adds nothing. Name the column of its labels with --label, or a "
            "store of labelled targets with --store",
            quiet,
        )


def _check_outputs(outputs: dict[str, Path | None]) -> None:
    """Reject paths that cannot be written, before anything is computed."""
    for name, path in outputs.items():
        if path is None:
            continue
        if name == "plot":
            from l2t.plots import check_figure_path

            check_figure_path(path)
        elif name == "matrix":
            if path.suffix != ".npy" or not path.parent.is_dir():
                raise InvalidInputError(
                    f"--w-output must be a .npy file in a folder that exists, got {str(path)!r}"
                )
        else:
            check_writable(path)


def expectation(
    source: Path, target: Path, pair: DomainPair, found: Inference | Suggestion
) -> dict[str, Any]:
    """Return what is expected of the choice for a pair of files."""
    low, high = found.interval or (None, None)
    return {
        "source": described(source, pair.source),
        "target": described(target, pair.target),
        "labels": found.n_labels,
        "choice": found.choice,
        "predicted_improvement": found.predicted,
        "low": low,
        "high": high,
        "verdict": found.verdict,
        "because": found.reason,
        "columns": found.W.shape[1],
    }


def for_people(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record in fewer lines."""
    interval = None if record["low"] is None else (record["low"], record["high"])
    expected = expected_ratio(record["predicted_improvement"], interval)
    words = {name: record[name] for name in ("source", "target", "choice")}
    words["predicted"] = f"{expected}, with {record['labels']} labels"
    if "measured_improvement" in record:
        words["measured"] = (
            f"{record['measured_improvement']:.3f} times with {record['labels']} labels: 1-NN accuracy "
            f"{record['accuracy_after']:.3f} instead of {record['accuracy_before']:.3f}"
        )
    return words | {"verdict": record["verdict"], "because": record["because"]}


def _measured(target: Domain, found: Inference) -> dict[str, Any]:
    """Return the measured improvement, where all labels of the target are there for it."""
    if target.y is None or target.labeled is not None:
        return {}
    counts = (found.n_labels,)
    try:
        before, after = (
            evaluate(Z, target.codes, label_counts=counts, groups=target.group_codes)
            for Z in (target.X, found.transform(target))
        )
    except InvalidInputError:  # too few rows to measure anything
        return {}
    return {
        "accuracy_before": float(before.mean[0]),
        "accuracy_after": float(after.mean[0]),
        "measured_improvement": float(improvement_ratio(before.mean, after.mean, before.n_test)[0]),
    }
