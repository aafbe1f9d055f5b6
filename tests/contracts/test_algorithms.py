"""Every built-in algorithm keeps the contract that a plug-in must keep."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from l2t import algorithms
from l2t.algorithms import (
    CMF,
    DIP,
    GFK,
    ITL,
    LSDT,
    TCA,
    BaseAlgorithm,
    Classes,
    LatentFactors,
)
from l2t.exceptions import InvalidInputError
from l2t.testing import ALGORITHM_CHECKS, check_algorithm

VARIANTS = {
    **{name: algorithms.registry.BUILT_IN[name] for name in algorithms.names()},
    "tca-rbf": lambda **params: TCA(kernel="rbf", **params),
    "lsdt-linear": lambda **params: LSDT(kernel="linear", **params),
    "dip-polynomial": lambda **params: DIP(kernel="polynomial", **params),
}

EXEMPT = {
    # CMF factors the features themselves: a shift changes what it sees.
    ("cmf", "check_shift_of_both_domains"),
    # Features that are always zero keep their place in a W that is square.
    ("identity", "check_more_features_than_rows"),
    ("classes", "check_more_features_than_rows"),
    # Not to transfer works on any rows; with no row but the target's own, no class is known.
    ("identity", "check_bad_input"),
    ("classes", "check_far_apart_and_equal_domains"),
    ("classes+spectrum", "check_far_apart_and_equal_domains"),
}


@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", VARIANTS)
def test_contract(name, check):
    if (name, check.__name__) in EXEMPT:
        with pytest.raises((AssertionError, InvalidInputError)):
            check(VARIANTS[name])
    else:
        check(VARIANTS[name])


def test_check_algorithm_takes_exemptions():
    check_algorithm(CMF, skip=[check for name, check in EXEMPT if name == "cmf"])
    with pytest.raises(InvalidInputError, match="skip must be names of checks, got check_taste"):
        check_algorithm(GFK, skip=["check_taste"])


class Leaky(GFK):
    """An algorithm that reads target labels: the contract must notice."""

    name = "leaky"

    def _fit(self, pair):
        factors = super()._fit(pair)
        W = factors.W * (1 + float(pair.target.y is None))
        return LatentFactors(W, factors.kind, self.name, factors.diagnostics)


class Restless(GFK):
    """An algorithm whose objective rises."""

    name = "restless"

    def _fit(self, pair):
        factors = super()._fit(pair)
        diagnostics = algorithms.Diagnostics((1.0, 2.0), 1, "progress")
        return LatentFactors(factors.W, factors.kind, self.name, diagnostics)


class Lucky(GFK):
    """An algorithm that draws from the global random state."""

    name = "lucky"

    def _fit(self, pair):
        factors = super()._fit(pair)
        W = factors.W + 1e-9 * np.random.default_rng().normal(size=factors.W.shape)
        return LatentFactors(W, factors.kind, self.name, factors.diagnostics)


class Silent(GFK):
    """An algorithm whose parameters do not show the number of components."""

    name = "silent"
    params = MappingProxyType({})


class Sourceless(GFK):
    """An algorithm that does use the source."""

    name = "sourceless"
    uses_source = False


class Labelless(ITL):
    """An algorithm that does need source labels."""

    name = "labelless"
    needs_source_labels = False


class Labelled(GFK):
    """An algorithm that does not need source labels."""

    name = "labelled"
    needs_source_labels = True


class Rotated(CMF):
    """An algorithm that does need the features."""

    name = "rotated"
    needs_features = False


class Unsure(GFK):
    """An algorithm with a trait that is no boolean."""

    name = "unsure"
    relies_on_neighbours = "perhaps"


class Forgetful(Classes):
    """An algorithm with a field `known` that it does not declare."""

    name = "forgetful"
    uses_known_classes = False


class Ignorant(Classes):
    """An algorithm that does not use its known classes."""

    name = "ignorant"

    def _fit(self, pair):
        return GFK(n_components=3).fit(pair)


class Fieldless(GFK):
    """An algorithm that cannot be given known classes."""

    name = "fieldless"
    uses_known_classes = True


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Sourceless, "check_another_source"),
        (Labelless, "check_source_without_labels"),
        (Labelled, "check_source_without_labels"),
        (Rotated, "check_rotation_of_features"),
        (Unsure, "check_traits"),
        (Forgetful, "check_traits"),
        (Fieldless, "check_traits"),
        (Ignorant, "check_known_classes"),
        (Silent, "check_params"),
        (Leaky, "check_blind_to_target_labels"),
        (Restless, "check_objective_never_rises"),
        (Lucky, "check_deterministic"),
    ],
)
def test_contract_notices(broken, check):
    (named,) = [each for each in ALGORITHM_CHECKS if each.__name__ == check]
    with pytest.raises((AssertionError, InvalidInputError)):
        named(broken)


def test_base_algorithm_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        BaseAlgorithm()
