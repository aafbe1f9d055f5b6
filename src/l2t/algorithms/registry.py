"""Algorithms by name: the eight of the paper, L2T's own, three for shared classes, and plug-ins.

A package registers an algorithm in the entry point group ``l2t.algorithms``::

    [project.entry-points."l2t.algorithms"]
    mida = "my_package:MIDA"

where ``MIDA(**params)`` returns an object with `name`, `fit(pair) -> LatentFactors` and `params`; it should
accept `n_components` and `random_state`. What it has in common with some of the built-in algorithms it
declares as attributes: ``uses_source = False``, for example (`Traits` has all of them, with the defaults of
those not declared). ``l2t.testing.check_algorithm`` tests whether it implements the interface, and has the
traits that it declares.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points

from l2t.algorithms.alignment import CORAL, SubspaceAlignment
from l2t.algorithms.base import Algorithm
from l2t.algorithms.classes import Classes, ClassesSpectrum
from l2t.algorithms.cmf import CMF
from l2t.algorithms.dip import DIP
from l2t.algorithms.gfk import GFK
from l2t.algorithms.identity import Identity
from l2t.algorithms.itl import ITL
from l2t.algorithms.jda import JDA
from l2t.algorithms.lsdt import LSDT
from l2t.algorithms.sie import SIE
from l2t.algorithms.spectrum import Spectrum
from l2t.algorithms.stl import STL
from l2t.algorithms.tca import TCA
from l2t.algorithms.traits import Traits
from l2t.exceptions import InvalidInputError, UnknownAlgorithmError

#: The eight base algorithms of the paper.
PAPER = ("tca", "itl", "cmf", "lsdt", "stl", "dip", "sie", "gfk")

GROUP = "l2t.algorithms"
BUILT_IN: dict[str, Callable[..., Algorithm]] = {
    cls.name: cls
    for cls in (
        *(TCA, ITL, CMF, LSDT, STL, DIP, SIE, GFK),
        *(Identity, Spectrum, Classes, ClassesSpectrum),
        *(CORAL, SubspaceAlignment, JDA),
    )
}


def names() -> tuple[str, ...]:
    """Return the names of all algorithms: the paper's, L2T's own, those for shared classes, plug-ins.

    Returns
    -------
    tuple of str
    """
    return (*BUILT_IN, *sorted(_plugins()))


def make(name: str, **params: object) -> Algorithm:
    """Return a new algorithm by name.

    Parameters
    ----------
    name : str
        One of `names`; case is ignored.
    **params
        Its hyper-parameters, such as `n_components` (default 20) and `random_state`.

    Returns
    -------
    Algorithm

    Raises
    ------
    UnknownAlgorithmError
        There is no algorithm of this name.
    InvalidInputError
        The algorithm does not accept a parameter.

    Examples
    --------
    >>> make("gfk", n_components=10)
    GFK(n_components=10, random_state=0)
    """
    factory = _factory(name)
    accepted = inspect.signature(factory).parameters
    unknown = [parameter for parameter in params if not _accepts(factory, parameter)]
    if unknown:
        raise InvalidInputError(
            f"{name.lower()} accepts the parameters {', '.join(accepted)}, got {', '.join(unknown)}"
        )
    return factory(**params)


def _factory(name: str) -> Callable[..., Algorithm]:
    key = str(name).lower()
    if key in BUILT_IN:
        return BUILT_IN[key]
    plugins = _plugins()  # slow: reads the metadata of every installed package
    if key not in plugins and ">" in key:
        raise UnknownAlgorithmError(
            f"chains of algorithms, such as {name!r}, were removed in 0.3, because they did not improve "
            "predictions"
        )
    if key not in plugins:
        raise UnknownAlgorithmError(
            f"there is no algorithm {name!r}; choose from {', '.join((*BUILT_IN, *sorted(plugins)))}"
        )
    factory: Callable[..., Algorithm] = plugins[key].load()
    return factory


@lru_cache(maxsize=1024)  # a name that is not built in takes a search of all installed packages
def traits_by_name(name: str) -> Traits:
    """Return the traits of an algorithm of which only the name is known, such as that of a stored run.

    Parameters
    ----------
    name : str
        The name, as in `Algorithm.name`.

    Returns
    -------
    Traits
        The defaults if no algorithm has this name, or its plug-in cannot be imported.

    Examples
    --------
    >>> traits_by_name("spectrum").uses_source, traits_by_name("a matrix of mine").uses_source
    (False, True)
    """
    if name not in BUILT_IN and name.lower() not in _plugins():
        return Traits()
    try:
        return Traits.of(make(name))
    except (ImportError, AttributeError):
        return Traits()


def _accepts(factory: Callable[..., Algorithm], parameter: str) -> bool:
    accepted = inspect.signature(factory).parameters
    kinds = {declared.kind for declared in accepted.values()}
    return parameter in accepted or inspect.Parameter.VAR_KEYWORD in kinds


def make_all(
    parameter: str, wanted: str | Algorithm | Iterable[str | Algorithm], **params: object
) -> tuple[Algorithm, ...]:
    """Return one or more algorithms, given as names or objects.

    Parameters
    ----------
    parameter : str
        The name of the caller's parameter, for error messages.
    wanted : str, Algorithm or iterable of them
        "all" stands for every algorithm except those for shared classes.
    **params
        Hyper-parameters of those given by name; None, and what an algorithm does not accept, is ignored.

    Returns
    -------
    tuple of Algorithm
    """
    chosen = {key: value for key, value in params.items() if value is not None}
    if isinstance(wanted, str) and wanted == "all":
        every = (_make_with(name, chosen) for name in names())
        wanted = [algorithm for algorithm in every if not Traits.of(algorithm).for_shared_classes]
    if isinstance(wanted, str | Algorithm) or not isinstance(wanted, Iterable):
        wanted = [wanted]
    made = [
        _make_with(algorithm, chosen) if isinstance(algorithm, str) else algorithm
        for algorithm in wanted
    ]
    for algorithm in made:
        if not isinstance(algorithm, Algorithm):
            kind = type(algorithm).__name__
            raise InvalidInputError(f"{parameter} must be names or algorithms, got {kind}")
    return tuple(made)


def _make_with(name: str, params: dict[str, object]) -> Algorithm:
    factory = _factory(name)
    return make(name, **{key: value for key, value in params.items() if _accepts(factory, key)})


def _plugins() -> dict[str, EntryPoint]:
    """Return the plug-ins by name; they cannot replace built-in algorithms."""
    plugins = {entry.name.lower(): entry for entry in entry_points(group=GROUP)}
    return {name: entry for name, entry in plugins.items() if name not in BUILT_IN}
