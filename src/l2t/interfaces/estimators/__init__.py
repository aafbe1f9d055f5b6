"""scikit-learn estimators: a transformer, and a classifier that is trained on labelled target rows.

`sample_domain` follows skada: above 0 for source rows, each number a source; below 0 for target rows; by
keyword. Without it, X is used as both domains. A target label of -1, NaN or None means that the row is not
labelled.

Pipelines and searches of scikit-learn pass on `sample_domain` after
``sklearn.set_config(enable_metadata_routing=True)``, which you have to call; `fit` requests it by default.
"""

from __future__ import annotations

from l2t.interfaces.estimators.classifier import L2TClassifier
from l2t.interfaces.estimators.stacking import stack_domains
from l2t.interfaces.estimators.transformer import L2TTransformer

__all__ = ["L2TClassifier", "L2TTransformer", "stack_domains"]
