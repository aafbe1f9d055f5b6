"""
Active learning: which rows to label next
=========================================

Every prediction suggests rows to label. Here are four rounds of five labels each, compared with random rows.
One draw proves little: :doc:`the results </results/answers>` have means over many.
"""

import matplotlib.pyplot as plt
import numpy as np

import l2t

scans = l2t.normalize(l2t.domains.digits())
digits = scans.y.astype(int)
source, target = scans.take(digits < 5), scans.take(digits >= 5).take(np.arange(0, 890, 3))
rng = np.random.default_rng(0)
start = np.isin(
    np.arange(len(target)), [np.flatnonzero(target.y == c)[0] for c in np.unique(target.y)]
)

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for way in ("suggested rows", "random rows"):
    few, curve = start.copy(), []
    for _ in range(5):
        answer = l2t.predict(source, l2t.Domain(target.X, target.y, labeled=few))
        curve.append((few.sum(), np.mean(answer.labels[~few] == target.y[~few])))
        free = np.flatnonzero(~few)
        few[answer.suggest(5) if way == "suggested rows" else rng.permutation(free)[:5]] = True
    print(way, *(f"{n} labels: {share:.1%}" for n, share in curve), sep="; ")
    axes.plot(*zip(*curve, strict=True), "o-", label=way)
axes.set(xlabel="labelled rows", ylabel="accuracy on the others", xticks=[n for n, _ in curve])
axes.legend()
plt.show()
