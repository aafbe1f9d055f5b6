"""Shared classes: source and target have the same classes, and the source's labels are for training."""

from l2t.inference.shared.inference import SharedInference, as_inference, infer_shared
from l2t.inference.shared.task import Combination

__all__ = ["Combination", "SharedInference", "as_inference", "infer_shared"]
