"""Traits of an algorithm: what forecasts, rehearsals and choices must know besides its W."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """The traits of an algorithm, which declares them as attributes of the same names.

    Parameters
    ----------
    uses_source : bool, default=True
        Whether the result depends on the rows of the source. Candidates that do not use it show what a target
        gains without any source.
    uses_known_classes : bool, default=False
        Whether it takes labelled known classes, as a dataclass field `known` (`KnownClasses` or None, without
        rows of the target).
    relies_on_neighbours : bool, default=False
        Whether it separates target rows that are not neighbours, as "spectrum" does. Where neighbourhoods do
        not follow the classes, it is expected to do harm, as measured with "spectrum" and "classes+spectrum";
        a graph that only regularises another objective, as in CMF, does not count.
    needs_features : bool, default=False
        Whether a rotation of the features changes the distances of ``X W``. Then it is fitted to the original
        features; others are rehearsed in principal coordinates.
    needs_source_labels : bool, default=False
        Whether it cannot be fitted to a source without labels.
    for_shared_classes : bool, default=False
        Whether it is meant only for source and target with the same classes; "all" leaves it out.

    Examples
    --------
    >>> from l2t.algorithms import CMF
    >>> Traits.of(CMF()).needs_features, Traits.of(CMF()).uses_known_classes
    (True, False)
    """

    uses_source: bool = True
    uses_known_classes: bool = False
    relies_on_neighbours: bool = False
    needs_features: bool = False
    needs_source_labels: bool = False
    for_shared_classes: bool = False

    @classmethod
    def of(cls, algorithm: object) -> Traits:
        """Return the traits that an algorithm declares; the others have their defaults.

        Parameters
        ----------
        algorithm : Algorithm
            The algorithm.

        Returns
        -------
        Traits
        """
        declared = {
            trait.name: bool(getattr(algorithm, trait.name, trait.default))
            for trait in dataclasses.fields(cls)
        }
        # Algorithms written for 0.2 declare no trait, but get known classes by their field `known`.
        if dataclasses.is_dataclass(algorithm) and hasattr(algorithm, "known"):
            declared["uses_known_classes"] = True
        return cls(**declared)
