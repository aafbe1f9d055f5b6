"""Where classes are shared, a W is also scored with the classifier trained on the source and on both."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import l2t
from l2t import Domain, DomainPair
from l2t.algorithms import Diagnostics, LatentFactors
from l2t.exceptions import InvalidInputError
from l2t.experiences import evaluate
from l2t.experiences.evaluation import labeled_draws

COUNTS = (4, 8)
QUICK = {"label_counts": COUNTS, "n_draws": 3, "progress": False}


@dataclass(frozen=True)
class FirstColumn:
    """The W that keeps the first feature, and multiplies that of source rows with another number."""

    name: ClassVar[str] = "first-column"
    factor: float = 1.0

    def fit(self, pair):
        W = np.eye(pair.n_features, 1)
        found = Diagnostics("done", 0, 0.0)
        return LatentFactors(W, "linear", self.name, found, {"source_W": self.factor * W})


def tiny_pair():
    """10 target rows of class a have the second feature of class b, which W takes away."""
    source = Domain([[0.0, 0.0], [1.0, 10.0]] * 3, list("ab") * 3)
    rows = [[0.0, 0.0]] * 10 + [[0.0, 10.0]] * 10 + [[1.0, 10.0]] * 20
    return DomainPair(source, Domain(rows, ["a"] * 20 + ["b"] * 20))


def shifted_pair(seed=0, ours="abc", theirs="abc"):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(5, 6))

    def side(names, shift):
        y = np.array(list(names) * 20)
        at = [["abcdw".index(name) for name in y]]
        return Domain(centres[at][0] + rng.normal(size=(len(y), 6)) + shift, y)

    return DomainPair(side(ours, 0.0), side(theirs, 0.7))


def collected(pairs, algorithms=("gfk",), **options):
    """Return the one run of each pair."""
    with l2t.open_store("memory://") as store:
        summary = l2t.collect(pairs, store, algorithms=algorithms, **QUICK | options)
        assert summary.failed == 0
        assert store.check() == []
        return [store.run(key) for key in sorted(store.keys())]


def scores_of(run):
    return {(each.trained_on, each.n_labels): each for each in run.scores}


def test_the_score_in_closed_form():
    (run,) = collected([tiny_pair()], (FirstColumn(),))
    scores = scores_of(run)
    assert set(scores) == {
        ("source", 0),
        *((kind, n) for kind in ("target", "both") for n in COUNTS),
    }
    alone = scores["source", 0]
    assert (alone.accuracy_before, alone.accuracy_after) == (30 / 40, 1.0)
    assert alone.improvement_ratio == pytest.approx(4 / 3)
    assert alone.standard_error_before == alone.standard_error_after == 0.0
    assert all(scores["both", n].accuracy_after == 1.0 for n in COUNTS)


@pytest.mark.parametrize(
    "spelling", [{"a": 1, "b": 2}, {"a": 1.0, "b": 2.0}, {"a": "1.0", "b": "2"}]
)
def test_spellings_of_one_label_are_one_class(spelling):
    def with_labels(domain, names):
        return Domain(domain.X, np.array([names[label] for label in domain.y.tolist()]))

    pair = tiny_pair()
    target = with_labels(pair.target, {"a": "1", "b": "2"})
    (run,) = collected([DomainPair(with_labels(pair.source, spelling), target)], (FirstColumn(),))
    (same,) = collected([pair], (FirstColumn(),))
    assert run.scores == same.scores


def test_both_is_the_same_classifier_on_the_rows_of_both():
    pair = shifted_pair()
    (run,) = collected([pair])
    W, codes = run.W, pair.target.codes
    scores = scores_of(run)
    for n in COUNTS:
        found = []
        for drawn in labeled_draws(codes, n, 3):
            test = np.setdiff1d(np.arange(len(codes)), drawn)
            train = [
                (pair.source.X @ W, pair.source.codes),
                ((pair.target.X @ W)[drawn], codes[drawn]),
            ]
            X, y = (np.concatenate(each) for each in zip(*train, strict=True))
            model = KNeighborsClassifier(1).fit(X, y)
            found.append(model.score((pair.target.X @ W)[test], codes[test]))
        assert scores["both", n].accuracy_after == pytest.approx(np.mean(found))
    model = KNeighborsClassifier(1).fit(pair.source.X @ W, pair.source.codes)
    assert scores["source", 0].accuracy_after == model.score(pair.target.X @ W, codes)
    assert [astuple(each) for each in run.scores if each.trained_on == "target"] == [
        astuple(each) for each in collected([pair], shared=False)[0].scores
    ], "what is trained on the target does not change"


def test_source_rows_have_their_own_factors():
    (run,) = collected([tiny_pair()], (FirstColumn(factor=-1.0),))
    assert scores_of(run)["source", 0].accuracy_after == 1 / 2, "all rows are nearest to a"


def test_a_classifier_of_scikit_learn():
    pair = shifted_pair()
    (run,) = collected([pair], classifier=LogisticRegression())
    model = LogisticRegression().fit(pair.source.X, pair.source.codes)
    expected = model.score(pair.target.X, pair.target.codes)
    assert scores_of(run)["source", 0].accuracy_before == expected
    options = {"source": (pair.source.X, pair.source.codes), "label_counts": (0, 9)}
    slow = evaluate(pair.target.X, pair.target.codes, classifier=KNeighborsClassifier(1), **options)
    quick = evaluate(pair.target.X, pair.target.codes, **options)
    np.testing.assert_array_equal(slow.scores, quick.scores)


def test_classes_of_one_domain_alone():
    """Classes of the source alone can be predicted; those of the target alone are not tested."""
    pair = shifted_pair(ours="abd", theirs="abw")
    (run,) = collected([pair])
    rows = np.isin(pair.target.y, ["a", "b"])
    model = KNeighborsClassifier(1).fit(pair.source.X, pair.source.y)
    expected = model.score(pair.target.X[rows], pair.target.y[rows])
    assert scores_of(run)["source", 0].accuracy_before == expected


def test_unlabelled_source_rows_teach_nothing():
    pair = shifted_pair()
    known = np.arange(len(pair.source)) % 2 == 0
    half = Domain(pair.source.X, pair.source.y, labeled=known)
    (run,) = collected([DomainPair(half, pair.target)])
    model = KNeighborsClassifier(1).fit(pair.source.X[known], pair.source.y[known])
    expected = model.score(pair.target.X, pair.target.y)
    assert scores_of(run)["source", 0].accuracy_before == expected


@pytest.mark.parametrize(
    ("pair", "options"),
    [
        (shifted_pair(ours="cd", theirs="abw"), {}),
        (shifted_pair(), {"shared": False}),
        (shifted_pair(ours="a", theirs="abw"), {}),
        (shifted_pair(ours="ad", theirs="abw"), {}),  # 20 rows are too few to test
        (DomainPair(Domain(shifted_pair().source.X), shifted_pair().target), {}),
    ],
    ids=["other classes", "not shared", "one source class", "few test rows", "no source labels"],
)
def test_what_is_scored_on_the_target_alone(pair, options):
    (run,) = collected([pair], **options)
    assert {each.trained_on for each in run.scores} == {"target"}


def test_no_target_label_reaches_W():
    pair = shifted_pair()
    shuffled = Domain(pair.target.X, np.random.default_rng(1).permutation(pair.target.y))
    names = ("tca", "itl", "gfk", "coral", "jda")
    ours, theirs = (
        {run.algorithm: run for run in collected([DomainPair(pair.source, target)], names)}
        for target in (pair.target, shuffled)
    )
    assert set(ours) == set(names)
    for name in names:
        assert ours[name].W.tobytes() == theirs[name].W.tobytes(), name
        assert scores_of(ours[name])["source", 0] != scores_of(theirs[name])["source", 0]


def test_two_processes_find_the_same_bits():
    pairs = [shifted_pair(seed) for seed in range(3)]
    alone, together = (collected(pairs, ("gfk", "coral"), n_jobs=n) for n in (1, 2))
    assert len(alone) == 6
    for ours, theirs in zip(alone, together, strict=True):
        assert ours.key == theirs.key
        assert [astuple(each) for each in ours.scores] == [astuple(each) for each in theirs.scores]


def test_no_labels_need_a_source():
    with pytest.raises(InvalidInputError, match="label_counts must be a whole number"):
        evaluate(np.zeros((40, 1)), np.arange(40) % 2, label_counts=(0,))


def test_whether_classes_count_as_shared_is_part_of_the_run():
    alike, apart = shifted_pair(), shifted_pair(theirs="wcd", ours="ab")
    with l2t.open_store("memory://") as store:
        for shared, new in ((False, 2), (True, 1), (True, 0), (False, 0)):
            options = QUICK | {"shared": shared, "algorithms": ["gfk"]}
            assert l2t.collect([alike, apart], store, **options).done == new
        kinds = [
            {each.trained_on for each in store.run(key).scores} for key in sorted(store.keys())
        ]
    assert sorted(map(len, kinds)) == [1, 1, 3]
