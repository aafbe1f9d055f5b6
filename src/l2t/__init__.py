"""Learning to Transfer: predict classes where labels are few, with a labelled source.

::

    files, frames, arrays --> Domain --predict--> Prediction (classes, accuracy to expect, Model)
                                     --infer----> Inference (what to transfer: a matrix W, or nothing)
    DomainPair --collect--> ExperienceStore --learn--> ReflectionFunction --paper.search--> W

`l2t.paper` is the system of Wei, Zhang and Yang, *Learning to Transfer* (2017).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from l2t._version import __version__

if TYPE_CHECKING:
    from l2t import (
        agent,
        algorithms,
        domains,
        exceptions,
        experiences,
        forecast,
        inference,
        labelling,
        paper,
        prediction,
        testing,
    )
    from l2t.agent import Agent, Suggestion
    from l2t.display import show
    from l2t.domains import (
        Domain,
        DomainPair,
        KnownClasses,
        PairSampler,
        Preparation,
        normalize,
        prepare,
        read_domain,
        read_domains,
        write_domain,
    )
    from l2t.experiences import ExperienceStore, collect, evaluate, open_store
    from l2t.inference import Inference, infer, rank_sources
    from l2t.interfaces.estimators import L2TClassifier, L2TTransformer, stack_domains
    from l2t.interfaces.serving import label
    from l2t.paper import ReflectionFunction, learn, load_reflection
    from l2t.prediction import Model, Prediction, load_model, predict
    from l2t.statistics import KernelBank, PairStatistics, pair_statistics

__all__ = ["Agent", "Domain", "DomainPair", "ExperienceStore", "Inference", "KernelBank"]
__all__ += ["KnownClasses", "L2TClassifier", "L2TTransformer", "Model", "PairSampler"]
__all__ += ["PairStatistics"]
__all__ += ["Prediction", "Preparation", "ReflectionFunction", "Suggestion", "__version__"]
__all__ += ["agent", "algorithms", "collect", "domains", "evaluate", "exceptions", "experiences"]
__all__ += [
    "forecast",
    "infer",
    "inference",
    "label",
    "labelling",
    "learn",
    "load_model",
    "load_reflection",
]
__all__ += ["normalize", "open_store", "pair_statistics", "paper", "predict", "prediction"]
__all__ += ["prepare", "rank_sources", "read_domain", "read_domains", "show", "stack_domains"]
__all__ += ["testing", "write_domain"]

#: Modules that give a warning when they are used.
_DEPRECATED = ("reflection",)

#: Where public names live; those of `__all__` that are not here are modules.
_HOMES = {
    "l2t.agent": "Agent Suggestion",
    "l2t.display": "show",
    "l2t.domains": "Domain DomainPair KnownClasses PairSampler Preparation normalize prepare "
    "read_domain read_domains write_domain",
    "l2t.experiences": "ExperienceStore collect evaluate open_store",
    "l2t.inference": "Inference infer rank_sources",
    "l2t.interfaces.estimators": "L2TClassifier L2TTransformer stack_domains",
    "l2t.interfaces.serving": "label",
    "l2t.prediction": "Model Prediction load_model predict",
    "l2t.paper": "ReflectionFunction learn load_reflection",
    "l2t.statistics": "KernelBank PairStatistics pair_statistics",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `l2t --help` need not wait for numpy."""
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(home), name)
    if name in __all__ or name in _DEPRECATED:
        return import_module(f"l2t.{name}")
    raise AttributeError(f"module 'l2t' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
