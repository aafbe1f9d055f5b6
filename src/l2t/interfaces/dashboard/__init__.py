"""The dashboard: a local web server to predict in the browser and to inspect an experience store.

::

    browser --safety--> pages (templates, static)
            --safety--> routes (JSON) --> store, functions, jobs --> worker processes

This module imports nothing, so that a worker process does not import the server.
"""

from __future__ import annotations
