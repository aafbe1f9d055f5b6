"""
Shared classes: the same ten digits, scanned and in handwriting, and no label in the target
===========================================================================================

If source and target have the same classes, no target label is needed. Classifiers on several adapted features
are trained on the source and vote; the report names them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay

import l2t

rng = np.random.default_rng(0)
scans, handwriting = (
    l2t.normalize(domain.take(rng.permutation(len(domain))[:500]))
    for domain in (l2t.domains.digits(), l2t.domains.mnist())
)
truth = handwriting.y.astype(int)

plain = LogisticRegression(max_iter=1000).fit(scans.X, scans.y.astype(int)).predict(handwriting.X)
answer = l2t.predict(scans, l2t.Domain(handwriting.X))
labels = answer.labels.astype(int)
print(answer.report)

figure, panels = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
for axes, name, some in zip(
    panels, ("logistic regression on the scans", "L2T"), (plain, labels), strict=True
):
    ConfusionMatrixDisplay.from_predictions(truth, some, ax=axes, colorbar=False)
    axes.set_title(f"{name}: {np.mean(some == truth):.1%} right")
    print(axes.get_title())
plt.show()
