"""A local web page on an experience store: see what was learned, try a transfer in the browser.

::

    browser --safety--> pages (templates, static)
            --safety--> routes (JSON) --> store, functions, jobs --> worker processes
"""

from __future__ import annotations

from l2t.interfaces.dashboard.app import create_app
from l2t.interfaces.dashboard.server import serve
from l2t.interfaces.dashboard.settings import Settings

__all__ = ["Settings", "create_app", "serve"]
