"""`l2t example`: files to try the other commands on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from l2t.domains import Domain, PairSampler, digits, mnist


def digit_tables() -> dict[str, pd.DataFrame]:
    """Return a source, a target of other classes with ten labels, and the target with all labels, by name."""
    scans = digits()
    target = PairSampler(scans, mnist(), n_pairs=1)[0].target
    source = scans.take(~np.isin(np.asarray(scans.y), np.asarray(target.y)))
    answers = _table(target)
    known = np.random.default_rng(0).permutation(len(target))[:10]
    handwriting = answers.assign(digit=answers["digit"].where(answers.index.isin(known)))
    return {"scans": _table(source), "handwriting": handwriting, "answers": answers}


def _table(domain: Domain) -> pd.DataFrame:
    names = [f"e{i}" for i in range(domain.n_features)]
    table = pd.DataFrame(domain.X, columns=names, dtype=float)
    return table.assign(digit=[f"digit {label}" for label in np.asarray(domain.y)])
