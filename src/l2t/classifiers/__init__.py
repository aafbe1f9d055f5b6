"""Classifiers, and the features that they are trained on, kept as plain arrays."""

from l2t.classifiers.classifiers import CLASSIFIERS, Classifier, Head, TrainingSet, fit_head
from l2t.classifiers.feature_map import FeatureMap
from l2t.classifiers.trees import TreeHead

__all__ = ["CLASSIFIERS", "Classifier", "FeatureMap", "Head", "TrainingSet", "TreeHead", "fit_head"]
