"""Prediction: the class of every row of a target, the accuracy to expect, and a model for further rows."""

from __future__ import annotations

from l2t.classifiers.classifiers import CLASSIFIERS
from l2t.prediction.model import Model
from l2t.prediction.model_file import load_model
from l2t.prediction.prediction import predict
from l2t.prediction.report import Report, ReportRow
from l2t.prediction.result import Prediction
from l2t.prediction.streaming import DatasetPrediction, predict_dataset

__all__ = ["CLASSIFIERS", "DatasetPrediction", "Model", "Prediction", "Report", "ReportRow"]
__all__ += ["load_model", "predict", "predict_dataset"]
