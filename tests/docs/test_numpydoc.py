"""The docstrings of what the reference documents: every parameter with its default, and what is returned."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
SECTION = r"{}\n-+\n(.*?)(?=\n\n[A-Z][^\n]*\n-+\n|\Z)"


def found(path):
    """Return the object of a dotted path."""
    module, rest = path, []
    while True:
        try:
            thing = importlib.import_module(module)
            break
        except ImportError:
            module, _, name = module.rpartition(".")
            rest.insert(0, name)
    for name in rest:
        thing = getattr(thing, name)
    return thing


def documented():
    """Yield the classes and functions of the reference, and methods that document their parameters."""
    for path in re.findall(r"^::: (\S+)$", REFERENCE.read_text(), re.MULTILINE):
        thing = found(path)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            yield pytest.param(thing, id=path)
        for name, method in vars(thing).items() if inspect.isclass(thing) else ():
            public = inspect.isfunction(method) and not name.startswith("_")
            if public and "Parameters\n" in (inspect.getdoc(method) or ""):
                yield pytest.param(method, id=f"{path}.{name}")


def entries(text):
    """Return the first lines of a section's entries by name: "a, b : int, default=0" are two."""
    lines = (line for line in text.split("\n") if line and not line.startswith(" "))
    parts = (line.partition(" : ") for line in lines)
    return {name.strip(" *"): kind for names, _, kind in parts for name in names.split(",")}


@pytest.mark.parametrize("thing", list(documented()))
def test_parameters_have_defaults_and_functions_say_what_they_return(thing):
    text = inspect.getdoc(thing)
    parameters = inspect.signature(thing).parameters.values()
    named = [each for each in parameters if each.name != "self" and each.kind < each.VAR_KEYWORD]
    section = re.search(SECTION.format("Parameters"), text, re.DOTALL)
    if section is None:
        assert inspect.isclass(thing) or not named, "a function describes its parameters"
        return
    kinds = entries(section[1])
    for each in named:
        assert each.name in kinds
        if each.default not in (each.empty, None) and kinds[each.name]:  # else "as for" another
            assert "default" in kinds[each.name], each.name
    if not inspect.isclass(thing):
        returns = inspect.signature(thing).return_annotation not in (None, "None")
        assert bool(re.search(r"^(Returns|Yields)\n", text, re.MULTILINE)) == returns
