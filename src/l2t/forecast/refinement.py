"""What the user's own experiences teach a forecast: how much of the room each algorithm uses.

``prior(k) <- prior(k) + Σ_i (u_i - prior(k)) / (20 + n)``

over n own pairs i with about k labels per class, of which an algorithm used the shares u_i of the room: the
prior from other data weighs as much as 20 pairs.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from l2t.algorithms import NO_TRANSFER
from l2t.experiences import Experience
from l2t.forecast.forecast import BOUNDS, OWN_PAIRS, Forecast


def refine(forecast: Forecast, experiences: Iterable[Experience]) -> Forecast:
    """Update the prior of a forecast by experiences.

    Parameters
    ----------
    forecast : Forecast
        The forecast, such as ``Forecast.default()``.
    experiences : iterable of Experience
        The experiences, such as ``store.experiences()``; only those of finished runs with classifiers trained
        on the target count.

    Returns
    -------
    Forecast
        The same forecast with another prior.

    Examples
    --------
    >>> refine(Forecast.default(), []) == Forecast.default()
    True
    """
    ratios = OwnRatios()
    deque(ratios.record(experiences), maxlen=0)
    return ratios.refine(forecast)


class OwnRatios:
    """The ratios of the user's experiences, recorded while they are read for another purpose."""

    def __init__(self) -> None:
        #: Numbers of all combinations of algorithm, source and target.
        self.groups: dict[tuple[str, str, str], int] = {}
        #: Group, labels per class, accuracy before and ratio of each experience.
        self.rows = array("d")

    def record(self, experiences: Iterable[Experience]) -> Iterator[Experience]:
        """Yield the experiences unchanged, recording their ratios."""
        for experience in experiences:
            if (
                experience.n_labels
                and experience.trained_on == "target"
                and experience.algorithm != NO_TRANSFER
            ):
                name = (experience.algorithm, experience.source, experience.target)
                group = self.groups.setdefault(name, len(self.groups))
                shots = experience.n_labels / max(experience.n_classes, 1)
                accuracy, ratio = experience.accuracy_before, experience.improvement_ratio
                self.rows.extend((group, shots, accuracy, ratio))
            yield experience

    def refine(self, forecast: Forecast) -> Forecast:
        """Return the forecast with a prior updated by the recorded ratios."""
        prior, n_pairs = dict(forecast.prior), dict(forecast.own_pairs)
        group, shots, accuracy, ratio = np.array(self.rows).reshape(-1, 4).T
        room = np.maximum(accuracy * (1.0 - accuracy), 0.01)  # `room_of` the error 1 - accuracy
        use = np.clip(np.log(ratio) / room, *BOUNDS)
        log_shots, grid = np.log(shots), np.log(forecast.shots)
        shape = (len(self.groups), len(grid))
        run = group.astype(np.intp)
        cell = run * len(grid) + np.abs(log_shots[:, None] - grid).argmin(axis=1)
        names, code = np.unique([name for name, *_ in self.groups], return_inverse=True)
        for i, name in enumerate(names.tolist()):
            mine = code[run] == i
            old = np.array(prior.get(name, (0.0,) * len(grid)))
            residual = use[mine] - np.interp(log_shots[mine], grid, old)
            counts = np.bincount(cell[mine], minlength=shape[0] * shape[1]).reshape(shape)
            sums = np.bincount(cell[mine], residual, minlength=counts.size).reshape(shape)
            means = (sums / np.maximum(counts, 1)).sum(axis=0)
            weight = OWN_PAIRS + n_pairs.get(name, 0) + (counts > 0).sum(axis=0)
            prior[name] = tuple((old + means / weight).tolist())
            n_pairs[name] = n_pairs.get(name, 0) + int(np.sum(code == i))
        return msgspec.structs.replace(forecast, prior=prior, own_pairs=n_pairs)
