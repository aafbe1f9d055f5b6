"""The docstrings of what the reference documents pass numpydoc's own validation."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from numpydoc.validate import Validator, validate

pytestmark = pytest.mark.docs

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
#: Written where they help: See Also, an extended summary, examples, and what a type does not say of a result.
#: Allowed: ``self : Estimator``, as in scikit-learn, and descriptions that begin with a symbol or "csv".
OPTIONAL = {"SA01", "ES01", "EX01", "RT03"} | {"RT02", "PR08", "RT04"}


def documented():
    """Yield the names of the reference and of the methods of its classes."""
    for name in re.findall(r"^   (l2t\.\S+)$", REFERENCE.read_text(), re.MULTILINE):
        yield name
        thing = Validator._load_obj(name)
        if inspect.isclass(thing):
            for method, function in vars(thing).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{name}.{method}"


@pytest.mark.parametrize("name", list(documented()))
def test_the_docstring_is_valid(name):
    report = validate(name)
    owner = Validator._load_obj(name.rpartition(".")[0])
    optional = set(OPTIONAL)
    if "Parameters\n" not in report["docstring"]:
        if inspect.isclass(owner):
            optional |= {"PR01", "RT01"}  # one sentence names what the method takes and returns
        elif inspect.isclass(Validator._load_obj(name)):
            optional |= {"PR01"}  # a result, which users do not construct
    assert [error for error in report["errors"] if error[0] not in optional] == []
