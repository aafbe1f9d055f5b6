"""Runs as rows, hashed and compressed: the part of keeping runs that needs no database.

Whoever did the runs packs them, as each worker of a collection does; the process with the store has little
left to do, and a transaction is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from l2t.experiences.experience import Run
from l2t.experiences.store.arrays import encode
from l2t.experiences.store.records import domain_record, run_record

__all__ = ["Packed", "pack"]

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Packed:
    """The rows of some runs and of all that belongs to them, each once.

    Attributes
    ----------
    runs, scores : mapping
        By the key of the run.
    domains : mapping
        By their fingerprints.
    arrays : mapping
        By their hashes.
    """

    runs: Mapping[str, Row]
    scores: Mapping[str, Sequence[Row]]
    domains: Mapping[str, Row]
    arrays: Mapping[str, Row]


def pack(runs: Iterable[Run]) -> Packed:
    """Return the rows of runs; of runs with the same key the first counts.

    Raises
    ------
    InvalidInputError
        One of them cannot be given back as it is.
    """
    rows: dict[str, Row] = {}
    scores: dict[str, Sequence[Row]] = {}
    domains: dict[str, Row] = {}
    arrays: dict[str, Row] = {}
    for run in runs:
        record = run_record(run)
        key = record.row["key"]
        if key in rows:
            continue
        rows[key], scores[key] = record.row, record.scores
        found = dict(record.arrays)
        for side in (run.pair.source, run.pair.target):
            if side.fingerprint not in domains:
                part = domain_record(side)
                domains[side.fingerprint] = part.row
                found |= part.arrays
        arrays |= {hash: encode(hash, each) for hash, each in found.items() if hash not in arrays}
    return Packed(rows, scores, domains, arrays)
