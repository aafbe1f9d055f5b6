"""
Shared classes: the same ten digits, scanned and in handwriting, and no label in the target
===========================================================================================

If source and target have the same classes, no target label is needed. Classifiers on several adapted features
are trained on the source and vote; the result names them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay

import l2t
from l2t.inference.shared import infer_shared

rng = np.random.default_rng(0)
scans, handwriting = (
    l2t.normalize(each.take(rng.permutation(len(each))[:500]))
    for each in (l2t.domains.digits(), l2t.domains.mnist())
)
truth = handwriting.y.astype(int)

plain = LogisticRegression(max_iter=1000).fit(scans.X, scans.y.astype(int)).predict(handwriting.X)
found = infer_shared(l2t.Domain(handwriting.X), scans)
labels = found.predict(handwriting.X).astype(int)
print(found.used)

figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for axes, name, some in zip(
    panels, ("logistic regression on the scans", "L2T"), (plain, labels), strict=True
):
    ConfusionMatrixDisplay.from_predictions(truth, some, ax=axes, colorbar=False)
    axes.set_title(f"{name}: {np.mean(some == truth):.1%} right")
    print(axes.get_title())
plt.show()
