"""Shared classes: classifiers of the target that are trained on the source's labels."""

from l2t.inference.shared.inference import SharedInference, as_inference, infer_shared
from l2t.inference.shared.rows import Combination

__all__ = ["Combination", "SharedInference", "as_inference", "infer_shared"]
