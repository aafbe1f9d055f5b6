"""The estimators keep scikit-learn's contract, and neither leak labels nor learn from the wrong rows."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import l2t
from l2t import Domain, L2TClassifier, L2TTransformer, ReflectionFunction, stack_domains
from l2t.domains import KnownClasses
from l2t.exceptions import InvalidInputError, L2TError, L2TWarning
from l2t.interfaces.estimators.transformer import seed_of
from reproduction.office_caltech import load_office_caltech

pytestmark = pytest.mark.integration  # scikit-learn checks every estimator in hundreds of ways

#: Functions that expect much of any W, and little.
HOPEFUL = ReflectionFunction(beta=np.full(33, 0.01), mu=0.01, b=0.3)
DOUBTFUL = ReflectionFunction(beta=np.full(33, 0.01), mu=0.01, b=3.0)

#: The geometry of known classes needs a source that is not the target itself.
WITHOUT_CLASSES = ("l2t", "paper", "identity", "spectrum", *l2t.algorithms.PAPER)
METHODS = ("l2t", "paper", *l2t.algorithms.names())


def refuses(sentence):
    return pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}")


@pytest.fixture(autouse=True)
def _global_state(monkeypatch):
    """The state of `numpy.random`, which estimators without a seed draw from."""
    monkeypatch.setattr(np.random.mtrand, "_rand", np.random.RandomState(0))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def stacked(pair):
    """Both domains, with 15 of the 45 target rows labelled; classes 0, 1, 2 and 3, 4, 5."""
    yt = np.where(np.arange(45) < 15, pair.target.y, -1)
    return stack_domains(pair.source, (pair.target.X, yt))


@pytest.fixture
def shared(pair):
    """Both domains with the classes 0, 1, 2, and no target label; the target is a shifted source."""
    rng = np.random.default_rng(2)
    Xt = pair.source.X + 0.5 + 0.1 * rng.normal(size=pair.source.X.shape)
    return stack_domains(pair.source, Domain(Xt, pair.source.y)), (Xt, pair.source.y)


# scikit-learn's own checks. `check_array_api_input` skips unless scipy was imported under SCIPY_ARRAY_API=1:
# `test_array_api` below runs it so.
@parametrize_with_checks(
    [
        *(L2TTransformer(method) for method in WITHOUT_CLASSES),
        L2TClassifier(),
        L2TClassifier("label spreading"),
        L2TClassifier(LogisticRegression(max_iter=2000)),
    ]
)
def test_contract(estimator, check):
    check(estimator)


def test_array_api():
    code = """
from sklearn.utils.estimator_checks import check_array_api_input
import l2t
for estimator in (l2t.L2TTransformer(), l2t.L2TTransformer("gfk"), l2t.L2TClassifier()):
    check_array_api_input(
        type(estimator).__name__, estimator, array_namespace="numpy", expect_only_array_outputs=False
    )
"""
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    assert (
        subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0
    )


@pytest.mark.parametrize(
    "check",
    [
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_global_output_transform_pandas",
    ],
)
@pytest.mark.parametrize("transformer", [L2TTransformer(), L2TTransformer("gfk")], ids=str)
@pytest.mark.filterwarnings(
    "ignore:X (has|does not have valid) feature names"
)  # the checks mix them
def test_names_and_containers(transformer, check):
    getattr(estimator_checks, check)("L2TTransformer", transformer)


@pytest.mark.parametrize("method", METHODS)
def test_the_transformer_gives_what_the_library_gives(method, pair, stacked):
    X, y, sample_domain = stacked
    own = L2TTransformer(method, n_components=4, random_state=0)
    own.fit(X, y, sample_domain=sample_domain)
    target = Domain(pair.target.X, pair.target.y, labeled=np.arange(45) < 15)
    whole = l2t.DomainPair(pair.source, target)
    if method in ("l2t", "paper"):
        found = l2t.infer(whole, n_components=4, method=method)
        assert (own.choice_, own.verdict_) == (found.choice, found.verdict)
        assert own.predicted_ == found.predicted
        assert own.inference_.candidates.records() == found.candidates.records()
        assert own.factors_ is None
    else:
        (algorithm,) = l2t.algorithms.make_all("method", method, n_components=4)
        found = algorithm.fit(whole)
        assert (own.choice_, own.predicted_, own.inference_) == (method, None, None)
        assert own.verdict_ == ("no-transfer" if method == "identity" else "transfer")
        assert own.factors_.algorithm == method
    np.testing.assert_array_equal(own.W_, found.W)
    np.testing.assert_array_equal(own.transform(pair.target.X), found.transform(pair.target.X))


def test_parameters_reach_the_inference(stacked):
    X, y, sample_domain = stacked
    unlabelled = np.where(sample_domain > 0, y, -1)
    own = L2TTransformer(candidates=("gfk", "spectrum"), n_labels=30, n_classes=5)
    found = own.fit(X, unlabelled, sample_domain=sample_domain).inference_
    assert tuple(found.candidates) == ("identity", "gfk", "spectrum")
    assert (found.n_labels, found.n_classes) == (30, 5)
    W = np.eye(10)[:, :9]
    given = L2TTransformer(candidates={"mine": W}).fit(X, y, sample_domain=sample_domain)
    assert tuple(given.inference_.candidates) == ("identity", "mine")
    np.testing.assert_array_equal(given.inference_.candidates["mine"].W, W)


def test_a_reflection_function_implies_the_search_of_the_paper(stacked, tmp_path):
    X, _, sample_domain = stacked
    path = HOPEFUL.save(tmp_path / "reflection.json")
    for own in (
        L2TTransformer(reflection=HOPEFUL, n_components=3, n_labels=30),
        L2TTransformer("paper", reflection=path, n_components=3, n_labels=30),
        L2TTransformer("paper", reflection=str(path), n_components=3, n_labels=30),
    ):
        found = own.fit(X, sample_domain=sample_domain).inference_
        assert (own.choice_, found.n_labels) == ("paper", 30)
        assert own.W_.shape == (10, 3)
        assert found.predicted == pytest.approx(HOPEFUL.predict(found.search.statistics, 30))


@pytest.fixture
def past(tmp_path, pair):
    """The address of a store with one labelled target of three further classes."""
    rng = np.random.default_rng(5)
    codes = np.repeat([6, 7, 8], 20)
    target = Domain(4 * rng.normal(size=(9, 10))[codes] + rng.normal(size=(60, 10)), codes)
    with l2t.open_store(tmp_path / "past.db") as store:
        l2t.collect(
            [l2t.DomainPair(pair.source, target)],
            store,
            algorithms=["gfk"],
            label_counts=(3,),
            n_draws=2,
            progress=False,
        )
        return store.url


@pytest.mark.parametrize("method", ["l2t", "classes"])
def test_known_classes_of_a_store(method, stacked, past):
    X, y, sample_domain = stacked

    def fitted(**known):
        own = L2TTransformer(method, **known, random_state=0)
        return own.fit(X, y, sample_domain=sample_domain)

    def geometry(own):
        return own.factors_.W if own.factors_ else own.inference_.candidates["classes"].W

    plain = fitted()
    with l2t.open_store(past) as store:
        known = KnownClasses.of(store)
        ways = [
            {"store": past},
            {"store": store},
            {"known": known},
            {"known": known, "store": past},
        ]
        found = [fitted(**each) for each in ways]
    for each in found:
        np.testing.assert_array_equal(geometry(each), geometry(found[0]))
        assert each.choice_ == found[0].choice_
    assert not np.allclose(geometry(plain), geometry(found[0]))
    if method == "l2t":
        assert "on 6 known classes" in found[0].inference_.reason
        assert "on 3 known classes" in plain.inference_.reason


def test_known_classes_that_are_none(stacked, tmp_path):
    X, y, sample_domain = stacked
    for wrong, error, message in (
        ({"known": X}, InvalidInputError, "known must be a KnownClasses, got ndarray"),
        ({"store": tmp_path / "none.db"}, L2TError, "none.db"),
        (
            {"store": 3},
            InvalidInputError,
            "^store must be an ExperienceStore, a URL or a path, got int$",
        ),
    ):
        with pytest.raises(error, match=message):
            L2TTransformer(**wrong).fit(X, y, sample_domain=sample_domain)
    assert not (tmp_path / "none.db").exists()


def test_without_source_labels_spectrum_and_identity_compete(stacked):
    X, y, sample_domain = stacked
    own = L2TTransformer().fit(
        X, np.where(sample_domain > 0, np.nan, y), sample_domain=sample_domain
    )
    candidates = own.inference_.candidates
    usable = [name for name, each in candidates.items() if each.W is not None]
    assert usable == ["identity", "spectrum"]
    assert "needs a source with labels" in candidates["classes"].reason
    assert own.choice_ in usable


@pytest.mark.parametrize("rows", [2, 3, 7])
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("fill", ["random", "constant"])
def test_where_nothing_else_works_the_rows_stay_as_they_are(rows, m, fill, rng):
    X = rng.normal(size=(rows, m)) if fill == "random" else np.ones((rows, m))
    for y in (None, np.arange(rows) % 2):
        for sample_domain in (None, np.where(np.arange(rows) < rows - 1, 1, -1)):
            own = L2TTransformer().fit(X, y, sample_domain=sample_domain)
            assert np.isfinite(own.transform(X)).all()
            failed = [name for name, each in own.inference_.candidates.items() if each.reason]
            if len(failed) == 3:
                assert (own.choice_, own.verdict_) == ("identity", "no-transfer")
                np.testing.assert_array_equal(own.transform(X), X)
            if fill == "constant" and y is None:
                assert len(failed) == 3


def test_an_algorithm_with_settings_of_its_own(stacked):
    X, y, sample_domain = stacked
    algorithm = l2t.algorithms.make("tca", n_components=3, kernel="rbf")
    own = clone(L2TTransformer(algorithm)).fit(X, y, sample_domain=sample_domain)
    assert own.W_.shape == (10, 3)
    assert not np.allclose(
        own.W_, L2TTransformer("tca", n_components=3).fit(X, y, sample_domain=sample_domain).W_
    )


def test_transform_follows_the_verdict(stacked):
    X, _, sample_domain = stacked
    for reflection, verdict in ((HOPEFUL, "transfer"), (DOUBTFUL, "no-transfer")):
        own = L2TTransformer(reflection=reflection, n_components=3)
        Z = own.fit_transform(X, sample_domain=sample_domain)
        assert own.verdict_ == verdict
        np.testing.assert_array_equal(Z, X @ own.W_ if verdict == "transfer" else X)
        np.testing.assert_allclose(own.transform(sparse.csr_matrix(X)), Z, atol=1e-12)
        names = own.get_feature_names_out()
        assert names[0] == ("l2ttransformer0" if verdict == "transfer" else "x0")
        assert len(names) == Z.shape[1]


def test_frames_keep_their_index_and_names(stacked):
    X, _, sample_domain = stacked
    frame = pd.DataFrame(X, columns=list("abcdefghij"), index=range(100, 100 + len(X)))
    for reflection, names in (
        (HOPEFUL, [f"l2ttransformer{i}" for i in range(3)]),
        (DOUBTFUL, list("abcdefghij")),
    ):
        own = L2TTransformer(reflection=reflection, n_components=3).set_output(transform="pandas")
        Z = own.fit_transform(frame, sample_domain=sample_domain)
        assert Z.columns.tolist() == names
        assert Z.index.equals(frame.index)
        assert own.feature_names_in_.tolist() == list("abcdefghij")


@pytest.mark.parametrize("method", ["itl", "jda", l2t.algorithms.JDA()])
def test_algorithms_that_need_source_labels_say_so(method, rng):
    transformer = L2TTransformer(method)
    assert transformer.__sklearn_tags__().target_tags.required
    with pytest.raises(InvalidInputError, match=r"requires y to be passed, .* needs source labels"):
        transformer.fit(rng.normal(size=(20, 4)))


@pytest.mark.parametrize("method", METHODS)
def test_float32_stays(method, stacked):
    X, y, sample_domain = stacked
    own = L2TTransformer(method).fit(X.astype(np.float32), y, sample_domain=sample_domain)
    assert own.W_.dtype == np.float32
    assert own.transform(X[:3].astype(np.float32)).dtype == np.float32
    assert own.transform(X[:3]).dtype == np.float64
    other = L2TTransformer(method).fit(X, y, sample_domain=sample_domain)
    assert other.transform(X[:3].astype(np.float32)).dtype == np.float32


def test_no_target_label_reaches_w(stacked):
    """Other labels may change which candidate is chosen; the W of a candidate never."""
    X, y, sample_domain = stacked
    target = np.flatnonzero(sample_domain < 0)

    def factors(method, labels):
        own = L2TTransformer(method, n_components=2).fit(X, labels, sample_domain=sample_domain)
        if own.inference_ is None:
            return {method: own.W_}, own.choice_
        return {name: each.W for name, each in own.inference_.candidates.items()}, own.choice_

    choices = set()
    for method in METHODS:
        first, choice = factors(method, y)
        choices.add((method, choice))
        for seed in range(3):
            other = y.copy()
            other[target[:15]] = np.random.default_rng(seed).permutation(other[target[:15]])
            second, choice = factors(method, other)
            choices.add((method, choice))
            assert list(first) == list(second)
            for name in first:
                np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    assert len([choice for method, choice in choices if method == "l2t"]) > 1


def test_without_sample_domain_x_stands_for_both(pair):
    X, y = pair.target.X, pair.target.y
    both = np.concatenate([X, X]), np.repeat([1, -1], len(X))
    for method in WITHOUT_CLASSES:
        alone = L2TTransformer(method).fit(X, y)
        twice = L2TTransformer(method)
        twice.fit(both[0], np.tile(y, 2), sample_domain=both[1])
        np.testing.assert_array_equal(alone.W_, twice.W_, err_msg=method)
        assert alone.verdict_ == twice.verdict_


@pytest.fixture
def several(stacked, rng):
    """Sources 3 and 7 with the same classes, which are noise in 7, and a target with two ids; rows mixed."""
    X, y, _ = stacked
    X, y = np.concatenate([X, rng.normal(size=(60, 10))]), np.concatenate([y, np.arange(60) % 3])
    ids = np.concatenate([np.full(60, 3), np.where(np.arange(45) % 2, -1, -2), np.full(60, 7)])
    order = rng.permutation(len(X))
    X, y, ids = X[order], y[order], ids[order]
    sources = [Domain(X[ids == id], y[ids == id], name=f"source {id}") for id in (3, 7)]
    target = Domain(X[ids < 0], y[ids < 0], labeled=y[ids < 0] != -1)
    return (X, y, ids), sources, target


def test_an_algorithm_takes_all_sources_as_one(several):
    (X, y, sample_domain), _, _ = several
    one, many = (
        L2TTransformer("gfk").fit(X, y, sample_domain=marks)
        for marks in (np.sign(sample_domain), sample_domain)
    )
    np.testing.assert_array_equal(one.W_, many.W_)


def test_the_transformer_keeps_sources_apart_as_infer_does(several):
    (X, y, sample_domain), sources, target = several
    own = L2TTransformer().fit(X, y, sample_domain=sample_domain)
    found = l2t.infer(target, sources=sources, shared=False)
    assert "source 3 (1) 1.00, source 7 (2) not used" in own.inference_.reason
    assert own.inference_.reason == found.reason
    np.testing.assert_array_equal(own.W_, found.W)


@pytest.mark.parametrize("same_classes", [False, True])
def test_the_classifier_weights_sources_as_predict_does(several, same_classes):
    (X, y, sample_domain), sources, target = several
    if same_classes:
        y = np.where((sample_domain < 0) & (y > 2), y - 3, y)
        target = Domain(target.X, y[sample_domain < 0], labeled=target.labeled)
    own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    found = l2t.predict(sources, target)
    np.testing.assert_allclose(own.predict_proba(target.X), found.probabilities, atol=1e-12)
    assert own.report_.rows == found.report.rows
    reason = str(own.report_) if same_classes else found.inference.reason
    assert "source 3 (1) 1.00, source 7 (2) not used" in reason


def test_rows_may_stand_in_any_order(stacked, rng):
    X, y, sample_domain = stacked
    order = rng.permutation(len(X))
    for method in ("gfk", "l2t"):
        own = L2TTransformer(method).fit(X, y, sample_domain=sample_domain)
        mixed = L2TTransformer(method).fit(X[order], y[order], sample_domain=sample_domain[order])
        assert own.verdict_ == mixed.verdict_
        if method == "gfk":
            np.testing.assert_allclose(own.W_ @ own.W_.T, mixed.W_ @ mixed.W_.T, atol=1e-10)


def test_components_are_clipped_with_a_warning_only_if_asked_for(stacked):
    X, y, sample_domain = stacked
    assert L2TTransformer("gfk").fit(X, y, sample_domain=sample_domain).W_.shape[1] <= 20
    with pytest.warns(L2TWarning, match="n_components=50 exceeds the rank"):
        L2TTransformer("gfk", n_components=50).fit(X, y, sample_domain=sample_domain)


def test_labels_of_several_columns_are_not_used(pair):
    X, y = pair.target.X, pair.target.y

    def evidence(labels):
        return L2TTransformer().fit(X, labels).inference_.candidates["spectrum"].evidence

    assert evidence(np.column_stack([y == 3, y == 4])) is None
    assert evidence(y[:, None]).n_rows == 45


def test_seeds(pair):
    state = np.random.RandomState(0)
    assert seed_of(state) != seed_of(state)
    assert seed_of(7) == 7
    assert L2TTransformer(random_state=None).fit(pair.target.X).W_.shape[0] == 10


@pytest.mark.parametrize("kind", [L2TTransformer, L2TClassifier])
def test_random_states_are_those_of_scikit_learn(kind):
    """None draws from numpy's global state; each clone copies a RandomState."""
    state = np.random.RandomState(0)
    first, second = seed_of(state), seed_of(state)
    assert [seed_of(kind(random_state=None).random_state) for _ in range(2)] == [first, second]
    assert kind().random_state == 0
    own = kind(random_state=np.random.RandomState(0))
    assert [seed_of(clone(own).random_state), seed_of(clone(own).random_state)] == [first, first]


@pytest.mark.parametrize("kind", [L2TTransformer, L2TClassifier])
def test_a_clone_shares_the_store(kind, stacked):
    """A copy would open it once more, and a store in memory cannot be copied."""
    X, y, sample_domain = stacked
    with l2t.open_store("memory://") as store:
        own = clone(kind(store=store))
        assert own.store is store
        own.fit(X, y, sample_domain=sample_domain)
        assert store.count() == 0  # still open


@pytest.mark.parametrize("kind", [L2TTransformer, L2TClassifier])
def test_parameters_are_kept_as_they_were_given(kind, stacked, past):
    """`fit` opens a store by its URL or path, and leaves the parameter alone."""
    X, y, sample_domain = stacked
    state = np.random.RandomState(0)
    for store in (past, Path(past.removeprefix("sqlite:///"))):
        own = kind(store=store, random_state=state).fit(X, y, sample_domain=sample_domain)
        assert own.get_params()["store"] is store
        assert own.get_params()["random_state"] is state
        assert clone(own).store == store


@pytest.mark.parametrize(
    "estimator",
    [
        L2TTransformer(reflection=HOPEFUL),
        L2TTransformer("gfk", n_components=3),
        L2TClassifier(),
        L2TClassifier(LinearSVC()),
    ],
    ids=["l2t", "gfk", "classifier", "svc"],
)
def test_clones_and_pickles(estimator, stacked):
    X, y, sample_domain = stacked
    fitted = clone(estimator).fit(X, y, sample_domain=sample_domain)
    again = pickle.loads(pickle.dumps(fitted))
    method = "predict" if hasattr(estimator, "predict") else "transform"
    np.testing.assert_array_equal(getattr(fitted, method)(X), getattr(again, method)(X))
    assert not hasattr(clone(fitted), "n_features_in_")


@pytest.mark.parametrize(
    "classifier", [KNeighborsClassifier(1), GaussianNB(), LinearSVC()], ids=str
)
def test_a_pipeline_in_front_of_any_classifier(classifier, shared, routing):
    (X, _, sample_domain), (Xt, yt) = shared
    y = np.tile(yt, 2)
    pipeline = make_pipeline(StandardScaler(), L2TTransformer("gfk"), classifier)
    pipeline.fit(X, y, sample_domain=sample_domain)
    by_hand = L2TTransformer("gfk").fit(
        StandardScaler().fit_transform(X), y, sample_domain=sample_domain
    )
    np.testing.assert_array_equal(pipeline[1].W_, by_hand.W_)
    assert pipeline.score(Xt, yt) > 0.9
    predicted = pipeline.predict(Xt, sample_domain=np.full(len(Xt), -1))
    np.testing.assert_array_equal(predicted, pipeline.predict(Xt))


def test_without_routing_a_pipeline_takes_the_name_of_its_step(stacked):
    X, y, sample_domain = stacked
    pipeline = make_pipeline(StandardScaler(), L2TClassifier())
    pipeline.fit(X, y, l2tclassifier__sample_domain=sample_domain)
    assert pipeline.classes_.tolist() == [3, 4, 5]


def test_a_request_can_be_withdrawn(stacked, routing):
    X, y, sample_domain = stacked
    own = L2TTransformer("gfk").set_fit_request(sample_domain=False)
    own.set_transform_request(sample_domain=False)
    pipeline = make_pipeline(own, L2TClassifier("nearest neighbour"))
    pipeline.fit(X, y, sample_domain=sample_domain)
    np.testing.assert_array_equal(pipeline[0].W_, L2TTransformer("gfk").fit(X, y).W_)


def test_a_search_over_classifiers(stacked, pair, routing):
    X, y, sample_domain = stacked
    grid = {"l2tclassifier__classifier": ["auto", "nearest neighbour", GaussianNB()]}
    pipeline = make_pipeline(StandardScaler(), L2TClassifier())
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise")
    search.fit(X, y, sample_domain=sample_domain)
    assert len(search.cv_results_["params"]) == 3
    # Rows of the source and rows without a label would count as errors.
    assert search.best_score_ > 0.9
    assert search.score(pair.target.X, pair.target.y) > 0.9


def test_a_search_over_the_transformer_alone(shared, routing):
    (X, _, sample_domain), (_, yt) = shared
    pipeline = make_pipeline(L2TTransformer(), KNeighborsClassifier(1))
    grid = {"l2ttransformer__method": ["l2t", "gfk"], "l2ttransformer__n_components": [2, 5]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise")
    assert search.fit(X, np.tile(yt, 2), sample_domain=sample_domain).best_score_ > 0.9


# The classifier.


def test_the_classifier_trains_on_labelled_target_rows(stacked, pair):
    X, y, sample_domain = stacked
    own = L2TClassifier(KNeighborsClassifier(1), random_state=0)
    own.fit(X, y, sample_domain=sample_domain)
    assert own.classes_.tolist() == [3, 4, 5]
    features = L2TTransformer().fit(X, y, sample_domain=sample_domain)
    assert own.choice_ == features.choice_
    few = KNeighborsClassifier(1).fit(features.transform(pair.target.X[:15]), pair.target.y[:15])
    expected = few.predict(features.transform(pair.target.X))
    np.testing.assert_array_equal(own.predict(pair.target.X), expected)
    assert own.score(pair.target.X, pair.target.y) == np.mean(expected == pair.target.y)


def test_the_classifier_gives_what_predict_gives(stacked, pair):
    X, y, sample_domain = stacked
    own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    target = Domain(pair.target.X, pair.target.y, labeled=np.arange(45) < 15)
    found = l2t.predict(pair.source, target)
    assert (own.choice_, own.classifier_) == (found.choice, found.classifier)
    assert own.report_.rows == found.report.rows
    np.testing.assert_array_equal(own.predict(pair.target.X), found.labels)
    np.testing.assert_allclose(own.predict_proba(pair.target.X), found.probabilities, atol=1e-12)
    np.testing.assert_allclose(
        np.exp(own.predict_log_proba(pair.target.X)), found.probabilities, atol=1e-12
    )


@pytest.mark.parametrize("memory", [False, True])
def test_unlabelled_rows_before_a_classifier_are_told(stacked, routing, memory, tmp_path):
    X, y, sample_domain = stacked
    memory = str(tmp_path) if memory else None
    plain = make_pipeline(L2TTransformer("gfk"), KNeighborsClassifier(1), memory=memory)
    sentence = "30 of 45 target rows are unlabelled"
    with pytest.warns(L2TWarning, match=f"^{re.escape(sentence)}"):
        plain.fit(X, y, sample_domain=sample_domain)
    transformer = L2TTransformer("gfk")
    Z = transformer.fit(X, y, sample_domain=sample_domain).transform(X)
    with pytest.warns(L2TWarning, match="30 of 45"):
        again = transformer.fit_transform(X, y, sample_domain=sample_domain)
    np.testing.assert_array_equal(again, Z)


def test_what_a_classifier_cannot_learn_as_a_class_is_not_told(stacked, routing):
    """scikit-learn refuses NaN, and a target without any label is what skada passes."""
    X, y, sample_domain = stacked
    missing = np.where(y == -1, np.nan, y)
    transformer = L2TTransformer("gfk")
    transformer.fit_transform(X, missing, sample_domain=sample_domain)
    transformer.fit_transform(X, np.where(sample_domain < 0, -1, y), sample_domain=sample_domain)
    with pytest.raises(ValueError, match="NaN"):
        make_pipeline(transformer, GaussianNB()).fit(X, missing, sample_domain=sample_domain)


def test_minus_one_marks_unlabelled_rows_among_texts(pair):
    X = np.concatenate([pair.source.X, pair.target.X])
    names = np.array(list("abcdef"))
    yt = np.where(np.arange(45) < 15, names[pair.target.y], "-1")
    y = np.concatenate([names[pair.source.y], yt])
    sample_domain = np.repeat([1, -1], [60, 45])
    own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    assert own.classes_.tolist() == ["d", "e", "f"]
    assert own.classes_.dtype.kind == "U"
    assert own.score(X, y, sample_domain=sample_domain) == 1.0


@pytest.mark.parametrize("name", ["?", "", "NA", "N/A", "nan", "null", "None", "control"])
def test_any_other_text_is_a_class(name, pair):
    """In an array nothing stands for a missing cell but None, NaN and -1."""
    names = np.array(["a", "b", "c", name, "e", "f"])
    yt = names[pair.target.y].astype(object)
    yt[15:] = None
    X, y, sample_domain = stack_domains((pair.source.X, names[pair.source.y]), (pair.target.X, yt))
    own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    assert own.classes_.tolist() == sorted([name, "e", "f"])
    assert own.score(X, y, sample_domain=sample_domain) == 1.0


def test_frames_must_have_the_names_and_the_order_of_fit(stacked):
    X, y, sample_domain = stacked
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    for own in (L2TClassifier(), L2TTransformer("gfk")):
        own.fit(frame, y, sample_domain=sample_domain)
        ask = getattr(own, "predict", None) or own.transform
        assert len(ask(frame)) == len(X)
        with pytest.raises(ValueError, match="same order"):
            ask(frame[frame.columns[::-1]])
        with pytest.raises(ValueError, match="feature names"):
            ask(frame.rename(columns={"a": "z"}))


def test_training_on_source_rows_needs_no_target_label(shared):
    (X, y, sample_domain), (Xt, yt) = shared
    assert set(y[sample_domain < 0]) == {-1}
    for declared in ({"train_on": "source"}, {"shared": True}):
        own = L2TClassifier(KNeighborsClassifier(1), **declared)
        own.fit(X, y, sample_domain=sample_domain)
        assert own.score(Xt, yt) > 0.9
        assert own.estimator_.n_samples_fit_ == (sample_domain > 0).sum()
        own = L2TClassifier(**declared).fit(X, y, sample_domain=sample_domain)
        assert own.score(Xt, yt) > 0.9


MASKED = "no target row is labelled, so the classes of the source (0, 1, 2) are predicted"


@pytest.mark.parametrize("gone", [-1, None])
def test_classes_of_the_source_are_predicted_with_a_warning(gone, shared):
    """Whether the target has other classes cannot be known without a label."""
    (X, y, sample_domain), (Xt, yt) = shared
    y = np.where(sample_domain < 0, gone, y)
    with pytest.warns(L2TWarning, match=f"^{re.escape(MASKED)}") as told:
        own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    assert [warning.filename for warning in told] == [__file__]
    assert own.classes_.tolist() == [0, 1, 2]
    assert own.score(Xt, yt) > 0.9


def test_training_on_both(shared):
    (X, y, sample_domain), (_, yt) = shared
    y[-10:] = yt[-10:]
    for train_on in ("both", "auto"):
        own = L2TClassifier(KNeighborsClassifier(1), train_on=train_on)
        assert own.fit(X, y, sample_domain=sample_domain).estimator_.n_samples_fit_ == 60 + 10
    own = L2TClassifier(train_on="both")
    y[-1] = 9  # a class that the target alone has can be learned from its own rows
    own.fit(X, y, sample_domain=sample_domain)
    assert own.classes_.tolist() == [0, 1, 2, 9]


@pytest.mark.parametrize(
    ("labels", "gone", "classes"),
    [
        (np.array([3, 4, 5]), -1, [3, 4, 5]),
        (np.array([3.0, 4.0, 5.0]), np.nan, [3.0, 4.0, 5.0]),
        (np.array([3.0, 4.0, 5.0]), -1.0, [3.0, 4.0, 5.0]),
        (np.array(["d", "e", "f"], dtype=object), None, ["d", "e", "f"]),
        (np.array(["d", "e", "f"], dtype=object), np.nan, ["d", "e", "f"]),
        (np.array([3, 4, 5], dtype=object), None, [3, 4, 5]),
        (np.array([3, 4, 5], dtype=object), -1, [3, 4, 5]),
    ],
    ids=[
        "-1",
        "nan",
        "-1.0",
        "texts and None",
        "texts and nan",
        "objects and None",
        "objects and -1",
    ],
)
@pytest.mark.parametrize("container", [np.array, pd.Series, list])
def test_marks_of_unlabelled_rows(labels, gone, classes, container, pair):
    few = np.arange(45) < 15
    yt = labels[pair.target.y - 3]
    yt[~few] = gone
    names = np.array(["a", "b", "c"] if isinstance(classes[0], str) else [0, 1, 2])
    X = np.concatenate([pair.source.X, pair.target.X])
    values = [*names[pair.source.y].tolist(), *yt.tolist()]
    y = list(values) if container is list else container(values, dtype=labels.dtype)
    sample_domain = np.repeat([1, -1], [60, 45])
    own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    assert own.classes_.tolist() == classes
    assert own.score(X, y, sample_domain=sample_domain) == 1.0
    found = l2t.predict(pair.source, Domain(pair.target.X, pair.target.y, labeled=few))
    np.testing.assert_allclose(own.predict_proba(pair.target.X), found.probabilities, atol=1e-12)
    stacked = stack_domains((pair.source.X, y[:60]), (pair.target.X, y[60:]))
    again = L2TClassifier()
    again.fit(stacked[0], stacked[1], sample_domain=stacked[2])
    np.testing.assert_array_equal(own.predict(X), again.predict(X))


def test_minus_one_is_a_class_of_the_source(pair):
    X, y, sample_domain = stack_domains(
        (pair.source.X, pair.source.y - 1), (pair.target.X, np.full(45, -1))
    )
    own = L2TClassifier(train_on="source").fit(X, y, sample_domain=sample_domain)
    assert own.classes_.tolist() == [-1, 0, 1]


def test_score_counts_labelled_target_rows(stacked):
    X, y, sample_domain = stacked
    own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    assert own.score(X, y, sample_domain=sample_domain) == 1.0
    assert own.score(X, y) == pytest.approx(15 / 105)
    assert own.score(X, y, sample_domain=sample_domain, allow_source=True) == pytest.approx(15 / 75)
    weights = np.where(np.arange(105) < 60, 0.0, 1.0)
    assert own.score(X, y, weights, sample_domain=sample_domain, allow_source=True) == 1.0


def test_what_the_classifier_behind_offers(stacked):
    X, y, sample_domain = stacked
    for estimator, there, missing in (
        ("auto", "predict_proba", "decision_function"),
        (LinearSVC(), "decision_function", "predict_proba"),
        (GaussianNB(), "predict_log_proba", "decision_function"),
    ):
        own = L2TClassifier(estimator)
        assert hasattr(own, there)
        own.fit(X, y, sample_domain=sample_domain)
        assert getattr(own, there)(X[:4]).shape == (4, 3)
        assert not hasattr(own, missing)


@pytest.mark.parametrize("classifier", ["auto", "logistic", GaussianNB(), LinearSVC()], ids=str)
def test_a_fitted_classifier_is_shown_in_a_notebook(classifier, stacked, routing, proves):
    X, y, sample_domain = stacked
    pipeline = make_pipeline(StandardScaler(), L2TClassifier(classifier))
    pipeline.fit(X, y, sample_domain=sample_domain)
    own = pipeline[-1]
    assert hasattr(own, "estimator_") == (not isinstance(classifier, str))
    for name in dir(own):
        getattr(own, name, None)  # anything but an AttributeError would be raised
    for fitted in (own, pipeline):
        assert "L2TClassifier" in fitted._repr_html_()
        assert "L2TClassifier" in repr(fitted)
    proves("A fitted classifier can be shown and inspected in a notebook", 2, "estimators")


def test_parameters_that_are_set_after_fit_wait_for_the_next(stacked):
    X, y, sample_domain = stacked
    own = L2TClassifier().fit(X, y, sample_domain=sample_domain)
    before = own.predict(X)
    own.set_params(classifier=GaussianNB())
    assert not hasattr(own, "estimator_")
    np.testing.assert_array_equal(own.predict(X), before)


IMPOSSIBLE = {
    "no target label": (
        "target",
        lambda y: np.where(y > 2, -1, y),
        "the target must have labelled rows, got none of 45",
    ),
    "no target label for both": (
        "both",
        lambda y: np.where(y > 2, -1, y),
        "the target must have labelled rows, got none of 45",
    ),
    "other classes": (
        "both",
        lambda y: y,
        "train_on='both' needs classes that both domains share, got the target's 3",
    ),
    "a class that no source row has": (
        "source",
        lambda y: np.where(y > 3, y - 3, y),
        "train_on='source' needs classes that both domains share, got the target's 3",
    ),
    "no source label": (
        "source",
        lambda y: np.where(np.arange(len(y)) < 60, np.nan, y),
        "train_on='source' needs labelled source rows, got none",
    ),
    "an unknown word": (
        "all",
        lambda y: y,
        "train_on must be one of auto, target, source, both, got 'all'",
    ),
}


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_the_impossible_is_told(case, stacked):
    train_on, change, sentence = IMPOSSIBLE[case]
    X, y, sample_domain = stacked
    with refuses(sentence):
        L2TClassifier(train_on=train_on).fit(X, change(y), sample_domain=sample_domain)


def test_every_row_must_be_labelled_where_x_stands_for_both(pair, proves):
    X, y = pair.target.X, pair.target.y
    cases = (
        (y.astype(float), np.nan),
        (y.astype(str).astype(object), None),
        (y.copy(), -1),
        (y.astype(float), -1.0),
        (y.astype(str), "-1"),
    )
    for labels, gone in cases:
        labels[7] = gone
        with refuses(
            f"y must be known for every row where sample_domain is not given, got {gone} at row 7"
        ):
            L2TClassifier().fit(X, labels)
    # As evidence for the choice, such rows are left out.
    labels = np.where(np.arange(45) < 15, y, -1)
    own = L2TTransformer().fit(X, labels)
    missing = L2TTransformer().fit(X, np.where(labels < 0, np.nan, y))
    assert own.inference_.candidates.records() == missing.inference_.candidates.records()
    proves("The mark of an unlabelled row never becomes a class", len(cases), "marks")


@pytest.mark.parametrize("kind", [int, float, str])
def test_minus_one_and_one_are_two_classes_where_x_stands_for_both(kind, pair):
    labels = np.array([-1, 1])[(pair.target.y == 3).astype(int)].astype(kind)
    own = L2TClassifier().fit(pair.target.X, labels)
    assert own.classes_.tolist() == [kind(-1), kind(1)]
    assert own.score(pair.target.X, labels) == 1.0
    with pytest.raises(InvalidInputError, match="got -1"):
        L2TClassifier().fit(pair.target.X, np.full(45, kind(-1)))


def test_scoring_without_labels_is_told(shared):
    (X, y, sample_domain), _ = shared
    own = L2TClassifier(train_on="source").fit(X, y, sample_domain=sample_domain)
    with refuses("score needs labelled target rows, got none"):
        own.score(X, y, sample_domain=sample_domain)


RULE = "sample_domain must be one number per row, above 0 for source and below 0 for target rows"


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        (np.zeros(105), f"{RULE}, got 0.0 at row 0"),
        (np.r_[np.ones(104), np.nan], f"{RULE}, got nan at row 104"),
        (np.full(105, "source"), f"{RULE}, got shape (105,) and dtype <U6"),
        (np.ones((105, 1)), f"{RULE}, got shape (105, 1) and dtype float64"),
        (
            np.ones(105),
            "sample_domain must mark rows of both domains, got 105 source and 0 target rows",
        ),
    ],
)
def test_marks_of_domains_that_cannot_be(marks, sentence, stacked):
    X, y, _ = stacked
    for estimator in (L2TTransformer(), L2TClassifier()):
        with refuses(sentence):
            estimator.fit(X, y, sample_domain=marks)


def test_lengths_must_agree(stacked):
    X, y, sample_domain = stacked
    for arguments in ((X, y[:-1], sample_domain), (X, y, sample_domain[:-1])):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            L2TTransformer().fit(*arguments[:2], sample_domain=arguments[2])


@pytest.mark.parametrize("method", ["gkf", 3, None])
def test_methods_that_do_not_exist(method, stacked):
    names = ", ".join(l2t.algorithms.names())
    with refuses(f"method must be l2t, paper, one of {names}, or an algorithm, got {method!r}"):
        L2TTransformer(method).fit(stacked[0])


# Stacking.


def test_a_pair_comes_back_from_its_stack(pair):
    few = np.arange(45) < 15
    target = Domain(pair.target.X, pair.target.y, labeled=few)
    X, y, sample_domain = stack_domains(pair.source, target)
    source = sample_domain > 0
    np.testing.assert_array_equal(X[source], pair.source.X)
    np.testing.assert_array_equal(X[~source], pair.target.X)
    np.testing.assert_array_equal(y[source], pair.source.y)
    np.testing.assert_array_equal(y[~source], np.where(few, pair.target.y, -1))
    assert sample_domain.tolist() == [1] * 60 + [-1] * 45


def test_labels_of_a_target_domain_without_a_mask_are_for_evaluation(pair):
    _, y, _ = stack_domains(pair.source, pair.target)
    assert set(y[60:]) == {-1}
    _, y, _ = stack_domains(pair.source, (pair.target.X, pair.target.y))
    np.testing.assert_array_equal(y[60:], pair.target.y)


ROWS = np.eye(2)


@pytest.mark.parametrize(
    ("source", "target", "y"),
    [
        (ROWS, ROWS, None),
        ((ROWS, [0, 1]), ROWS, [0, 1, -1, -1]),
        ((ROWS, [-1, 1]), (ROWS, [2, -1]), [-1, 1, 2, -1]),
        ((ROWS, ["a", "b"]), (ROWS, ["c", "d"]), ["a", "b", "c", "d"]),
        ((ROWS, ["a", "b"]), (ROWS, ["c", None]), ["a", "b", "c", None]),
        ((ROWS, ["a", "b"]), (ROWS, [7, -1]), ["a", "b", 7, None]),
        (ROWS, (ROWS, [0, -1]), [None, None, 0, None]),
        ((ROWS, [0, None]), (ROWS, [1, -1]), [0, None, 1, None]),
        ((ROWS, [True, False]), (ROWS, [True, None]), [True, False, True, None]),
    ],
)
def test_labels_of_a_stack(source, target, y):
    X, labels, sample_domain = stack_domains(source, target)
    assert X.shape == (4, 2)
    assert sample_domain.tolist() == [1, 1, -1, -1]
    assert (None if labels is None else labels.tolist()) == y


def test_numbers_that_are_not_whole_are_marked_by_nan():
    _, y, _ = stack_domains((ROWS, [0.5, 1.0]), (ROWS, [2, -1]))
    np.testing.assert_array_equal(y, [0.5, 1.0, 2.0, np.nan])


def test_stacks_keep_float32_and_check_features():
    X, _, _ = stack_domains(ROWS.astype(np.float32), ROWS.astype(np.float32))
    assert X.dtype == np.float32
    with refuses("source and target must have the same features, got 2 and 3 columns"):
        stack_domains(ROWS, np.eye(3))
    with refuses("source must be a Domain, (X, y) or X, got a tuple of length 3"):
        stack_domains((ROWS, [0, 1], [1, 1]), ROWS)
    with refuses("target must not have a class -1, which marks unlabelled rows; rename it"):
        stack_domains(ROWS, Domain(ROWS, [-1, 1], labeled=[True, True]))


# Beside others.


def test_published_figures_of_shared_classes(data_directory):
    """Office-Caltech10, caltech -> amazon: 1-NN on source rows after GFK is 41.02 % right."""
    domains = load_office_caltech(data_directory / "office-caltech-surf")
    source, target = domains["C"], domains["A"]
    X, y, sample_domain = stack_domains(source, target)
    own = L2TTransformer("gfk").fit(X, y, sample_domain=sample_domain)
    after = KNeighborsClassifier(1).fit(own.transform(source.X), source.y)
    assert round(100 * after.score(own.transform(target.X), target.y), 2) == 41.02
    plain = KNeighborsClassifier(1).fit(source.X, source.y)
    assert round(100 * plain.score(target.X, target.y), 2) == 23.70


@pytest.mark.parametrize(
    "name",
    [
        "SupervisedScorer",
        "ImportanceWeightedScorer",
        "PredictionEntropyScorer",
        "SoftNeighborhoodDensity",
        "DeepEmbeddedValidation",
        "CircularValidation",
        "MixValScorer",
        "MaNoScorer",
    ],
)
def test_scorers_of_skada(name, skada, routing, shared):
    from skada import metrics, model_selection

    (X, y, sample_domain), (_, yt) = shared
    scorer = getattr(metrics, name)()
    params = {"sample_domain": sample_domain}
    if name == "SupervisedScorer":
        params["target_labels"] = np.tile(yt, 2)
    splitter = model_selection.SourceTargetShuffleSplit(2, test_size=0.3, random_state=0)
    classifier = LogisticRegression(max_iter=1000).set_score_request(sample_weight=True)
    own = L2TClassifier(classifier, train_on="source")
    own.set_score_request(sample_weight=True)
    models = {
        "alone": own,
        "pipeline": make_pipeline(StandardScaler(), own),
        "skada": skada.make_da_pipeline(StandardScaler(), L2TTransformer("gfk"), classifier),
    }
    if name in ("DeepEmbeddedValidation", "MaNoScorer"):
        del models["alone"]  # they take whatever is no Pipeline for a network of torch
    for model in models.values():
        result = cross_validate(
            model, X, y.copy(), cv=splitter, params=params, scoring=scorer, error_score="raise"
        )
        assert np.isfinite(result["test_score"]).all()
        if name in ("SupervisedScorer", "CircularValidation"):
            assert (result["test_score"] > 0.8).all()


@pytest.mark.parametrize(
    "name", ["SourceTargetShuffleSplit", "DomainShuffleSplit", "StratifiedDomainShuffleSplit"]
)
def test_splitters_of_skada(name, skada, routing, pair):
    from skada import model_selection

    X, y, sample_domain = stack_domains(pair.source, (pair.target.X, pair.target.y))
    splitter = getattr(model_selection, name)(3, test_size=0.3, random_state=0)
    result = cross_validate(
        L2TClassifier(), X, y, cv=splitter, params={"sample_domain": sample_domain}
    )
    assert (result["test_score"] > 0.8).all()


def test_our_classifier_in_a_pipeline_of_skada(skada, routing, stacked, pair):
    X, y, sample_domain = stacked
    pipeline = skada.make_da_pipeline(StandardScaler(), L2TClassifier(), mask_target_labels=False)
    pipeline.fit(X, y, sample_domain=sample_domain)
    predicted = pipeline.predict(pair.target.X, sample_domain=np.full(45, -1))
    assert np.mean(predicted == pair.target.y) > 0.9


def test_target_labels_that_skada_hides_are_told(skada, routing, stacked, pair, proves):
    """By default skada writes -1 over all target labels, in the array that it is given."""
    X, y, sample_domain = stacked
    pipeline = skada.make_da_pipeline(StandardScaler(), L2TClassifier())
    with pytest.warns(L2TWarning, match=f"^{re.escape(MASKED)}"):
        pipeline.fit(X, y, sample_domain=sample_domain)
    assert set(y[sample_domain < 0]) == {-1}
    predicted = pipeline.predict(pair.target.X, sample_domain=np.full(45, -1))
    assert not np.isin(predicted, pair.target.y).any()
    proves("Target labels that skada hides are noticed", 1, "pipeline")


def test_our_transformer_in_a_pipeline_of_skada(skada, routing, shared):
    (X, y, sample_domain), (Xt, yt) = shared
    pipeline = skada.make_da_pipeline(L2TTransformer("gfk"), KNeighborsClassifier(1))
    pipeline.fit(X, y, sample_domain=sample_domain)
    predicted = pipeline.predict(Xt, sample_domain=np.full(len(Xt), -1))
    assert np.mean(predicted == yt) > 0.9


def test_unlabelled_texts_need_a_splitter_that_does_not_sort(pair, routing):
    names = np.array(list("abcdef"), dtype=object)
    yt = names[pair.target.y]
    yt[15:] = None
    X, y, sample_domain = stack_domains((pair.source.X, names[pair.source.y]), (pair.target.X, yt))
    result = cross_validate(
        L2TClassifier(),
        X,
        y,
        cv=KFold(3, shuffle=True, random_state=0),
        params={"sample_domain": sample_domain},
        error_score="raise",
    )
    assert (result["test_score"] > 0.8).all()


def test_numbers_and_texts_of_numbers_are_the_same_labels(rng):
    """A y of dtype object, as pandas makes it of a source with numbers and a target with texts."""
    X = rng.normal(size=(80, 3)) + np.repeat([[0.0], [4.0]], 40, axis=0)
    codes = np.repeat([1, 2], 40)
    source = np.arange(80) % 2 == 0
    y = np.array([int(c) if s else str(c) for c, s in zip(codes, source, strict=True)], object)
    classifier = L2TClassifier().fit(X, y, sample_domain=np.where(source, 1, -1))
    assert classifier.classes_.tolist() == ["1", "2"]
    assert np.mean(classifier.predict(X) == codes.astype(str)) > 0.9
    other = np.array([c if s else f"class {c}" for c, s in zip(codes, source, strict=True)], object)
    classifier = L2TClassifier().fit(X, other, sample_domain=np.where(source, 1, -1))
    assert classifier.classes_.tolist() == ["class 1", "class 2"]
