"""Measurements on real data: what the tables and figures show, apart from how they are drawn."""

from __future__ import annotations

from l2t.experiments.base_ratios import BaseRatios, measure_base_ratios
from l2t.experiments.office_caltech import OfficeCaltech, measure_office_caltech

__all__ = ["BaseRatios", "OfficeCaltech", "measure_base_ratios", "measure_office_caltech"]
