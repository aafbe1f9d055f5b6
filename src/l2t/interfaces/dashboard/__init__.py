"""A local web page on an experience store: see what was learned, try a transfer in the browser.

::

    browser --safety--> pages (templates, static)
            --safety--> routes (JSON) --> store, functions, jobs --> worker processes

Nothing is imported here, so that a worker process does not import the server.
"""

from __future__ import annotations
