"""Every name in an `__all__` exists, and the package changes nothing when it is imported."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import l2t

MODULES = ["l2t", *(module.name for module in pkgutil.walk_packages(l2t.__path__, "l2t."))]


def test_all_names_exist_once():
    for name in MODULES:
        module = importlib.import_module(name)
        public = getattr(module, "__all__", [])
        assert len(set(public)) == len(public), name
        for each in public:
            assert hasattr(module, each), f"{name}.{each}"


def test_import_changes_nothing_global():
    code = """
import numpy, sklearn, warnings
before = (sklearn.get_config(), numpy.geterr(), numpy.get_printoptions(), list(warnings.filters))
import l2t
after = (sklearn.get_config(), numpy.geterr(), numpy.get_printoptions(), list(warnings.filters))
assert before == after, (before, after)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_names_that_the_documentation_shows_are_public():
    shown = "Domain DomainPair KernelBank KnownClasses ReflectionFunction Agent L2TTransformer L2TClassifier "
    shown += "pair_statistics open_store collect learn load_reflection infer rank_sources predict prepare"
    assert set(shown.split()) <= set(l2t.__all__)
    assert callable(l2t.algorithms.make)
    assert callable(l2t.algorithms.names)
    assert callable(l2t.inference.Objective)
    assert callable(l2t.testing.check_algorithm)
    assert callable(l2t.KnownClasses.of)
