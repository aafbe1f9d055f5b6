"""
Your own algorithm as a candidate
=================================

Whitened principal components of both domains are a class of a few lines, which is rehearsed, predicted and
chosen like any other candidate.
"""

from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np

import l2t
from l2t.algorithms import BaseAlgorithm, Diagnostics


@dataclass(frozen=True)
class Whitening(BaseAlgorithm):
    """Principal components of the pair, each divided by its standard deviation."""

    name: ClassVar[str] = "whitening"

    def _fit(self, pair):
        u = self._clip(pair.span.rank)
        W = np.eye(pair.span.rank, u) / pair.span.joint[:, :u].std(axis=0)
        return self._linear(pair.span, W, Diagnostics((0.0,), 0, "closed-form"))


digits, mnist = l2t.normalize(l2t.domains.digits()), l2t.normalize(l2t.domains.mnist())
pair = l2t.PairSampler(digits, mnist, 1, n_classes=5)[0]
own = Whitening(n_components=20)
choice = l2t.infer(pair, candidates=["spectrum", "classes", "gfk", own], n_labels=15)
table = choice.candidates.to_frame()
print(choice, choice.reason, table[["rehearsed", "predicted"]].round(3), sep="\n")

figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
axes.barh(table.index, table["predicted"], color="C7")
axes.plot(table["rehearsed"], table.index, "ko", label="rehearsed on known classes")
axes.set(xlabel="predicted improvement ratio", xlim=(0.85, 1.1))
axes.legend()
plt.show()
