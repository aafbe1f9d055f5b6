"""The agent that keeps learning: over a stream, after a change, and by practice."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import typer

from l2t._version import __version__
from l2t.domains import DomainPair
from l2t.experiences import ExperienceStore, open_store
from l2t.experiments.families import Pairs, draw_pairs
from l2t.experiments.online import LABEL_COUNTS, Stream, measure_stream, ratios_of
from l2t.experiments.practice import PRACTICE_COUNTS, measure_practice
from l2t.experiments.stream_figures import draw_drift, draw_stream
from l2t.inference import PastTargets
from l2t.interfaces.cli.results.writing import markdown_table, write
from l2t.reflection import ReflectionFunction, learn
from l2t.typing import Array

__all__ = ["write_online"]


TEXT = """# The agent that keeps learning

An agent that starts from nothing (`Agent(store, reflection=None)`) is asked for one pair after the other,
each with {counts} labels by turns, and told what its W did; from then on it knows the labels of the target.
Beside it one random base algorithm is observed on each pair, as people do who compare. Ratios are what people
got: that of W where the verdict was to transfer, 1 elsewhere; no labelled rows vote. Made by

    l2t reproduce online --data DIR

with l2t {version}, in {minutes:.0f} minutes.

{sections}
"""

STREAM = """## {pairs} pairs of {family}

![The running mean of the ratio, and the cost of an experience](online-stream.png)

{table}

Until the first function is there, base algorithms are suggested by turns. "learned at once" is the function
learned from all {experiences} experiences, with the labels of all targets but the pair's own, applied to the
same pairs afterwards: it has met them, and the agent had not when it was asked. The running mean of all pairs
so far is {early:.3f} after {first_pairs} pairs and {end:.3f} at the end, {behind} than that of learning at
once; over the last {last_pairs} pairs the agent has {agent_last:.3f}, and learning at once {once_last:.3f}.
{took_over} of {versions} versions took over, and {coverage:.0f} % of ratios fell into their 90 % intervals.

Taking in one more run took {first:.0f} ms of computing over the first half of the stream and {second:.0f} ms
over the second. Besides what is new, the newest 400 runs are learned from each time: the cost rises until
there are so many, and not further. The peaks are where their number has doubled and all are learned from;
settings that are then chosen take more or less time than those before.
"""

DRIFT = """## {pairs} pairs of {before}, then {pairs} of {after}

![The ratio before and after the change](online-drift.png)

{table}

"learned at once" is, for each kind, the function learned from all experiences of that kind together, which
it has met; the agent had not when it was asked.
"""

PRACTICE = """## Practice

A function learned from what eight base algorithms did on {train} training pairs, before and after it has
also learned from what its own W's did on {practice} other training pairs (`Agent.practise`), on {validation}
validation pairs. "optimism" is the mean of predicted over measured ratio of W, less 1; "error" the mean
error of log ratios predicted for W.

{tables}
"""

TRAIN, PRACTICE_PAIRS, VALIDATION = 24, 24, 24


def write_online(data: Path | None, out: Path, work: Path, pairs: int, jobs: int) -> None:
    """Measure everything, and write it down."""
    start = time.perf_counter()
    work.mkdir(parents=True, exist_ok=True)
    sections = [stream_section(data, out, work, pairs)]
    if data is not None:
        sections.append(drift_section(data, out, work, pairs // 3))
    sections.append(practice_section(data, work, jobs))
    write_sections(out, sections, (time.perf_counter() - start) / 60)


def write_sections(out: Path, sections: list[str], minutes: float) -> None:
    """Write the page."""
    text = TEXT.format(
        counts=", ".join(str(count) for count in LABEL_COUNTS),
        version=__version__,
        minutes=minutes,
        sections="\n".join(sections).rstrip(),
    )
    write(out / "online.md", text)


def stream_section(data: Path | None, out: Path, work: Path, n_pairs: int) -> str:
    """Measure the stream."""
    family = "digits" if data is None else "photo-sketch"
    pairs = draw_pairs(family, "train", n_pairs, data)
    with _fresh(work / "online-stream.db") as store:
        stream = measure_stream(pairs, store)
        function = learn(store.experiences(status="done"))
        experiences = store.count(status="done")
    at_once = ratios_of(function, pairs, past=PastTargets(pair.target for pair in pairs))
    draw_stream(stream, float(at_once.mean()), out / "online-stream.png")
    half = stream.runs <= stream.runs[-1] / 2
    text = STREAM.format(
        pairs=n_pairs,
        family=family,
        table=_by_part(stream, {"agent": stream.ratio, "learned at once": at_once}, 5),
        experiences=experiences,
        first_pairs=n_pairs // 20,
        early=stream.running_mean()[n_pairs // 20 - 1],
        end=stream.ratio.mean(),
        behind=_behind(float(stream.ratio.mean() / at_once.mean())),
        last_pairs=n_pairs // 5,
        agent_last=stream.ratio[-(n_pairs // 5) :].mean(),
        once_last=at_once[-(n_pairs // 5) :].mean(),
        took_over=sum(version.took_over for version in stream.versions),
        versions=len(stream.versions),
        coverage=100 * stream.coverage,
        first=1000 * stream.seconds[half].mean(),
        second=1000 * stream.seconds[~half].mean(),
    )
    typer.echo(text)
    return text


def drift_section(data: Path, out: Path, work: Path, n_pairs: int) -> str:
    """Measure a stream whose kind changes in the middle."""
    kinds = ("photo-sketch", "photo-style")
    parts = [draw_pairs(kind, "train", n_pairs, data, random_state=7) for kind in kinds]
    pairs: list[DomainPair] = [pair for part in parts for pair in part]
    with _fresh(work / "online-drift.db") as store:
        stream = measure_stream(pairs, store)
        functions = _by_kind(store, parts)
    known_past = [PastTargets(pair.target for pair in part) for part in parts]
    at_once = np.concatenate(
        [
            ratios_of(functions[i], part, past=known_past[i], first=i * n_pairs)
            for i, part in enumerate(parts)
        ]
    )
    known = (float(at_once[:n_pairs].mean()), float(at_once[n_pairs:].mean()))
    draw_drift(stream, n_pairs, known, out / "online-drift.png")
    shown = {
        "agent": stream.ratio,
        "its W, always": stream.always,
        "learned at once": at_once,
    }
    text = DRIFT.format(
        pairs=n_pairs, before=kinds[0], after=kinds[1], table=_by_part(stream, shown, 10)
    )
    typer.echo(text)
    return text


def practice_section(data: Path | None, work: Path, jobs: int) -> str:
    """Measure what practice is worth."""
    tables = []
    for family in ("digits",) if data is None else ("photo-sketch", "digits"):
        train = draw_pairs(family, "train", TRAIN, data)
        practice = draw_pairs(family, "train", PRACTICE_PAIRS, data, random_state=1)
        validation = draw_pairs(family, "validation", VALIDATION, data)
        with (
            open_store(work / f"{family}.db") as collected,
            _fresh(work / f"online-practice-{family}.db") as own,
        ):
            study = measure_practice(train, practice, validation, collected, own, n_jobs=jobs)
        rows = []
        for when, each in (("before", study.before), ("after", study.after)):
            rows.append((f"ratio {when}", *_cells(each.mean(each.l2t))))
            rows.append((f"W always, {when}", *_cells(each.mean(each.always))))
            rows.append((f"optimism {when}", *_cells(study.optimism(each), "+.3f")))
            rows.append((f"error {when}", *_cells(study.error(each))))
        columns = (family, *(f"{count} labels" for count in PRACTICE_COUNTS))
        tables.append(markdown_table(columns, sorted(rows, key=lambda row: row[0].split()[0])))
    text = PRACTICE.format(
        train=TRAIN, practice=PRACTICE_PAIRS, validation=VALIDATION, tables="\n\n".join(tables)
    )
    typer.echo(text)
    return text


def _by_kind(store: ExperienceStore, parts: list[Pairs]) -> list[ReflectionFunction]:
    """Return the functions learned from the experiences of each kind alone."""
    found = []
    for part in parts:
        targets = {pair.target.fingerprint for pair in part}
        runs = [each for each in store.experiences(status="done") if each.target in targets]
        found.append(learn(runs))
    return found


def _fresh(path: Path) -> ExperienceStore:
    """Open a new store: a stream begins at its beginning."""
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return open_store(path)


def _behind(share: float) -> str:
    """Say how a ratio compares with another."""
    return f"{100 * abs(share - 1):.1f} % {'less' if share < 1 else 'more'}"


def _by_part(stream: Stream, shown: dict[str, Array], n_parts: int) -> str:
    """Return the mean ratios of equal parts of a stream, and of all of it."""
    ends = np.linspace(0, len(stream.ratio), n_parts + 1).astype(int)
    columns = ("pairs", *(f"{a + 1} - {b}" for a, b in pairwise(ends)), "all")
    rows = [
        (name, *(f"{part.mean():.3f}" for part in (*np.split(ratios, ends[1:-1]), ratios)))
        for name, ratios in shown.items()
    ]
    return markdown_table(columns, rows)


def _cells(values: Array, how: str = ".3f") -> list[str]:
    return ["–" if np.isnan(value) else f"{value:{how}}" for value in values]
