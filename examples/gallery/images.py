"""
Images: sketches of new classes, with two labels per class
==========================================================

The source has sketches of 60 classes, as features of a network that was trained on photographs. The target
has sketches of eight other classes, with two labels each. L2T is compared with logistic regression on the
same labels. The plot shows the first two principal components of the target before and after what `l2t.infer`
transfers.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import l2t

data = Path(os.environ["L2T_DATA"])
sketches = l2t.normalize(l2t.read_domain(data / "photo-sketch" / "sketch.npz"))
order = np.random.default_rng(0).permutation(sketches.classes)
source = sketches.take(np.isin(sketches.y, order[:60]))
target = sketches.take(np.isin(sketches.y, order[60:68]))
few = np.isin(np.arange(len(target)), [np.flatnonzero(target.y == c)[:2] for c in order[60:68]])

answer = l2t.predict(source, l2t.Domain(target.X, target.y, labeled=few))
plain = LogisticRegression(max_iter=1000).fit(target.X[few], target.y[few].astype(str))
print(answer)
for name, labels in {"L2T": answer.labels, "logistic regression": plain.predict(target.X)}.items():
    right = np.mean(labels[~few] == target.y[~few])
    print(f"{name}: {right:.1%} of {np.sum(~few)} unlabelled sketches are right")

figure, (before, after) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for axes, X, name in (
    (before, target.X, "as they are"),
    (after, answer.inference.transform(target.X), "transferred"),
):
    U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    for thing in order[60:68]:
        axes.scatter(*(U[:, :2] * s[:2])[target.y == thing].T, s=12, label=thing)
    axes.set(title=f"the target's features, {name}", xticks=[], yticks=[])
after.legend(loc="center left", bbox_to_anchor=(1, 0.5))
figure.savefig("images.png")

# %%
# With the data, the script prints:
#
# .. literalinclude:: /images/gallery/images.txt
#    :language: text
#
# .. image:: /images/gallery/images.png
#    :alt: The plot of the script
#
# sphinx_gallery_thumbnail_path = "images/gallery/images.png"
