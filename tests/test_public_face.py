"""Every name in an `__all__` exists, and the package changes nothing when it is imported."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import l2t

#: Former names of modules, with a module of each that users may have imported from.
DEPRECATED = {"l2t.reflection": "plan", "l2t.inference.paper": "search"}
PACKAGE = ["l2t", *(module.name for module in pkgutil.walk_packages(l2t.__path__, "l2t."))]
MODULES = [name for name in PACKAGE if name not in DEPRECATED]


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
import pytest

import l2t
after = (sklearn.get_config(), numpy.geterr(), numpy.get_printoptions(), list(warnings.filters))
assert before == after, (before, after)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_help_does_not_wait_for_numpy():
    code = """
import sys
import l2t.interfaces.cli.commands.app
assert "numpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_deprecated_modules_warn_and_hold_the_same_objects():
    """In a new process, because a module gives its warning once."""
    code = """
import sys, warnings
import l2t.interfaces.cli.commands.app, l2t.interfaces.estimators, l2t.agent, l2t.plots

assert callable(l2t.inference.Objective)
assert callable(l2t.inference.Search)
"""
    for name, module in DEPRECATED.items():
        code += f"""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import {name} as old
    import {name}.{module}
(warning,) = caught
assert warning.category is FutureWarning
assert "l2t.paper" in str(warning.message)
assert warning.filename == "<string>", warning.filename
assert all(getattr(old, public) is getattr(l2t.paper, public) for public in old.__all__)
assert sys.modules["{name}.{module}"] is sys.modules["l2t.paper.{module}"]
"""
    command = [sys.executable, "-W", "error::FutureWarning", "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_names_that_the_documentation_shows_are_public():
    shown = "Domain DomainPair KernelBank KnownClasses ReflectionFunction Agent L2TTransformer L2TClassifier "
    shown += "pair_statistics open_store collect learn load_reflection infer rank_sources predict prepare"
    assert set(shown.split()) <= set(l2t.__all__)
    assert callable(l2t.algorithms.make)
    assert callable(l2t.algorithms.names)
    assert callable(l2t.inference.Objective)
    assert callable(l2t.testing.check_algorithm)
    assert callable(l2t.KnownClasses.of)


@pytest.mark.integration
def test_arrays_are_predicted_without_what_stores_and_terminals_need():
    """scikit-learn itself may import rich, where it is installed."""
    code = """
import sys
from pathlib import Path
for name in ("sqlalchemy", "alembic", "rich", "typer"):
    sys.modules[name] = None  # importing it is an error
import numpy as np
import pytest

import l2t
rng = np.random.default_rng(0)
y = np.arange(24) % 2
X = 3 * rng.normal(size=(2, 4))[y] + rng.normal(size=(24, 4))
labels = np.where(np.arange(24) < 8, y, -1)
l2t.predict((X, y), (X + rng.normal(size=X.shape), labels))
l2t.predict((X, y + 2), (X + rng.normal(size=X.shape), labels))
l2t.L2TClassifier().fit(np.vstack([X, X]), np.r_[y, y], sample_domain=np.repeat([1, -1], 24))
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_package_imports_a_private_module_of_another():
    root = Path(l2t.__file__).parent
    private = re.compile(r"from (l2t(?:\.\w+)*)\.(_\w+)(?:\.\w+)* import")
    foreign = [
        f"{path.relative_to(root)}: {found.group(0)}"
        for path in root.rglob("*.py")
        for found in private.finditer(path.read_text())
        if found.group(2) != "_version"
        and f"l2t.{'.'.join(path.relative_to(root).parent.parts)}".rstrip(".") != found.group(1)
    ]
    assert foreign == []
