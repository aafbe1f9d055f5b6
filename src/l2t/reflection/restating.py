"""Statistics of past runs for other neighbours or another kernel bank, from the W that the store keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from l2t.exceptions import InvalidInputError
from l2t.experiences import Experience, ExperienceStore
from l2t.statistics import KernelBank, PairStatistics, pair_statistics

__all__ = ["restated"]


def restated(
    experiences: Iterable[Experience],
    store: ExperienceStore | None,
    *,
    kernels: KernelBank | None = None,
    n_neighbors: int | None = None,
) -> Iterator[Experience]:
    """Yield experiences with their statistics computed anew, where other ones are wanted."""
    computed: dict[str, PairStatistics] = {}
    for each in experiences:
        if each.statistics is None:
            yield each
            continue
        bank = each.statistics.kernels if kernels is None else kernels
        r = each.statistics.n_neighbors if n_neighbors is None else n_neighbors
        if (bank, r) == (each.statistics.kernels, each.statistics.n_neighbors):
            yield each
            continue
        if store is None:
            raise InvalidInputError(
                f"n_neighbors={r} needs the store of the experiences, which have "
                f"{each.statistics.n_neighbors}: learn(..., store=store)"
            )
        if each.run_key not in computed:
            run = store.run(each.run_key)
            assert run.W is not None  # it has statistics, so it was done
            computed = {  # experiences of a run follow each other: one is enough
                each.run_key: pair_statistics(
                    run.pair, run.W, kernels=bank, n_neighbors=r, random_state=run.random_state
                )
            }
        yield replace(each, statistics=computed[each.run_key])
