"""Transfer inside scikit-learn: a pipeline that is fitted on both domains and predicts target classes.

The source has three digits of one kind of image, the target three other digits of another kind, with 15
labelled rows. One such pair proves little, so five are measured.
"""

from __future__ import annotations

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import l2t


def measure(pair: l2t.DomainPair) -> dict[str, float]:
    Xt, yt = pair.target.X, pair.target.y.astype(int)
    few = np.concatenate([np.flatnonzero(yt == digit)[:5] for digit in np.unique(yt)])
    test = np.setdiff1d(np.arange(len(yt)), few)
    known = np.full(len(yt), -1)  # -1: not labelled
    known[few] = yt[few]
    source = (pair.source.X, pair.source.y.astype(int))
    X, y, sample_domain = l2t.stack_domains(source, (Xt, known))

    plain = make_pipeline(Normalizer(), KNeighborsClassifier(1)).fit(Xt[few], yt[few])
    accuracy = {"without transfer": plain.score(Xt[test], yt[test])}
    # Pipelines and searches pass `sample_domain` on where metadata routing is on.
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(Normalizer(), l2t.L2TClassifier())
        pipeline.fit(X, y, sample_domain=sample_domain)
        print(pipeline[-1].report_)
        accuracy["l2t"] = pipeline.score(Xt[test], yt[test])

        # The search scores labelled target rows alone.
        grid = {"l2tclassifier__classifier": ["auto", "nearest neighbour", "logistic"]}
        search = GridSearchCV(pipeline, grid, cv=3)
        search.fit(X, y, sample_domain=sample_domain)
        print(search.best_params_)
        accuracy["searched"] = search.score(Xt[test], yt[test])
    return accuracy


def main() -> dict[str, float]:
    pairs = l2t.PairSampler(l2t.domains.digits(), l2t.domains.mnist(), n_pairs=5)
    measured = [measure(pair) for pair in pairs]
    means = {name: float(np.mean([fold[name] for fold in measured])) for name in measured[0]}
    for name, value in means.items():
        print(f"{name}: {100 * value:.1f} %")
    return means


if __name__ == "__main__":
    main()
