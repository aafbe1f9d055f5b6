"""The exceptions and warnings of this package, as a tree.

::

    Exception
    └── L2TError                    everything this package raises on purpose
        ├── InvalidInputError       (ValueError)   a parameter is invalid
        ├── FileFormatError         (ValueError)   a file is invalid or cannot be read
        │   └── MissingColumnError  it has no column or array of that name
        ├── UnknownAlgorithmError   (LookupError)  no algorithm has that name
        ├── MissingExtraError       (ImportError)  an optional dependency is not installed
        └── StoreError              a store cannot be opened, read or written
            ├── StoreVersionError   it was written by an older or newer version
            ├── StoreCorruptError   a part of it is damaged
            ├── UnknownRunError     (LookupError)  no run has that key
            └── UnknownSuggestionError  (LookupError)  no suggestion has that id

    UserWarning
    └── L2TWarning                  an input or a parameter was adjusted

Every message is one sentence that names the parameter, the rule and the value received.
"""

from __future__ import annotations

__all__ = ["FileFormatError", "InvalidInputError", "L2TError", "L2TWarning"]
__all__ += ["MissingColumnError", "MissingExtraError", "StoreCorruptError", "StoreError"]
__all__ += ["StoreVersionError", "UnknownAlgorithmError", "UnknownRunError"]
__all__ += ["UnknownSuggestionError"]


class L2TError(Exception):
    """Base class of all errors that this package raises on purpose."""


class InvalidInputError(L2TError, ValueError):
    """A parameter is invalid."""


class FileFormatError(L2TError, ValueError):
    """A file is invalid or cannot be read."""


class MissingColumnError(FileFormatError):
    """A file has no column or array of the given name."""


class UnknownAlgorithmError(L2TError, LookupError):
    """No algorithm, built in or from a plug-in, has the given name."""


class MissingExtraError(L2TError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, need: str, extra: str) -> None:
        super().__init__(f"{need} needs an optional package: pip install 'l2t[{extra}]'")


class StoreError(L2TError):
    """A store cannot be opened, read or written."""


class StoreVersionError(StoreError):
    """A store was written by an older or newer version of this package."""


class StoreCorruptError(StoreError):
    """A part of a store, or of a file to be added to it, is damaged."""


class UnknownRunError(StoreError, LookupError):
    """No run has the given key."""


class UnknownSuggestionError(StoreError, LookupError):
    """No suggestion of the agent has the given id."""


class L2TWarning(UserWarning):
    """An input or a parameter was adjusted."""
