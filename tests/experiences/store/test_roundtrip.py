"""Random runs come back as they were: labels of any type, masks, groups, both float types."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from l2t.domains import Domain, DomainPair
from l2t.domains.domain import SMALLEST
from l2t.domains.label_codec import decode_labels, encode_labels
from l2t.exceptions import InvalidInputError
from l2t.experiences.experience import Run, Score
from l2t.experiences.store import open_store
from tests.experiences.store.contract import assert_same_run, random_run

LABELS = [
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False),
    st.text(st.characters(), max_size=5),  # with NUL and half characters
    st.binary(max_size=4),
    st.integers(-5, 5).map(np.int16),
    st.floats(width=32, allow_nan=False).map(np.float32),
    st.text(max_size=3).map(np.str_),
]
MIXED = st.one_of(LABELS)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # Text with half characters has no key: `run_key` encodes it.
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
SETTINGS = st.dictionaries(st.text(max_size=4), JSON, max_size=3)
PART = st.floats(0, 1)


def column(draw: st.DrawFn, n: int) -> np.ndarray:
    kind = draw(st.sampled_from([*LABELS, MIXED]))
    values = np.empty(n, dtype=object)
    values[:] = draw(st.lists(kind, min_size=n, max_size=n))
    return values


@st.composite
def domains(draw: st.DrawFn, m: int) -> Domain:
    n = draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    most = float(np.finfo(np.float32).max) if dtype == np.float32 else 1e50
    elements = hnp.from_dtype(np.dtype(dtype), min_value=-most, max_value=most)
    elements = elements.map(lambda value: value if abs(value) >= SMALLEST else dtype(0))
    X = draw(hnp.arrays(dtype, (n, m), elements=elements))
    labeled = draw(st.none() | hnp.arrays(np.bool_, n))
    y = column(draw, n) if draw(st.booleans()) else None
    if y is None:
        labeled = None
    elif labeled is not None:
        y[~labeled] = draw(st.sampled_from([None, np.nan, pd.NA]))
    groups = column(draw, n) if draw(st.booleans()) else None
    name = draw(st.text(max_size=5))
    names = draw(st.sampled_from([None, [f"\0{column}ü" for column in range(m)]]))
    prepared = draw(st.sampled_from([None, [[0.5] * m, [3.0] * m]]))
    roles = {"labeled": labeled, "groups": groups, "prepared": prepared}
    return Domain(X, y, **roles, name=name, feature_names=names)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    m = draw(st.integers(1, 4))
    counts = draw(st.lists(st.integers(1, 200), unique=True, max_size=3))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.dtype(">f8")]))
    return random_run(
        pair=DomainPair(draw(domains(m)), draw(domains(m))),
        algorithm=draw(st.text(max_size=5).filter(lambda text: "\0" not in text)),
        params=draw(SETTINGS),
        protocol=draw(SETTINGS),
        random_state=draw(st.integers(0, 2**128)),
        W=draw(hnp.arrays(dtype, (m, draw(st.integers(1, 3))))),
        scores=tuple(Score(count, *draw(st.tuples(*[PART] * 5))) for count in sorted(counts)),
        created_at=draw(st.datetimes(datetime(1980, 1, 1), timezones=st.just(UTC))),
    )


@pytest.fixture(scope="module")
def stores(postgres):
    with open_store("memory://") as memory, open_store(postgres()) as server:
        yield memory, server


@pytest.mark.integration
@settings(max_examples=60)
@given(run=runs())
def test_runs_come_back(stores, run):
    for store in stores:
        store.add(run)
        found = store.run(run.key)
        assert found.pair == run.pair
        assert store.delete(key=run.key) == 1
        if "\0" not in run.pair.source.name + run.pair.target.name:
            # A W of foreign byte order comes back in that of the machine.
            native = run.W.astype(run.W.dtype.newbyteorder("="))
            assert_same_run(found, dataclasses.replace(run, W=native))


def test_nothing_is_left_behind(stores):
    for store in stores:
        assert store.check() == []


def test_columns_keep_their_plain_types():
    for values in (np.arange(3), np.array([True, False]), np.array([0.5, -0.0, np.inf])):
        back = decode_labels(*encode_labels(values, "labels"))
        assert back.dtype == values.dtype
        assert repr(back) == repr(values)
    large = np.array([2**70, 1], dtype=object)
    assert decode_labels(*encode_labels(large, "labels")).tolist() == [2**70, 1]


class Breed(str):
    """Text of a type of its own."""


@pytest.mark.parametrize(
    "label", [Breed("lynx"), (1, 2), datetime(2030, 1, 1), 1j, np.longdouble(1)]
)
def test_labels_of_other_types_are_refused(label):
    values = np.empty(1, dtype=object)
    values[0] = label
    with pytest.raises(
        InvalidInputError, match="labels must be strings, numbers, booleans or bytes"
    ):
        encode_labels(values, "labels")
