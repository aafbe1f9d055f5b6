"""What can go wrong, as a tree.

::

    Exception
    └── L2TError                    everything this package raises on purpose
        ├── InvalidInputError       (ValueError)   a parameter breaks its rule
        ├── FileFormatError         (ValueError)   a file is not what it should be
        │   └── MissingColumnError  it has no column or array of that name
        ├── UnknownAlgorithmError   (LookupError)  no algorithm has that name
        ├── MissingExtraError       (ImportError)  an optional dependency is absent
        └── StoreError              a store cannot be opened, read or written
            ├── StoreVersionError   it is older or newer than this code
            ├── StoreCorruptError   something in it is damaged
            ├── UnknownRunError     (LookupError)  no run has that key
            └── UnknownSuggestionError  (LookupError)  no suggestion has that id

    UserWarning
    └── L2TWarning                  something was adjusted, and the result says so

Every message is one sentence that names the parameter, the rule and the value received.
"""

from __future__ import annotations

__all__ = ["FileFormatError", "InvalidInputError", "L2TError", "L2TWarning"]
__all__ += ["MissingColumnError", "MissingExtraError", "StoreCorruptError", "StoreError"]
__all__ += ["StoreVersionError", "UnknownAlgorithmError", "UnknownRunError"]
__all__ += ["UnknownSuggestionError"]


class L2TError(Exception):
    """Base of everything this package raises on purpose."""


class InvalidInputError(L2TError, ValueError):
    """A parameter breaks its rule."""


class FileFormatError(L2TError, ValueError):
    """A file cannot be read as the domain it should hold."""


class MissingColumnError(FileFormatError):
    """A file has no column or array of the name that was asked for."""


class UnknownAlgorithmError(L2TError, LookupError):
    """No built-in or plugged-in algorithm has that name."""


class MissingExtraError(L2TError, ImportError):
    """An optional dependency is absent."""

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(f"{need} needs an optional package: pip install 'l2t[{extra}]'")


class StoreError(L2TError):
    """A store cannot be opened, read or written."""


class StoreVersionError(StoreError):
    """A store is older or newer than this code."""


class StoreCorruptError(StoreError):
    """Something in a store, or in a file that should become part of it, is damaged."""


class UnknownRunError(StoreError, LookupError):
    """No run has that key."""


class UnknownSuggestionError(StoreError, LookupError):
    """No suggestion of the agent has that id."""


class L2TWarning(UserWarning):
    """Something was adjusted, and the result says so."""
