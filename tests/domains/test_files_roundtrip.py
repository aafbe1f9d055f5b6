"""What is written is read back: random domains in every format, and real files if there are any."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from l2t.domains import Domain, read_domain, write_domain
from l2t.domains.domain import SMALLEST

pytestmark = pytest.mark.integration

ROUNDS = settings(max_examples=150)
WHOLE = st.integers(-(2**53), 2**53)
FLOATS = st.floats(allow_nan=False).map(lambda value: value + 0.0)  # no -0.0: equal, yet not alike
NUMBERS = [WHOLE, FLOATS]
TEXT = st.text(max_size=6)
NAMES = TEXT.map(lambda text: f"k{text}.")  # neither blank nor padded nor a number


@st.composite
def domains(draw: st.DrawFn, kinds: list[st.SearchStrategy[Any]]) -> Domain:
    """Draw a domain with labels of one kind, perhaps with a mask, missing labels and groups."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=5))
    most = float(np.finfo(np.float32).max) if dtype == np.float32 else 1e50
    elements = hnp.from_dtype(np.dtype(dtype), min_value=-most, max_value=most)
    elements = elements.map(lambda value: value if abs(value) >= SMALLEST else dtype(0))
    X = draw(hnp.arrays(dtype, shape, elements=elements))
    n = shape[0]

    def column(kind: st.SearchStrategy[Any]) -> np.ndarray[Any, Any]:
        values = np.empty(n, dtype=object)
        values[:] = draw(st.lists(kind, min_size=n, max_size=n))
        return values

    y = column(draw(st.sampled_from(kinds)))
    labeled = draw(st.none() | hnp.arrays(np.bool_, n))
    if labeled is not None:
        y[~labeled & draw(hnp.arrays(np.bool_, n))] = None
    groups = column(draw(st.sampled_from(kinds))) if draw(st.booleans()) else None
    if labeled is None and draw(st.integers(0, 9)) == 0:
        return Domain(X, groups=groups)
    return Domain(X, y, labeled=labeled, groups=groups)


def columns_of(domain: Domain) -> dict[str, str | None]:
    """Return the options that csv and parquet need."""
    return {
        "labeled": None if domain.labeled is None else "labeled",
        "groups": None if domain.groups is None else "groups",
    }


def assert_same(read: Domain, written: Domain, *, single: bool = True) -> None:
    dtype = written.X.dtype if single else np.dtype(np.float64)
    assert read.X.dtype == dtype
    assert read.X.tolist() == written.X.astype(dtype).tolist()
    for got, want in ((read.y, written.y), (read.groups, written.groups)):
        assert (got is None) == (want is None)
        if got is not None and want is not None:
            assert got.tolist() == want.tolist()
            assert list(map(type, got.tolist())) == list(map(type, want.tolist()))
    assert (read.labeled is None) == (written.labeled is None)
    if read.labeled is not None and written.labeled is not None:
        assert read.labeled.tolist() == written.labeled.tolist()
    if single:
        assert read == written


@ROUNDS
@given(domains([TEXT.map(lambda text: text.rstrip("\0")), *NUMBERS, st.booleans()]))
def test_npz_keeps_everything(tmp_path: Path, domain: Domain) -> None:
    assert_same(read_domain(write_domain(domain, tmp_path / "a.npz")), domain)


@ROUNDS
@given(domains([NAMES, *NUMBERS, st.booleans()]))
def test_csv_keeps_all_but_float32(tmp_path: Path, domain: Domain) -> None:
    path = write_domain(domain, tmp_path / "a.csv", label="kind")
    label = None if domain.y is None else "kind"
    assert_same(read_domain(path, label=label, **columns_of(domain)), domain, single=False)


@ROUNDS
@given(domains([NAMES, *NUMBERS, st.booleans()]))
def test_parquet_keeps_everything(tmp_path: Path, domain: Domain) -> None:
    path = write_domain(domain, tmp_path / "a.parquet")
    assert_same(read_domain(path, **columns_of(domain)), domain)


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_the_name_is_the_stem_and_the_path_is_returned(tmp_path: Path, ending: str) -> None:
    path = write_domain(
        Domain([[1.0, 0.0]], [3], name="other"), str(tmp_path / f"cats.v1.{ending}")
    )
    assert path == tmp_path / f"cats.v1.{ending}"
    assert read_domain(path).name == "cats.v1"
    assert read_domain(str(path), name="felines").name == "felines"


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_a_domain_without_any_known_label(tmp_path: Path, ending: str) -> None:
    domain = Domain([[1.0], [2.0]], [None, None], labeled=[False, False])
    path = write_domain(domain, tmp_path / f"a.{ending}")
    named = {"labeled": "labeled"} if ending == "parquet" else {}
    assert read_domain(path, **named) == domain


def test_whole_numbers_keep_all_64_bits(tmp_path: Path) -> None:
    for largest in (2**63 - 1, 2**64 - 1):
        domain = Domain([[1.0], [2.0]], [largest, largest - 1])
        assert read_domain(write_domain(domain, tmp_path / "a.npz")) == domain
        assert read_domain(write_domain(domain, tmp_path / "a.parquet")) == domain


@pytest.mark.parametrize(
    ("file", "named", "rows", "features", "classes", "groups"),
    [
        ("office-caltech-surf/amazon.npz", {}, 958, 800, 10, None),
        ("photo-style/style.npz", {"groups": "shape"}, 1280, 1280, 16, 160),
    ],
)
def test_real_files(
    tmp_path: Path,
    file: str,
    named: dict[str, str],
    rows: int,
    features: int,
    classes: int,
    groups: int | None,
) -> None:
    if "L2T_DATA" not in os.environ:
        pytest.skip("L2T_DATA does not name the folder of the real data")
    domain = read_domain(Path(os.environ["L2T_DATA"]) / file, **named)
    assert domain.X.shape == (rows, features)
    assert len(domain.classes) == classes
    assert all(isinstance(label, str) for label in domain.classes)
    assert domain.labeled is None
    assert (groups is None) == (domain.groups is None)
    if domain.groups is not None:
        assert len(set(domain.groups)) == groups
    assert read_domain(write_domain(domain, tmp_path / "copy.npz")) == domain
