"""What `infer` promises: no target label reaches W, nothing gets worse, and nothing becomes NaN."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from l2t import Domain, DomainPair, algorithms, infer, pair_statistics
from l2t.algorithms import GFK
from l2t.exceptions import FileFormatError, InvalidInputError, L2TError, UnknownAlgorithmError
from l2t.reflection import ReflectionFunction, load_reflection
from l2t.reflection.plan import Plan, Rule

CONSTRAINTS = ("soft", "grassmann", "sphere")
ALWAYS, NEVER = Rule(-1.0, -1.0, 0.0), Rule(2.0, 2.0, np.inf)


def with_labels(pair, y, mask=None):
    return DomainPair(pair.source, Domain(pair.target.X, y, labeled=mask))


def metric(W):
    """W W', which distances depend on, of one size."""
    return W @ W.T / np.vdot(W, W)


# What W may not know.


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_no_target_label_reaches_W(pair, reflection, constraint, rng):
    n = len(pair.target)
    mask, y = np.arange(n) < 15, pair.target.y
    variants = {
        "no labels": with_labels(pair, None),
        "for scoring": with_labels(pair, y),
        "labelled": with_labels(pair, y, mask),
        "other labels": with_labels(pair, rng.permutation(y), mask),
        "words": with_labels(pair, np.array(["ant", "bee", "cat"])[rng.integers(3, size=n)], mask),
        "other rows": with_labels(pair, y, mask[::-1]),
    }
    starts = "all" if constraint == "soft" else ("tca", "itl", "gfk")
    found = {
        name: infer(each, reflection, n_labels=15, constraint=constraint, starts=starts)
        for name, each in variants.items()
    }
    for name, each in found.items():
        np.testing.assert_array_equal(each.W, found["no labels"].W, err_msg=name)
        assert each.predicted == found["no labels"].predicted, name
        assert each.candidates == found["no labels"].candidates, name
        assert each.history == found["no labels"].history, name


def test_y_without_a_mask_does_not_vote(pair, reflection):
    found = infer(pair, reflection)
    assert pair.target.y is not None
    assert found.vote is None
    assert found.n_labels is None


def test_labelled_rows_tell_their_number(labelled, reflection):
    plans = ((3, Plan(n_iter=1)), (15, Plan(n_iter=2)))
    found = infer(labelled, replace(reflection, plans=plans))
    assert found.n_labels == found.vote.n_labels == 15
    assert found.plan.n_iter == 2
    assert infer(labelled, reflection, n_labels=15).n_labels == 15


@pytest.mark.parametrize("n_labels", [14, 16, 0])
def test_another_number_is_an_error(labelled, reflection, n_labels):
    sentence = (
        f"n_labels must be the number of labelled target rows (15) or be left out, got {n_labels}"
    )
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        infer(labelled, reflection, n_labels=n_labels)


def test_labelled_rows_can_forbid_but_not_change_W(pair, reflection, rng):
    """Labels along the first direction that W leaves out: X has them in order, X W does not."""
    found = infer(pair, reflection, 2)
    left = np.linalg.svd(found.W)[0][:, -1]
    y = (pair.target.X @ left > np.median(pair.target.X @ left)).astype(int)
    mask = np.ones(len(y), dtype=bool)
    vetoed = infer(with_labels(pair, y, mask), reflection, 2)
    assert found.verdict == "transfer"
    assert vetoed.verdict == "no-transfer"
    np.testing.assert_array_equal(vetoed.W, found.W)


# What is given back.


def forms(X):
    return {
        "float64": X,
        "float32": X.astype(np.float32),
        "integers": X.astype(int),
        "a list": X.tolist(),
        "DataFrame": pd.DataFrame(X),
        "sparse array": sparse.csr_array(X),
        "sparse matrix": sparse.csr_matrix(X),
        "Domain": Domain(X),
        "one row": X[:1],
    }


@pytest.mark.parametrize("form", forms(np.ones((2, 2))))
def test_transform_follows_the_verdict(pair, reflection, form, rng):
    X = np.round(rng.normal(size=(7, 10)) * 4)
    given = forms(X)[form]
    plain = given.X if form == "Domain" else given
    plain = plain.toarray() if sparse.issparse(plain) else np.asarray(plain)
    yes, no = (infer(pair, replace(reflection, rule=rule)) for rule in (ALWAYS, NEVER))
    np.testing.assert_array_equal(yes.W, no.W)
    assert (yes.verdict, no.verdict) == ("transfer", "no-transfer")
    product = given @ yes.W if sparse.issparse(given) else plain @ yes.W
    moved, kept = yes.transform(given), no.transform(given)
    assert type(moved) is type(kept) is np.ndarray
    np.testing.assert_array_equal(moved, product)
    np.testing.assert_array_equal(kept, plain)
    assert kept.dtype == plain.dtype


def test_rows_with_other_features_are_refused(pair, reflection):
    sentence = (
        "X must be a table of numbers with the 10 features of the pair, "
        "got shape (3, 9) and dtype float64"
    )
    for rule in (ALWAYS, NEVER):
        found = infer(pair, replace(reflection, rule=rule))
        with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
            found.transform(np.ones((3, 9)))


def test_float32_stays_float32(digit_pairs, reflection):
    pair = digit_pairs[0]
    found = infer(pair, replace(reflection, rule=ALWAYS))
    assert pair.target.X.dtype == found.W.dtype == found.transform(pair.target).dtype == np.float32


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("n_labels", [None, 3, 40])
def test_predicted_is_what_the_function_says_of_W(
    pair, digit_pairs, reflection, calibrated, constraint, n_labels
):
    curved = replace(reflection, c=-0.5)
    for r in (curved, replace(curved, q_mode="diag", n_neighbors=3), calibrated):
        for each in (pair, digit_pairs[0]):
            found = infer(each, r, n_labels=n_labels, constraint=constraint, random_state=4)
            statistics = pair_statistics(
                each, found.W, kernels=r.kernels, n_neighbors=r.n_neighbors, random_state=4
            )
            assert found.predicted == pytest.approx(r.predict(statistics, n_labels), rel=2e-8)
            assert found.explanation.predicted == found.predicted
            assert r.ratio(found.history[-1], n_labels) == pytest.approx(found.predicted, rel=1e-8)
            if r.calibration is None:
                assert found.interval is None
            else:
                assert found.interval == pytest.approx(r.interval(statistics, n_labels), rel=1e-7)
                assert found.interval[0] < found.interval[1]


def test_it_cannot_be_changed(pair, reflection):
    found = infer(pair, reflection)
    with pytest.raises(ValueError, match="read-only"):
        found.W[0] = 0.0
    assert repr(found) == f"Inference(transfer, predicted {found.predicted:.3f}, W 10 x 10)"


# The search.


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_never_worse_than_any_start(pair, digit_pairs, reflection, calibrated, constraint):
    for each in (pair, *digit_pairs):
        for r in (reflection, calibrated):
            for n_iter in (0, 3):
                given = {"constraint": constraint, "n_iter": n_iter, "starts": ("tca", "gfk")}
                found = infer(each, r, 5, 15, **given)
                starts = {c.name: c.predicted for c in found.candidates}
                assert set(starts) >= {"pca", "tca", "gfk"}
                assert ("spectrum" in starts) == (constraint == "soft")
                assert starts[found.start] == max(starts.values())
                assert r.ratio(found.history[0], 15) == pytest.approx(starts[found.start], rel=1e-9)
                assert found.predicted >= starts[found.start] * (1 - 1e-9)
                assert (np.diff(found.history) <= 0).all()
                assert len(found.history) <= n_iter + 1
                assert found.plan == replace(Plan.of(constraint), n_components=5, n_iter=n_iter)


def test_a_soft_search_begins_at_the_spectrum_alone(pair, reflection):
    found = infer(pair, reflection, constraint="soft")
    assert [each.name for each in found.candidates] == ["spectrum"]
    literal = infer(pair, reflection, constraint="grassmann")
    assert [each.name for each in literal.candidates] == ["pca", "tca", "gfk"]


def test_steps_improve_the_best_start(pair, reflection):
    found = infer(pair, reflection, 3)
    assert found.stop_reason == "max_iter"
    assert len(found.history) == 11
    assert found.predicted > 1.01 * max(c.predicted for c in found.candidates)


@pytest.mark.parametrize("n_components", [1, 4, 10, 50])
def test_orthonormal_columns(pair, reflection, n_components):
    W = infer(pair, reflection, n_components, constraint="grassmann").W
    np.testing.assert_allclose(W.T @ W, np.eye(min(n_components, 10)), atol=1e-10)


def test_orthonormal_columns_with_more_features_than_rows(reflection, rng):
    wide = DomainPair(Domain(rng.normal(size=(12, 300))), Domain(rng.normal(size=(9, 300))))
    W = infer(wide, reflection, constraint="grassmann").W
    np.testing.assert_allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-10)


def test_a_soft_W_keeps_its_scales(pair, reflection):
    scales = {}
    for power in (0.5, 2.0):
        found = infer(pair, reflection, plan=Plan("soft", None, 0, power))
        assert found.start == "spectrum"
        s = np.linalg.svd(found.W, compute_uv=False)
        scales[power] = s[0] / s[-1]
    assert 1.5 < scales[0.5] < scales[2.0]


@pytest.mark.parametrize("u", [2, 3, 7])
def test_a_soft_W_is_compressed_to_its_leading_directions(pair, reflection, u):
    whole = infer(pair, reflection, plan=Plan("soft", None, 0), starts=())
    few = infer(pair, reflection, plan=Plan("soft", u, 0), starts=())
    assert whole.start == few.start == "spectrum"
    U, s, _ = np.linalg.svd(whole.W)
    assert few.W.shape == (10, u)
    np.testing.assert_allclose(metric(few.W), metric(U[:, :u] * s[:u]), atol=1e-12)


def test_a_soft_W_moved_has_no_more_columns_either(pair, reflection):
    assert infer(pair, reflection, 3, constraint="soft", n_iter=5).W.shape == (10, 3)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_same_seed_gives_the_same_bits(pair, reflection, constraint):
    first, again, other = (
        infer(pair, reflection, constraint=constraint, random_state=seed) for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first.W, again.W)
    assert (first.predicted, first.history) == (again.predicted, again.history)
    assert other.predicted != first.predicted, "other rows are paired in Q"


@pytest.mark.slow
def test_another_process_gives_the_same_bits():
    script = """if True:
        import numpy as np
        from threadpoolctl import threadpool_limits
        from l2t import Domain, DomainPair, infer
        from l2t.numerics import fingerprint
        from l2t.reflection import ReflectionFunction
        with threadpool_limits(1):
            rng = np.random.default_rng(0)
            X, Y = rng.normal(size=(50, 30)), rng.normal(size=(40, 30))
            f = ReflectionFunction(np.full(33, 0.02), lambda_=0.5, mu=0.5)
            found = infer(DomainPair(Domain(X), Domain(Y)), f, starts="all", max_rows=30)
            result = fingerprint(found.W)
    """
    here: dict[str, str] = {}
    exec(script, here)
    there = subprocess.run(
        [sys.executable, "-c", f"{script}\nprint(result)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == here["result"]


# Starts.


def test_all_algorithms_can_be_starts(pair, reflection):
    found = infer(pair, reflection, starts="all")
    assert [c.name for c in found.candidates] == ["pca", *algorithms.names()]
    few = infer(pair, reflection, starts=("gfk",))
    assert [c.name for c in few.candidates] == ["pca", "gfk"]
    assert infer(pair, reflection, starts="gfk").candidates == few.candidates
    assert [c.name for c in infer(pair, reflection, starts=()).candidates] == ["pca"]


def test_algorithms_of_ones_own(pair, reflection):
    found = infer(pair, reflection, starts=[GFK(2), "tca", GFK(5)])
    assert [c.name for c in found.candidates] == ["pca", "gfk", "tca", "gfk 2"]
    alone = infer(pair, reflection, starts=GFK(2))
    assert alone.candidates == found.candidates[:2]
    predicted = reflection.predict(pair_statistics(pair, np.linalg.qr(GFK(2).fit(pair).W)[0]), None)
    assert found.candidates[1].predicted == pytest.approx(predicted, rel=1e-9)


def test_a_W_of_ones_own_is_where_the_search_starts(pair, reflection):
    best = infer(pair, reflection, 3, n_iter=50).W
    for constraint in CONSTRAINTS:
        plan = Plan(constraint, 3, 0)
        found = infer(pair, reflection, plan=plan, starts={"mine": 7.0 * best})
        assert found.start == "mine"
        np.testing.assert_allclose(metric(found.W), metric(best), atol=1e-12)


def test_a_W_of_ones_own_replaces_no_other_start(pair, reflection):
    found = infer(pair, reflection, starts={"pca": np.eye(10, 1)})
    assert [c.name for c in found.candidates] == ["pca", "pca 2"]
    assert found.candidates[0] == infer(pair, reflection, starts=()).candidates[0]


def test_a_start_that_fails_is_told_with_its_reason(pair, reflection):
    unlabelled = DomainPair(Domain(pair.source.X), pair.target)
    found = infer(unlabelled, reflection, starts=("itl", "gfk"))
    failed = {c.name: c.reason for c in found.candidates if c.predicted is None}
    with pytest.raises(L2TError) as error:
        algorithms.make("itl").fit(unlabelled)
    assert failed == {"itl": str(error.value)}
    assert [c.name for c in found.candidates] == ["pca", "gfk", "itl"]
    assert all(c.reason == "" for c in found.candidates if c.predicted is not None)


def test_a_start_that_no_row_can_see(reflection, rng):
    """Zero, constant columns, or outside the span of fewer rows than features."""
    wide = DomainPair(Domain(rng.normal(size=(5, 40))), Domain(rng.normal(size=(6, 40))))
    W = rng.normal(size=(40, 2))
    outside = W - wide.span.lift(wide.span.lower(W))
    found = infer(wide, reflection, starts={"zero": 0 * W, "outside": outside, "inside": W})
    told = {c.name: (c.predicted is None, c.reason) for c in found.candidates}
    assert told["zero"] == told["outside"] == (True, "it sends all rows to one point")
    assert told["inside"] == (False, "")


@pytest.mark.parametrize(
    ("W", "sentence"),
    [
        (
            np.ones((9, 2)),
            "start 'mine' must be a finite W with one row a feature (10), got shape (9, 2)",
        ),
        (
            np.ones(10),
            "start 'mine' must be a finite W with one row a feature (10), got shape (10,)",
        ),
        (
            np.ones((10, 0)),
            "start 'mine' must be a finite W with one row a feature (10), got shape (10, 0)",
        ),
        (
            np.full((10, 1), np.nan),
            "start 'mine' must be a finite W with one row a feature (10), got shape (10, 1)",
        ),
        (
            "abc",
            "start 'mine' must be a table of numbers, got could not convert string to float: 'abc'",
        ),
    ],
)
def test_starts_that_cannot_be(pair, reflection, W, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        infer(pair, reflection, starts={"mine": W})


def test_a_name_that_no_algorithm_has(pair, reflection):
    sentence = f"name must be one of {', '.join(algorithms.names())}, got 'magic'"
    for starts in ("magic", ["gfk", "magic"]):
        with pytest.raises(UnknownAlgorithmError, match=f"^{re.escape(sentence)}$"):
            infer(pair, reflection, starts=starts)


@pytest.mark.parametrize(("starts", "got"), [(3, "int"), (["gfk", 3], "int")])
def test_starts_that_are_no_starts(pair, reflection, starts, got):
    sentence = f"starts must be names or algorithms, got {got}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        infer(pair, reflection, starts=starts)


# More rows than are needed.


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_some_of_many_rows_are_enough(reflection, constraint):
    rng = np.random.default_rng(5)
    ys, yt = np.arange(300) % 3, np.arange(240) % 3
    Xs = 2 * rng.normal(size=(3, 10))[ys] + rng.normal(size=(300, 10))
    Xt = 2 * rng.normal(size=(3, 10))[yt] + rng.normal(size=(240, 10)) + 0.5
    mask = np.arange(240) % 2 == 0
    pair = DomainPair(Domain(Xs, ys), Domain(Xt, yt, labeled=mask))
    whole = infer(pair, reflection, 4, constraint=constraint, starts=())
    part = infer(pair, reflection, 4, constraint=constraint, starts=(), max_rows=150)
    assert part.W.shape == (10, 4)
    assert part.transform(pair.target).shape[0] == 240
    assert part.vote.n_labels == 120, "all labelled rows vote"
    assert part.predicted == pytest.approx(whole.predicted, rel=0.05)
    assert part.predicted != whole.predicted
    told = reflection.predict(pair_statistics(pair, part.W))
    assert told == pytest.approx(whole.predicted, rel=0.05)
    again = infer(pair, reflection, 4, constraint=constraint, starts=(), max_rows=150)
    np.testing.assert_array_equal(again.W, part.W)
    all_of_them = infer(pair, reflection, 4, constraint=constraint, starts=(), max_rows=300)
    np.testing.assert_array_equal(all_of_them.W, whole.W)


@pytest.mark.parametrize("max_rows", [1, 0, 2.5, None])
def test_numbers_of_rows_that_cannot_be(pair, reflection, max_rows):
    sentence = f"max_rows must be a whole number of at least 2, got {max_rows!r}"
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        infer(pair, reflection, max_rows=max_rows)


# The function and its plan.


def test_a_function_written_by_hand(pair):
    found = infer(pair, ReflectionFunction(beta=np.full(33, 0.01), b=0.5))
    assert found.plan == Plan("grassmann", 20, 10)
    assert found.interval is None
    assert found.W.shape == (10, 10)


def test_a_function_by_name_by_path_or_by_default(pair, reflection, tmp_path):
    default = load_reflection("default")
    wanted = infer(pair, default, n_labels=15)
    for given in (None, "default"):
        found = infer(pair, given, n_labels=15)
        np.testing.assert_array_equal(found.W, wanted.W)
        assert (found.predicted, found.interval) == (wanted.predicted, wanted.interval)
    path = reflection.save(tmp_path / "r.json")
    for where in (path, str(path)):
        np.testing.assert_array_equal(infer(pair, where).W, infer(pair, reflection).W)
    sentence = f"{tmp_path / 'no.json'}: there is no such file"
    with pytest.raises(FileFormatError, match=f"^{re.escape(sentence)}$"):
        infer(pair, tmp_path / "no.json")


def test_the_plan_and_what_overrides_it(pair, reflection):
    planned = replace(reflection, plans=((3, Plan("soft", 4, 2, 1.5)), (60, Plan("sphere", 6, 1))))
    assert infer(pair, planned, n_labels=3).plan == Plan("soft", 4, 2, 1.5)
    assert infer(pair, planned, n_labels=100).plan == Plan("sphere", 6, 1)
    assert infer(pair, planned, 2, 3, n_iter=0).plan == Plan("soft", 2, 0, 1.5)
    assert infer(pair, planned, n_labels=3, constraint="soft").plan == Plan("soft", 4, 2, 1.5)
    assert infer(pair, planned, n_labels=3, constraint="grassmann").plan == Plan()
    assert infer(pair, planned, n_labels=100, constraint="soft").plan == Plan("soft", None, 1)
    given = Plan("grassmann", 3, 1)
    assert infer(pair, planned, n_labels=3, plan=given).plan == given
    assert infer(pair, planned, 5, plan=given).plan == Plan("grassmann", 5, 1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"constraint": "free"}, "constraint must be one of soft, grassmann, sphere, got 'free'"),
        ({"n_components": 0}, "n_components must be a whole number of at least 1, got 0"),
        ({"n_iter": -1}, "n_iter must be a whole number of at least 0, got -1"),
        ({"n_labels": 0}, "n_labels must be a whole number of at least 1, got 0"),
        ({"plan": "soft"}, "plan must be a Plan, got str"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"random_state": 0.5}, "random_state must be a whole number of at least 0, got 0.5"),
        ({"reflection": 3}, "reflection must be a ReflectionFunction, a name or a path, got int"),
        ({"pair": "photos"}, "pair must be a DomainPair, got str"),
    ],
)
def test_arguments_that_cannot_be(pair, reflection, arguments, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        infer(**({"pair": pair, "reflection": reflection} | arguments))


# Pairs that are hardly pairs.


def changed(X, rows, value):
    X = X.copy()
    X[rows] = value
    return X


ODD = {
    "identical": lambda S, T: (T, T),
    "target of 6 rows": lambda S, T: (S, T[:6]),
    "target of 3 rows": lambda S, T: (S, T[:3]),
    "target of 2 rows": lambda S, T: (S, T[:2]),
    "source of 1 row": lambda S, T: (S[:1], T),
    "source of 1 row, target of 2": lambda S, T: (S[:1], T[:2]),
    "zero rows": lambda S, T: (changed(S, [0, 5], 0.0), changed(T, [0, 5], 0.0)),
    "source all zero": lambda S, T: (0 * S, T),
    "target all zero": lambda S, T: (S, 0 * T),
    "constant columns": lambda S, T: (np.c_[S, 0 * S[:, :2] + 5], np.c_[T, 0 * T[:, :2] + 5]),
    "columns constant in a domain": lambda S, T: (np.c_[S, 0 * S[:, :1]], np.c_[T, T[:, :1] ** 0]),
    "duplicate columns": lambda S, T: (np.c_[S, S], np.c_[T, T]),
    "one feature": lambda S, T: (S[:, :1], T[:, :1]),
    "duplicates": lambda S, T: (S, np.repeat(T[:9], 5, axis=0)),
    "two points": lambda S, T: (S, np.repeat(T[:2], 8, axis=0)),
    "outlier in the target": lambda S, T: (S, changed(T, 0, 1e6)),
    "outlier in the source": lambda S, T: (changed(S, 0, 1e6), T),
    "outlier very far away": lambda S, T: (S, changed(T, 0, 1e9)),
    "far from zero": lambda S, T: (S + 1e5, T + 1e5),
    "more features than rows": lambda S, T: (
        S[:4] @ np.ones((10, 30)) ** 2,
        T[:5] @ np.eye(10, 30),
    ),
}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("name", ODD)
def test_odd_pairs_have_a_finite_answer(pair, reflection, calibrated, name, constraint):
    Xs, Xt = ODD[name](pair.source.X, pair.target.X)
    for r in (reflection, calibrated):
        odd = DomainPair(Domain(Xs), Domain(Xt))
        found = infer(odd, r, n_labels=3, constraint=constraint)
        assert np.isfinite(found.W).all()
        assert found.W.any()
        assert found.W.shape[1] <= odd.span.rank
        assert np.isfinite(found.history).all()
        assert (np.diff(found.history) <= 0).all()
        assert 0 < found.predicted <= 10
        assert found.interval is None or np.isfinite(found.interval).all()
        assert found.verdict == ("transfer" if found.predicted >= 1 else "no-transfer")
        assert found.predicted == pytest.approx(
            r.predict(pair_statistics(odd, found.W), 3), rel=1e-8
        )
        assert np.isfinite(found.transform(odd.target)).all()


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_labels_of_an_odd_pair_still_vote(pair, reflection, constraint):
    Xs, Xt = pair.source.X, pair.target.X[:6]
    few = DomainPair(Domain(Xs), Domain(Xt, np.arange(6) % 2, labeled=np.ones(6, dtype=bool)))
    found = infer(few, reflection, constraint=constraint)
    assert found.n_labels == found.vote.n_labels == 6
    assert 0 <= found.vote.without <= 1
    assert 0 <= found.vote.with_W <= 1


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_more_components_than_the_rank(pair, reflection, constraint):
    found = infer(pair, reflection, 500, constraint=constraint)
    same = infer(pair, reflection, 10, constraint=constraint)
    np.testing.assert_array_equal(found.W, same.W)
    assert found.W.shape == (10, 10)


def test_the_same_features_twice_are_the_same_pair(pair, reflection):
    for constraint in CONSTRAINTS:
        twice = DomainPair(*(Domain(np.c_[d.X, d.X]) for d in (pair.source, pair.target)))
        once, same = (infer(p, reflection, constraint=constraint) for p in (pair, twice))
        assert same.predicted == pytest.approx(once.predicted, rel=1e-9)


def test_a_function_without_weights(pair):
    for mu in (0.0, 1.0):
        found = infer(pair, ReflectionFunction(np.zeros(33), mu=mu, b=0.8))
        assert found.predicted == 1.25
        assert found.history == (0.8,)
        assert found.stop_reason == "gradient"
        assert found.start == "pca", "the first of equals"


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (
            np.ones((5, 3)),
            np.ones((4, 3)),
            "pair must not have all rows of both domains at one point",
        ),
        (np.eye(3), np.ones((1, 3)), "target must have at least 2 rows, got 1"),
    ],
)
def test_pairs_without_an_answer(reflection, source, target, sentence):
    with pytest.raises(InvalidInputError, match=f"^{re.escape(sentence)}$"):
        infer(DomainPair(Domain(source), Domain(target)), reflection)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_the_scale_of_the_features_does_not_matter(
    labelled, reflection, calibrated, scale, constraint
):
    target = labelled.target
    scaled = DomainPair(
        Domain(scale * labelled.source.X, labelled.source.y),
        Domain(scale * target.X, target.y, labeled=target.labeled),
    )
    for r in (reflection, calibrated):
        one, other = (infer(p, r, constraint=constraint) for p in (labelled, scaled))
        assert other.predicted == pytest.approx(one.predicted, rel=1e-6)
        assert other.verdict == one.verdict
        assert other.vote.with_W == pytest.approx(one.vote.with_W, abs=1e-9)
        np.testing.assert_allclose(metric(other.W), metric(one.W), atol=1e-6)


# Watching it.


def test_a_callback_sees_every_start_and_every_step(pair, reflection):
    seen = []
    found = infer(pair, reflection, n_components=3, n_iter=5, callback=seen.append)
    starts = [step for step in seen if step.iteration is None]
    assert [step.name for step in starts] == [each.name for each in found.candidates]
    search = [step for step in seen if step.iteration is not None]
    assert [step.iteration for step in search] == list(range(len(found.history)))
    assert [step.value for step in search] == list(found.history)
    assert {step.name for step in search} == {found.start}
    assert min(step.value for step in starts) == pytest.approx(search[0].value)
    np.testing.assert_array_equal(search[-1].W, found.W)
    unwatched = infer(pair, reflection, n_components=3, n_iter=5)
    np.testing.assert_array_equal(unwatched.W, found.W)
