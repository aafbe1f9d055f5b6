"""A network with one hidden layer, trained to tell classes apart; its hidden layer is a feature map.

Rectified linear units, softmax over the classes, mixup (Zhang 2018), dropout, and Adam with decoupled weight
decay (Loshchilov 2019) and a cosine schedule, in single precision.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from l2t.numerics.threads import few_threads
from l2t.typing import AnyArray, Array, Indices

#: Accuracy changes by at most 0.01 around these values on nine kinds of data (docs/adr/0018).
N_HIDDEN = 256
EPOCHS = 30
BATCH = 128
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 1e-4
DROPOUT = 0.3
#: Parameter of the beta distribution of mixing weights.
MIXUP = 0.5
#: Adam's decay of the mean and of the mean square of gradients, and the least denominator, as in Kingma and
#: Ba (2015).
MOMENTS = (0.9, 0.999)
TINY = 1e-8

Floats = npt.NDArray[np.float32]


class HiddenLayer(NamedTuple):
    """The map ``z -> max(z weights + bias, 0)``."""

    weights: Array
    bias: Array


def train_hidden_layer(X: AnyArray, codes: Indices, *, random_state: int = 0) -> HiddenLayer:
    """Train a network on rows and their classes.

    Parameters
    ----------
    X : array of shape (n, m)
        The rows, of mean squared norm m or so.
    codes : int array of shape (n,)
        The classes, from 0.
    random_state : int, default=0
        The seed.

    Returns
    -------
    HiddenLayer
        The trained hidden layer, without the layer that scores the classes.
    """
    rng = np.random.default_rng(random_state)
    rows = np.asarray(X, dtype=np.float32)
    targets = np.eye(int(codes.max()) + 1, dtype=np.float32)[codes]
    n, m = rows.shape
    params = [
        (rng.normal(size=(m, N_HIDDEN)) * np.sqrt(2.0 / m)).astype(np.float32),
        np.zeros(N_HIDDEN, np.float32),
        (rng.normal(size=(N_HIDDEN, targets.shape[1])) / np.sqrt(N_HIDDEN)).astype(np.float32),
        np.zeros(targets.shape[1], np.float32),
    ]
    batch = min(BATCH, n)
    starts = range(0, n - batch // 2, batch)
    optimizer = _Adam(params, n_steps=EPOCHS * len(starts))
    with few_threads(0):  # the rounding of sums must not depend on the number of cores
        for _ in range(EPOCHS):
            order = rng.permutation(n)
            for start in starts:
                some = order[start : start + batch]
                others = some[rng.permutation(len(some))]
                share = np.float32(rng.beta(MIXUP, MIXUP))
                x = share * rows[some] + (1 - share) * rows[others]
                y = share * targets[some] + (1 - share) * targets[others]
                is_kept = rng.random((len(some), N_HIDDEN), dtype=np.float32) > DROPOUT
                kept = is_kept.astype(np.float32) / np.float32(1.0 - DROPOUT)
                optimizer.step(_gradients(params, x, y, kept))
    return HiddenLayer(params[0].astype(np.float64), params[1].astype(np.float64))


def _gradients(params: list[Floats], x: Floats, y: Floats, kept: Floats) -> list[Floats]:
    """Return the gradients of the mean cross-entropy; `kept` multiplies the hidden units."""
    weights, bias, out, offset = params
    hidden = x @ weights + bias
    active = (hidden > 0) * kept
    hidden *= active
    scores = hidden @ out + offset
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    residual = (P - y) / np.float32(len(x))
    back = (residual @ out.T) * active
    return [x.T @ back, back.sum(axis=0), hidden.T @ residual, residual.sum(axis=0)]


class _Adam:
    """Adam with weight decay of matrices, which changes parameters in place."""

    def __init__(self, params: list[Floats], n_steps: int) -> None:
        self.params, self.n_steps, self.t = params, n_steps, 0
        self.means = [np.zeros_like(param) for param in params]
        self.squares = [np.zeros_like(param) for param in params]

    def step(self, gradients: list[Floats]) -> None:
        self.t += 1
        rate = np.float32(LEARNING_RATE * 0.5 * (1.0 + np.cos(np.pi * self.t / (self.n_steps + 1))))
        first, second = (np.float32(1.0 - decay**self.t) for decay in MOMENTS)
        moments = zip(self.params, gradients, self.means, self.squares, strict=True)
        for (
            param,
            gradient,
            mean,
            square,
        ) in moments:  # in place: half of the time is memory traffic
            if param.ndim > 1:
                param *= np.float32(1.0) - rate * np.float32(WEIGHT_DECAY)
            mean *= np.float32(MOMENTS[0])
            mean += np.float32(1.0 - MOMENTS[0]) * gradient
            square *= np.float32(MOMENTS[1])
            gradient *= gradient
            gradient *= np.float32(1.0 - MOMENTS[1])
            square += gradient
            np.divide(square, second, out=gradient)
            np.sqrt(gradient, out=gradient)
            gradient += np.float32(TINY)
            np.divide(mean, gradient, out=gradient)
            gradient *= rate / first
            param -= gradient
