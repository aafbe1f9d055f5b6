"""Measurements on real data: what the tables and figures show, apart from how they are drawn."""

from __future__ import annotations

from l2t.experiments.office_caltech import OfficeCaltech, measure_office_caltech
from l2t.experiments.prediction import PredictionStudy, measure_prediction
from l2t.experiments.transfer import TransferStudy, measure_transfer

__all__ = [
    "OfficeCaltech",
    "PredictionStudy",
    "TransferStudy",
    "measure_office_caltech",
    "measure_prediction",
    "measure_transfer",
]
