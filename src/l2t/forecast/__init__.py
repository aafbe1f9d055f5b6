"""The forecast: the improvement ratio to expect of each candidate."""

from l2t.forecast.forecast import Expectation, Forecast, MetaFeatures
from l2t.forecast.refinement import OwnRatios, refine
from l2t.forecast.reliability import ErrorQuantiles, Familiarity, Reliability

__all__ = ["ErrorQuantiles", "Expectation", "Familiarity", "Forecast", "MetaFeatures"]
__all__ += ["OwnRatios", "Reliability", "refine"]
