"""The command that measures speed: bench."""

from __future__ import annotations

from l2t.interfaces.cli.commands.app import app
from l2t.interfaces.cli.commands.options import As, Quiet
from l2t.interfaces.cli.formats import Format


@app.command(short_help="How fast L2T is on this machine, as ratios.")
def bench(format: As = Format.table, quiet: Quiet = False) -> None:
    """Measure how fast L2T is on this machine, against plain forms and against what cannot be avoided.

    Each part is timed beside the same computation written down plainly, which must give the same result, and
    beside the floor: the products and exponentials that nobody can leave out. Ratios vary less from machine
    to machine than seconds do; let nothing else run meanwhile. Takes less than a minute.
    """
    from l2t.interfaces.cli.bench import run_bench

    run_bench(format, quiet=quiet)
