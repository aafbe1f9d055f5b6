"""scikit-learn estimators: a transformer, and a classifier that trains on the right rows.

`sample_domain` follows skada: above 0 for source rows, below 0 for target rows, by keyword. Where it is left
out, X stands for both domains. A target label of -1, NaN or None means that the row is not labelled.

Pipelines and searches of scikit-learn pass `sample_domain` on under
``sklearn.set_config(enable_metadata_routing=True)``, which is yours to call; `fit` asks for it by default.
"""

from __future__ import annotations

from l2t.interfaces.estimators.classifier import L2TClassifier
from l2t.interfaces.estimators.stacking import stack_domains
from l2t.interfaces.estimators.transformer import L2TTransformer

__all__ = ["L2TClassifier", "L2TTransformer", "stack_domains"]
