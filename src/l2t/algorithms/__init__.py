"""The algorithms: each finds a latent factor matrix W for a pair of domains.

>>> names()[:8]
('tca', 'itl', 'cmf', 'lsdt', 'stl', 'dip', 'sie', 'gfk')
"""

import warnings
from typing import Any

from l2t.algorithms.alignment import CORAL, SubspaceAlignment
from l2t.algorithms.base import Algorithm, BaseAlgorithm, Diagnostics, LatentFactors, parameter
from l2t.algorithms.classes import Classes, ClassesSpectrum
from l2t.algorithms.cmf import CMF
from l2t.algorithms.dip import DIP
from l2t.algorithms.gfk import GFK
from l2t.algorithms.identity import NO_TRANSFER, Identity
from l2t.algorithms.itl import ITL
from l2t.algorithms.jda import JDA
from l2t.algorithms.lsdt import LSDT
from l2t.algorithms.registry import PAPER, make, make_all, names, traits_by_name
from l2t.algorithms.sie import SIE
from l2t.algorithms.spectrum import Spectrum
from l2t.algorithms.stl import STL
from l2t.algorithms.tca import TCA
from l2t.algorithms.traits import Traits

__all__ = ["CMF", "CORAL", "DIP", "GFK", "ITL", "JDA", "LSDT", "NO_TRANSFER", "PAPER", "SIE"]
__all__ += ["STL", "TCA", "Algorithm", "BaseAlgorithm", "Classes", "ClassesSpectrum"]
__all__ += ["Diagnostics", "Identity", "LatentFactors", "Spectrum"]
__all__ += ["SubspaceAlignment", "Traits", "make", "make_all", "names", "parameter"]
__all__ += ["traits_by_name"]


def __getattr__(name: str) -> Any:
    """Return the deprecated `SHARED`, the algorithms for shared classes; it goes in 0.4."""
    if name != "SHARED":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "l2t.algorithms.SHARED is deprecated; use Traits.of(algorithm).for_shared_classes",
        FutureWarning,
        stacklevel=2,
    )
    return tuple(name for name in names() if traits_by_name(name).for_shared_classes)
