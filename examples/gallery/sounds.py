"""
Sounds: the accuracy to expect, before it is checked
====================================================

The source has recordings of 40 kinds of sounds as spectral statistics, the target has recordings of five
other kinds with three labels each. The report names the features and classifiers that are used, and the
accuracy to expect. With so few labels that can be off by ten points and more.
"""

import os
from pathlib import Path

import numpy as np

import l2t

data = Path(os.environ["L2T_DATA"])
sounds = l2t.read_domain(data / "sounds" / "esc50.npz")
sounds = l2t.normalize(sounds.with_features(sounds.X - sounds.X.mean(axis=0)))
order = np.random.default_rng(0).permutation(sounds.classes)
source = sounds.take(np.isin(sounds.y, order[:40]))
target = sounds.take(np.isin(sounds.y, order[40:45]))
few = np.isin(np.arange(len(target)), [np.flatnonzero(target.y == c)[:3] for c in order[40:45]])

answer = l2t.predict(source, l2t.Domain(target.X, target.y, labeled=few))
print(answer.report)
print(f"right, as it turns out: {np.mean(answer.labels[~few] == target.y[~few]):.1%}")
answer.plot().savefig("sounds.png")

# %%
# With the data, the script prints:
#
# .. literalinclude:: /images/gallery/sounds.txt
#    :language: text
#
# .. image:: /images/gallery/sounds.png
#    :alt: The plot of the script
#
# sphinx_gallery_thumbnail_path = "images/gallery/sounds.png"
