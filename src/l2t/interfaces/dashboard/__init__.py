"""A local web page on an experience store: see what was learned, try a transfer in the browser.

::

    browser --safety--> pages (templates, static)
            --safety--> routes (JSON) --> store, functions, jobs --> worker processes

Nothing is imported here: a worker process is of this package, and should not wait for the server's parts.
"""

from __future__ import annotations
