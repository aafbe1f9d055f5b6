"""Whatever gives a W, or transformed rows, is an algorithm among others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from l2t import algorithms
from l2t.agent import adopt
from l2t.exceptions import InvalidInputError


def both(pair):
    return np.concatenate([pair.source.X, pair.target.X])


def test_names_and_algorithms_stay_what_they_are(pair):
    assert adopt("gfk", random_state=3) == algorithms.make("gfk", random_state=3)
    gfk = algorithms.make("gfk")
    assert adopt(gfk) is gfk


def test_a_matrix_is_its_own_algorithm(pair, rng):
    W = rng.normal(size=(10, 3))
    factors = adopt(W, "mine").fit(pair)
    np.testing.assert_array_equal(factors.W, W)
    assert (factors.algorithm, factors.kind) == ("mine", "linear")
    tca = algorithms.make("tca", n_components=3).fit(pair)
    assert adopt(tca).name == "tca"
    np.testing.assert_array_equal(adopt(tca).fit(pair).W, tca.W)


@pytest.mark.parametrize("given", [None, 3, np.zeros(4), [[np.nan]], [["a"]], np.zeros((0, 2))])
def test_what_gives_no_matrix_is_refused(given):
    with pytest.raises(InvalidInputError, match="algorithm must be a name, an algorithm, a finite"):
        adopt(given)


def test_a_linear_transformer_is_found_exactly(pair):
    """The rows of X W differ as those of the transformer do, for rows that it was not fitted to as well."""
    transformer = make_pipeline(StandardScaler(), PCA(4))
    factors = adopt(transformer).fit(pair)
    assert factors.diagnostics.residual < 1e-10
    expected = transformer.fit(both(pair)).transform(pair.source.X)
    found = factors.transform(pair.source)
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-9)


def test_a_fitted_transformer_is_taken_as_it_is(pair):
    fitted = PCA(3).fit(pair.source.X)
    found = adopt(fitted).fit(pair).transform(pair.target)
    expected = fitted.transform(pair.target.X)
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-9)


def test_transformed_rows_give_the_closest_linear_map(pair, rng):
    Zt = np.sin(pair.target.X[:, :4])
    factors = adopt(lambda pair: Zt, "sine").fit(pair)
    Xt = pair.target.X - pair.target.X.mean(axis=0)
    closest = np.linalg.lstsq(Xt, Zt - Zt.mean(axis=0), rcond=None)[0]
    np.testing.assert_allclose(factors.W, closest, atol=1e-10)
    assert (factors.algorithm, factors.kind) == ("sine", "fitted")
    assert 0 < factors.diagnostics.residual < 1


class WithDomains(TransformerMixin, BaseEstimator):
    """In skada's conventions: subtracts the mean of the domain that a row is from."""

    def fit(self, X, y=None, *, sample_domain=None):
        assert y is None
        self.means_ = {sign: X[sample_domain == sign].mean(axis=0) for sign in (1, -1)}
        return self

    def transform(self, X, y=None, *, sample_domain=None, allow_source=False):
        return 2.0 * (X - np.array([self.means_[int(sign)] for sign in sample_domain]))


class Transport:
    """In POT's conventions: moves the source to the target, and back."""

    def get_params(self, deep=True):
        return {}

    def fit(self, Xs=None, ys=None, Xt=None, yt=None):
        self.scale_ = Xt.std() / Xs.std()

    def transform(self, Xs=None, ys=None, Xt=None, yt=None):
        return Xs * self.scale_

    def inverse_transform(self, Xs=None, ys=None, Xt=None, yt=None):
        return Xt / self.scale_


@pytest.mark.parametrize("transformer", [WithDomains(), Transport()])
def test_other_conventions(pair, transformer):
    W = adopt(transformer).fit(pair).W
    np.testing.assert_allclose(W, W[0, 0] * np.eye(10), atol=1e-9)
    assert not hasattr(transformer, "scale_"), "a copy is fitted"


def test_real_peers(pair, skada):
    """The real skada and POT, where they are installed."""
    ot = pytest.importorskip("ot")
    for given in (skada.SubspaceAlignmentAdapter(n_components=3), ot.da.LinearTransport()):
        factors = adopt(given).fit(pair)
        assert len(factors.W) == 10
        assert factors.diagnostics.residual < 1e-6


def test_a_transformer_that_loses_rows_is_refused(pair):
    with pytest.raises(InvalidInputError, match="must return a finite row for each of 45"):
        adopt(lambda pair: pair.target.X[:3], "half").fit(pair)


@pytest.mark.slow
def test_adopted_results_are_compared_on_the_same_footing(agent, store, pairs):
    gfk = agent.observe(pairs[0], algorithms.make("gfk").fit(pairs[0]), n_labels=3, name="theirs")
    ours = agent.observe(pairs[0], "gfk", n_labels=3)
    assert gfk.scores == ours.scores
    first = agent.observe(pairs[0], lambda pair: pair.target.X[:, :9], n_labels=3, name="f")
    second = agent.observe(pairs[0], lambda pair: pair.target.X[:, 9:30], n_labels=3, name="f")
    assert first.key != second.key, "functions of one name are distinguished by what they do"
    named = {each.algorithm for each in store.experiences()}
    assert named == {"theirs", "gfk", "f"}
