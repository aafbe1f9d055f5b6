"""Small files and functions, so that each can be read at once."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import l2t

FILES = sorted(Path(l2t.__file__).parent.rglob("*.py"))


def lines_of(node):
    """Return the lines of a function without those of its docstring."""
    first = node.body[0]
    documented = ast.get_docstring(node) is not None
    return node.end_lineno - node.lineno + 1 - documented * (first.end_lineno - first.lineno + 1)


def test_functions_have_at_most_60_lines():
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert lines_of(node) <= 60, f"{path.name}: {node.name}"


def test_files_are_small_and_so_is_the_store():
    sizes = {path: path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert statistics.median(sizes.values()) < 150
    assert sum(size for path, size in sizes.items() if "store" in path.parts) <= 1800
