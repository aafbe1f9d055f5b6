"""Studies: tables, sizes, class shares, own experience and preparation, on one page."""

from __future__ import annotations

from pathlib import Path

from reproduction.pages import write_page
from reproduction.studies import own_experience, preparing, sizes, tables, unbalanced

__all__ = ["write_studies"]


def write_studies(data: Path, out: Path, work: Path) -> None:
    """Measure everything that is not in the working folder yet, and write the page."""
    found = {
        name: tables.table_rows(records) for name, records in tables.measure_tables(work).items()
    }
    rows = [row for each in found.values() for row in each]
    write_page(
        out / "studies.md",
        preparation=preparing.preparation_rows(preparing.measure_preparation(data, work)),
        tables=found,
        outside=sum(row["outside"] for row in rows),
        n_draws=sum(row["n"] for row in rows),
        candidates_outside=sum(row["candidates_outside"] for row in rows),
        n_candidates=sum(row["candidates"] for row in rows),
        most=max(row["most"] for row in rows),
        sizes={
            kind: sizes.size_rows(records)
            for kind, records in sizes.measure_sizes(data, work).items()
        },
        refusals=sizes.refusal_rows(sizes.measure_refusals(data, work)),
        style=sizes.style_rows(sizes.measure_style(data, work)),
        unbalanced={
            kind: unbalanced.unbalanced_rows(records)
            for kind, records in unbalanced.measure_unbalanced(data, work).items()
        },
        runs=own_experience.RUNS,
        experience={
            kind: own_experience.experience_rows(records)
            for kind, records in own_experience.measure_experience(data, work).items()
        },
    )
