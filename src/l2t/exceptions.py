"""What can go wrong, as a tree.

::

    Exception
    └── L2TError                    everything this package raises on purpose
        ├── InvalidInputError       (ValueError)   a parameter breaks its rule
        ├── FileFormatError         (ValueError)   a file is not what it should be
        ├── UnknownAlgorithmError   (LookupError)  no algorithm has that name
        └── MissingExtraError       (ImportError)  an optional dependency is absent

    UserWarning
    └── L2TWarning                  something was adjusted, and the result says so

Every message is one sentence that names the parameter, the rule and the value received.
"""

from __future__ import annotations

__all__ = [
    "FileFormatError",
    "InvalidInputError",
    "L2TError",
    "L2TWarning",
    "MissingExtraError",
    "UnknownAlgorithmError",
]


class L2TError(Exception):
    """Base of everything this package raises on purpose."""


class InvalidInputError(L2TError, ValueError):
    """A parameter breaks its rule."""


class FileFormatError(L2TError, ValueError):
    """A file cannot be read as the domain it should hold."""


class UnknownAlgorithmError(L2TError, LookupError):
    """No built-in or plugged-in algorithm has that name."""


class MissingExtraError(L2TError, ImportError):
    """An optional dependency is absent."""

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(f"{need} needs an optional package: pip install 'l2t[{extra}]'")


class L2TWarning(UserWarning):
    """Something was adjusted, and the result says so."""
