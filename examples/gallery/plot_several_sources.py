"""
Several sources: which of them helps, and by how much
=====================================================

The target has three digits in handwriting. The sources are the other digits in the same handwriting, scans of
them, and noise. `rank_sources` predicts the factor by which each source improves the accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np

import l2t

handwriting, scans = l2t.normalize(l2t.domains.mnist()), l2t.normalize(l2t.domains.digits())
others = ~np.isin(handwriting.y.astype(int), (2, 3, 5))
same = handwriting.take(others).take(np.arange(0, others.sum(), 3))
far = scans.take(~np.isin(scans.y.astype(int), (2, 3, 5))).take(np.arange(0, 1200, 2))
noise = np.random.default_rng(0).normal(size=same.X.shape) * same.X.std(axis=0) + same.X.mean(
    axis=0
)
sources = [
    l2t.Domain(same.X, same.y, name="same handwriting"),
    l2t.Domain(far.X, far.y, name="scans"),
    l2t.Domain(l2t.normalize(l2t.Domain(noise)).X, same.y, name="noise"),
]
target = l2t.Domain(handwriting.X[~others][::5], name="2, 3 and 5")

ranking = l2t.rank_sources(target, sources, n_labels=6)
names, gains = [ranked.source.name for ranked in ranking], [ranked.adds for ranked in ranking]
for name, gain in zip(names, gains, strict=True):
    print(f"{name:17} multiplies the accuracy by {gain:.3f}")

figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
axes.plot(gains, names, "o", markersize=10)
axes.axvline(1, color="k", linewidth=0.8)
axes.set(xlabel="predicted accuracy with the source over that with none", xlim=(0.98, 1.02))
axes.margins(y=0.3)
axes.invert_yaxis()
plt.show()
