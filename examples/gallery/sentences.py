"""
Sentences: intents of customers, with few labels per intent
===========================================================

The source has embeddings of sentences of 150 intents, the target has sentences of ten intents from another
data set. How does the accuracy depend on the number of labels per intent?
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import l2t

data = Path(os.environ["L2T_DATA"]) / "intents"
source, others = (l2t.normalize(l2t.read_domain(data / f"{n}.npz")) for n in ("clinc150", "hwu64"))
source = source.take(np.arange(0, len(source), 4))  # 20 sentences of each intent
rng = np.random.default_rng(0)
target = others.take(np.isin(others.y, rng.permutation(np.setdiff1d(others.y, source.y))[:10]))
X, y = target.X, target.y.astype(str)

table = pd.DataFrame(columns=["logistic regression", "L2T"])
for n in (1, 2, 5, 10):
    few = np.zeros(len(y), dtype=bool)
    for intent in np.unique(y):
        few[rng.permutation(np.flatnonzero(y == intent))[:n]] = True
    plain = LogisticRegression(max_iter=1000).fit(X[few], y[few]).predict(X)
    answer = l2t.predict(source, l2t.Domain(X, y, labeled=few))
    table.loc[n] = [np.mean(labels[~few] == y[~few]) for labels in (plain, answer.labels)]
print(table.round(3))

axes = table.plot(marker="o", logx=True, xticks=table.index, ylabel="accuracy")
axes.set(xlabel="labelled sentences per intent", xticklabels=table.index)
axes.figure.savefig("sentences.png")

# %%
# With the data, the script prints:
#
# .. literalinclude:: /images/gallery/sentences.txt
#    :language: text
#
# .. image:: /images/gallery/sentences.png
#    :alt: The plot of the script
#
# sphinx_gallery_thumbnail_path = "images/gallery/sentences.png"
