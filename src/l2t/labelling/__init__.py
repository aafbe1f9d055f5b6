"""Labelling: which rows of a target to label next, labels that are never lost, and what they bring."""

from __future__ import annotations

from l2t.labelling.curve import Estimate
from l2t.labelling.file import LabelFile, Record
from l2t.labelling.session import LabellingSession, PredictionUpdate, Progress

__all__ = ["Estimate", "LabelFile", "LabellingSession", "PredictionUpdate", "Progress", "Record"]
