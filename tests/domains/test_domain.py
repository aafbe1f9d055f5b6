"""A domain is checked once, never changes, and is known by its content."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from l2t import Domain, DomainPair, KnownClasses, L2TClassifier, L2TTransformer, normalize
from l2t.domains.domain import columns_in_order, feature_rows
from l2t.exceptions import InvalidInputError, L2TWarning

X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("given_dtype", "kept"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (bool, np.float64),
        (">f8", np.float64),
        (">f4", np.float32),
        (np.longdouble, np.float64),
        (object, np.float64),
    ],
)
def test_dtypes(given_dtype, kept):
    domain = Domain(X.astype(given_dtype))
    assert domain.X.dtype == kept
    assert domain.X.dtype.isnative
    np.testing.assert_array_equal(domain.X, X.astype(given_dtype).astype(float))


@pytest.mark.parametrize(
    "form",
    [X.tolist(), pd.DataFrame(X), sparse.csr_matrix(X), sparse.coo_array(X), np.asfortranarray(X)],
)
def test_forms_of_x(form):
    assert Domain(form) == Domain(X)


def test_sparse_data_are_made_dense_only_where_they_fit(monkeypatch):
    monkeypatch.setattr("l2t.validation.free_memory", lambda: 300.0)
    rule = r"X of shape \(10, 2\) as a dense array must fit into half of the free memory"
    with pytest.raises(InvalidInputError, match=rule):
        Domain(sparse.csr_matrix((10, 2)))


def test_nothing_can_be_changed_afterwards():
    mine, labels = X.copy(), np.array([1, 2, 3])
    domain = Domain(mine, labels)
    before = domain.fingerprint
    mine[0, 0] = labels[0] = 99
    assert domain.X[0, 0] == 0
    assert Domain(domain.X, domain.y).fingerprint == before
    for array in (domain.X, domain.y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    with pytest.raises(AttributeError):
        domain.X = X


def test_a_read_only_view_of_writable_memory_is_copied():
    mine = X.copy()
    view = mine.view()
    view.flags.writeable = False
    domain = Domain(view)
    mine[0, 0] = 99
    assert domain.X[0, 0] == 0


def test_an_immutable_array_is_shared():
    fixed = X.copy()
    fixed.flags.writeable = False
    assert np.shares_memory(Domain(fixed).X, fixed)


def ragged(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


MASKED = np.ma.masked_array([1, 2, 3], mask=[False, True, False])


def broken(kind):
    """A sparse matrix with an index far beyond its shape, which scipy follows into foreign memory."""
    matrix = sparse.eye_array(4, format=kind)
    if kind == "coo":
        matrix.coords[1][0] = 10**6
    elif kind == "lil":
        matrix.rows[0] = [10**6]
    elif kind == "dok":
        matrix._dict[0, 10**6] = 1.0
    else:
        matrix.indices[0] = 10**6
    return matrix


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dok"])
def test_a_sparse_matrix_with_indices_out_of_range_is_refused(kind, proves):
    with pytest.raises(InvalidInputError, match="X must be a valid sparse matrix, got"):
        Domain(broken(kind))
    for estimator in (L2TTransformer(method="tca"), L2TClassifier()):
        with pytest.raises(InvalidInputError, match="X must be a valid sparse matrix, got"):
            estimator.fit(broken(kind), [0, 1, 0, 1])
    proves(f"A sparse matrix with indices out of range is refused: {kind}", 3, "calls")


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (
            np.array([[1.0, np.nan], [np.inf, 2.0]]),
            r"X must be finite, got nan at row 0, column 1 \(2",
        ),
        (np.array([[1.0, -1e60]]), r"at most 1e\+50 in size, got -1e\+60 at row 0, column 1 \(1"),
        (np.array([1.0, 2.0]), r"X must be 2-D with at least one row and column, got \(2,\)"),
        (np.empty((0, 3)), r"got \(0, 3\)"),
        (np.empty((3, 0)), r"got \(3, 0\)"),
        ([["a", "b"]], "X must be real numbers, got dtype <U1"),
        (np.array([[1 + 2j]]), "X must be real numbers"),
        (np.array([["a", 1.0]], dtype=object), "X must be a table of numbers"),
        ([[1.0, 2.0], [3.0]], "X must be a table of numbers"),
        (None, "X must be"),
        ([[10**400, 1]], "X must be a table of numbers, got int too large"),
        (np.full((2, 2), np.longdouble(10) ** 400), "X must be finite, got inf"),
        (np.full((2, 2), 1e-60), "X must have a value of at least 1e-50 in size .* got 1e-60"),
        (np.ma.masked_equal([[1.0, 2.0]], 2.0), "X must have no masked values, got 1; fill them"),
    ],
)
def test_bad_features_are_refused_in_one_sentence(bad, sentence, proves):
    with pytest.raises(InvalidInputError, match=sentence) as caught:
        Domain(bad)
    assert "\n" not in str(caught.value)
    proves("Features that are no table of usable numbers are refused by one sentence", 1, "tables")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"y": [1, 2]}, r"y must have one entry per row of X \(3\), got shape \(2,\)"),
        ({"y": np.ones((3, 2))}, r"y must have one entry .* got shape \(3, 2\)"),
        ({"y": [1, None, 3], "labeled": [True] * 3}, "y must not be missing .* got None at row 1"),
        ({"y": [1, pd.NA, 3], "labeled": [True] * 3}, "y must not be missing .* at row 1"),
        ({"y": [1.0, 2.0, np.nan], "labeled": [True] * 3}, "y must not be missing .* at row 2"),
        ({"feature_names": ["one"]}, "feature_names must name the 2 columns of X, got 1"),
        ({"y": [1, 2, 3], "labeled": [0, 1, 1]}, "labeled must be a boolean mask"),
        ({"y": [1, 2, 3], "labeled": [True]}, "labeled must be a boolean mask"),
        ({"labeled": [True, False, False]}, "labeled marks rows as labelled, but y was not given"),
        ({"groups": [1]}, "groups must have one entry"),
        (
            {"y": [1j, 2j, 3j]},
            "y must hold numbers, strings or other hashable values, got dtype complex128",
        ),
        (
            {"y": [{}, {1: 2}, {}]},
            "y must hold numbers, strings or other hashable values, got a value of type dict",
        ),
        (
            {"y": ragged("a", np.zeros(2), "b")},
            "y must hold numbers, strings or other hashable values, got a value of type ndarray",
        ),
        (
            {"groups": [{}, {}, {}]},
            "groups must hold numbers, strings or other hashable values, got a value of type dict",
        ),
        ({"y": MASKED}, "y must have no masked values, got 1"),
        ({"y": [1, 2, 3], "groups": MASKED}, "groups must have no masked values"),
        ({"y": [1, 2, 3], "labeled": MASKED.astype(bool)}, "labeled must have no masked values"),
    ],
)
def test_bad_labels_are_refused_in_one_sentence(options, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        Domain(X, **options)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([2, 1, 2], (1, 2)),
        (["b", "a", "b"], ("a", "b")),
        ([True, False, True], (False, True)),
        ([1.5, 0.5, 1.5], (0.5, 1.5)),
        (np.array(["x", 1, "x"], dtype=object), (1, "x")),
        (
            np.array(["2020-01-02", "2019-01-01", "2020-01-02"], "datetime64[D]"),
            ("2019-01-01", "2020-01-02"),
        ),
        (pd.Series(["b", "a", "b"], index=[7, 8, 9]), ("a", "b")),
        (pd.Categorical(["b", "a", "b"]), ("a", "b")),
        (np.array([[2], [1], [2]]), (1, 2)),
    ],
)
def test_labels_of_any_type(labels, classes):
    domain = Domain(X, labels)
    assert domain.classes == classes
    np.testing.assert_array_equal(domain.codes, [1, 0, 1])
    again = pickle.loads(pickle.dumps(domain))
    assert again == domain
    assert again.classes == classes


def test_what_only_looks_like_a_mask_or_a_sparse_matrix():
    """A frame has its columns as attributes, and a nullable array of pandas has a mask of its own."""
    frame = pd.DataFrame(X, columns=["format", "check_format"])
    assert Domain(frame) == Domain(X)
    assert Domain(X, pd.array([1, None, 2], dtype="Int64")).labeled.tolist() == [True, False, True]


def test_missing_labels_are_labels_that_are_not_known():
    mask = np.array([True, False, True])
    dates = np.array(["2020", "NaT", "2021"], "datetime64[Y]")
    for labels, classes in (
        ([1.0, np.nan, 2.0], (1.0, 2.0)),
        ([1, None, 2], (1, 2)),
        ([1, pd.NA, 2], (1, 2)),
        (["a", np.nan, "b"], ("a", "b")),
        (dates, ("2020", "2021")),
    ):
        domain = Domain(X, labels, labeled=mask)
        assert domain.classes == classes
        np.testing.assert_array_equal(domain.codes, [0, -1, 1])
        np.testing.assert_array_equal(Domain(X, labels).labeled, mask)
        assert Domain(X, labels) == domain
    assert Domain(X).classes == ()
    np.testing.assert_array_equal(Domain(X).codes, [-1, -1, -1])


def test_the_fingerprint_is_fixed_for_all_time():
    """A stored experience refers to its domains by these digits."""
    assert Domain(X, ["a", "b", "a"], labeled=[True, True, False]).fingerprint == FINGERPRINT


FINGERPRINT = "f5416db78ce4256dc6189f4b3619982f93dadf0f32c135648b2efbba66d31112"


def test_the_fingerprint_follows_the_content_alone():
    plain = Domain(X, [1, 2, 1], name="one")
    assert plain == Domain(np.asfortranarray(X), np.array([1, 2, 1], dtype=np.int8), name="two")
    assert hash(plain) == hash(Domain(X, [1, 2, 1]))
    others = [
        Domain(X.astype(np.float32), [1, 2, 1]),
        Domain(X + 1e-12, [1, 2, 1]),
        Domain(X, [1, 2, 2]),
        Domain(X, ["1", "2", "1"]),
        Domain(X),
        Domain(X, [1, 2, 1], labeled=[True, True, True]),
        Domain(X, [1, 2, 1], groups=[0, 0, 1]),
        Domain(X.reshape(2, 3), [1, 2]),
    ]
    assert len({each.fingerprint for each in [plain, *others]}) == 1 + len(others)
    assert plain != "a domain"


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.floats(-1e3, 1e3, width=32),
    ),
    st.randoms(),
)
def test_take_keeps_rows_together(data, random):
    labels = [random.choice("abc") for _ in data]
    domain = Domain(
        data, labels, labeled=np.arange(len(data)) % 2 == 0, groups=np.arange(len(data))
    )
    rows = [random.randrange(len(data)) for _ in range(3)]
    part = domain.take(rows, name="part")
    np.testing.assert_array_equal(part.X, data[rows])
    assert part.y.tolist() == [labels[row] for row in rows]
    np.testing.assert_array_equal(part.groups, rows)
    assert part.name == "part"
    mask = np.zeros(len(data), dtype=bool)
    mask[rows] = True
    np.testing.assert_array_equal(domain.take(mask).X, data[mask])


def test_taking_nothing_is_refused():
    with pytest.raises(InvalidInputError, match="at least one row"):
        Domain(X).take([])


def test_pairs_are_checked_and_tell_what_they_are():
    pair = DomainPair(Domain(X, name="a"), Domain(X[:2], name="b"))
    assert repr(pair) == "DomainPair('a' -> 'b', 3 + 2 rows x 2 features)"
    with pytest.raises(InvalidInputError, match="the same features, got 2 and 1 columns"):
        DomainPair(Domain(X), Domain(X[:, :1]))
    with pytest.raises(InvalidInputError, match="target must be a Domain, got ndarray"):
        DomainPair(Domain(X), X)
    with pytest.raises(AttributeError):
        pair.source = pair.target


def test_which_rows_count_as_labelled():
    mask = np.array([True, False, False])
    plain, masked, bare = Domain(X, [1, 2, 3]), Domain(X, [1, 2, 3], labeled=mask), Domain(X)
    assert DomainPair(plain, plain).source_labeled.all()
    assert not DomainPair(plain, plain).target_labeled.any()
    np.testing.assert_array_equal(DomainPair(masked, masked).source_labeled, mask)
    np.testing.assert_array_equal(DomainPair(masked, masked).target_labeled, mask)
    assert not DomainPair(bare, bare).source_labeled.any()


def test_the_span_is_computed_once_and_does_not_travel():
    pair = DomainPair(Domain(X), Domain(X + 1))
    assert pair.span is pair.span
    assert len(pickle.dumps(pair)) == len(pickle.dumps(DomainPair(Domain(X), Domain(X + 1))))
    again = pickle.loads(pickle.dumps(pair))
    assert again == pair
    np.testing.assert_array_equal(again.span.source, pair.span.source)


def test_columns_are_matched_by_name_where_both_domains_have_names():
    frame = pd.DataFrame(X, columns=["a", "b"])
    named, turned = Domain(frame), Domain(frame[["b", "a"]])
    assert named.feature_names == ("a", "b")
    assert named.take([0, 1]).feature_names == ("a", "b")
    assert Domain(pd.DataFrame(X)).feature_names is None
    assert named == Domain(X), "names are not content"
    matched = DomainPair(turned, named).source
    assert matched.feature_names == ("a", "b")
    assert matched == named
    for columns, message in (
        (["a", "c"], "only source has 'c'; only target has 'b'"),
        (["a", "a"], "once"),
    ):
        other = Domain(pd.DataFrame(X, columns=columns))
        with pytest.raises(InvalidInputError, match=message):
            DomainPair(other, named)
    assert DomainPair(named, Domain(X)).n_features == 2


def test_other_features_for_the_same_rows():
    domain = Domain(X, [1, None, 2], groups=[0, 0, 1], name="d")
    moved = domain.with_features(X[:, :1] * 2)
    assert moved.X.shape == (3, 1)
    np.testing.assert_array_equal(moved.labeled, domain.labeled)
    np.testing.assert_array_equal(moved.groups, domain.groups)
    assert moved.name == "d"


def test_group_codes_keep_rows_without_a_group_apart():
    X = np.eye(5)
    assert Domain(X).group_codes is None
    assert Domain(X, groups=["b", "a", "b", None, None]).group_codes.tolist() == [1, 0, 1, 5, 6]
    assert Domain(X, groups=[2, 1, 2, 1, 3]).group_codes.tolist() == [1, 0, 1, 0, 2]


@pytest.mark.parametrize("form", ["array", "csr", "coo", "dia", "lil"])
def test_new_rows_must_be_finite(form):
    X = np.arange(12.0).reshape(4, 3)
    rows = X if form == "array" else sparse.coo_array(X).asformat(form)
    got = feature_rows(rows, 3)[1:3]
    np.testing.assert_array_equal(got if form == "array" else got.toarray(), X[1:3])
    for value in (np.nan, np.inf):
        X[2, 1] = value
        bad = X if form == "array" else sparse.coo_array(X).asformat(form)
        with pytest.raises(
            InvalidInputError, match=f"X must be finite, got {value} at row 2, column 1"
        ):
            feature_rows(bad, 3)


def test_new_rows_of_nullable_columns():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}).convert_dtypes()
    np.testing.assert_array_equal(feature_rows(frame, 2), [[1, 0.5], [2, 1.5]])
    with pytest.raises(InvalidInputError, match="X must be a table of numbers, got "):
        feature_rows([[1, 2], [3]], 2)


def test_values_in_place_of_unknown_labels_are_no_class_in_words():
    mask = np.array([True, True, False, False])
    assert "2 classes, 2 labelled rows" in repr(Domain(np.eye(4), [0, 1, -1, -1], labeled=mask))


@pytest.mark.parametrize("column", [pl.Series, lambda y: pd.Series(y, dtype="Int64")])
def test_whole_numbers_stay_whole_if_some_labels_are_missing(column):
    found = Domain(np.eye(4), column([7, 8, None, None]))
    assert [type(label) for label in found.classes] == [int, int]
    np.testing.assert_array_equal(found.labeled, [True, True, False, False])


def test_labels_of_columns_that_are_not_text_become_names():
    for labels, names in (
        ([5, 4], ("5", "4")),
        ([1.0, 0.0], ("1", "0")),
        ([0, "b"], ("0", "b")),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), ("a_1", "b_2")),
        (["0", "1"], ("0", "1")),
    ):
        domain = Domain(pd.DataFrame(X, columns=labels))
        assert domain.feature_names == names
        assert DomainPair(domain.with_columns([1, 0]), domain).source == domain
    for labels in ([0, 1], [0.0, 1.0]):
        assert Domain(pd.DataFrame(X, columns=labels)).feature_names is None


def test_numbers_of_columns_are_matched_in_any_order():
    """pandas numbers columns 0, 1, ...; an array has no names, so that its order is kept."""
    frame = pd.DataFrame(X)
    usual, turned = Domain(frame), Domain(frame[[1, 0]])
    for source, target, expected in (
        (turned, usual, usual),
        (usual, turned, turned),
        (usual.take([0, 1, 2]), turned, turned),
        (normalize(usual), normalize(turned), normalize(turned)),
        (Domain(X), turned, usual),
        (turned, Domain(X), turned),
    ):
        matched = DomainPair(source, target).source
        np.testing.assert_array_equal(matched.X[:, 0], expected.X[:, 0])
    known = KnownClasses([Domain(frame, ["a", "a", "b"])]).without(Domain(9 + frame[[1, 0]]))
    np.testing.assert_array_equal(known.X, turned.X[:2])
    with pytest.raises(InvalidInputError, match="only source has '2'; only target has '0'"):
        DomainPair(Domain(pd.DataFrame(X, columns=[1, 2])), usual)


def test_columns_of_further_rows_are_matched_by_name():
    frame = pd.DataFrame(X, columns=[0, 1])
    named = pd.DataFrame(X, columns=["a", "b"])
    for rows, names, expected in (
        (frame[[1, 0]], None, X),
        (frame, ("1", "0"), X[:, ::-1]),
        (named, ("b", "a"), X[:, ::-1]),
        (Domain(named), ("b", "a"), X[:, ::-1]),
        (named.assign(c=1.0)[["c", "b", "a"]], ("a", "b"), X),
        (X, ("b", "a"), X),
    ):
        np.testing.assert_array_equal(feature_rows(columns_in_order(rows, names), 2), expected)
    twice = pd.DataFrame(X, columns=["a", "a"])
    assert columns_in_order(twice, ("a", "a")) is twice
    for rows, names, message in (
        (named, ("a", "c"), "got none named 'c'"),
        (frame, ("1", "2"), "got none named '2'"),
        (
            twice.assign(b=1.0),
            ("b", "a"),
            "once, or columns in the order of the target, got a more",
        ),
    ):
        with pytest.raises(InvalidInputError, match=message):
            columns_in_order(rows, names)
    for rows, names, message in (
        (named, None, "X has names of columns and the target has none"),
        (frame, ("a", "b"), "the target has names of columns and X has none"),
    ):
        with pytest.warns(L2TWarning, match=message):
            assert columns_in_order(rows, names) is rows
