"""What can go wrong with a store.

::

    L2TError
    └── StoreError                  a store cannot be opened, read or written
        ├── StoreVersionError       it is older or newer than this code
        ├── StoreCorruptError       something in it is damaged
        └── UnknownRunError         (LookupError)  no run has that key
"""

from __future__ import annotations

from l2t.exceptions import L2TError

__all__ = ["StoreCorruptError", "StoreError", "StoreVersionError", "UnknownRunError"]


class StoreError(L2TError):
    """A store cannot be opened, read or written."""


class StoreVersionError(StoreError):
    """A store is older or newer than this code."""


class StoreCorruptError(StoreError):
    """Something in a store, or in a file that should become part of it, is damaged."""


class UnknownRunError(StoreError, LookupError):
    """No run has that key."""
