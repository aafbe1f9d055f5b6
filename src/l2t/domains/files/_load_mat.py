"""A script that writes the variables of a MATLAB file to stdout as npz; on an error it exits with code 2.

It runs in its own process, because scipy may crash on a damaged file, and imports nothing from l2t, to
start fast.
"""

from __future__ import annotations

import sys
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat

_MAX_SECONDS = 300  # of processor time; scipy may not terminate on a damaged file


def main(path: str, most: str) -> None:
    """Read a file and write its arrays to stdout, with at most `most` bytes of memory."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (_MAX_SECONDS, _MAX_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        own = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (own + int(most),) * 2)
    try:
        with Path(path).open("rb") as file:
            found = loadmat(file)
        arrays = {name: _plain(value) for name, value in found.items() if not name.startswith("__")}
    except MemoryError:
        sys.stderr.write(f"needs more memory than half of what is free ({int(most) >> 20} MiB)")
        sys.exit(2)
    except Exception as error:
        reason = str(error).split("\n")[0][:200]
        sys.stderr.write(f"is damaged or not a MATLAB file (save it with -v7): {reason}")
        sys.exit(2)
    with zipfile.ZipFile(sys.stdout.buffer, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _plain(value: Any) -> Any:
    """Return a variable as an array without Python objects; dtype V1 marks one that cannot be converted."""
    if sparse.issparse(value):
        value.check_format(full_check=True)
        return value.toarray()
    if value.dtype != object:
        return value if value.dtype.names is None else np.zeros(1, "V1")
    cells = [cell.ravel().tolist() for cell in value.ravel() if isinstance(cell, np.ndarray)]
    first = [cell[0] if cell else None for cell in cells]
    kinds = {type(cell) for cell in first if cell is not None}
    if len(cells) < value.size or any(len(cell) > 1 for cell in cells):
        return np.zeros(1, "V1")
    if kinds <= {str}:
        return np.array([cell or "" for cell in first], dtype=np.str_)
    if kinds <= {int, float}:
        return np.array([np.nan if cell is None else cell for cell in first], dtype=np.float64)
    return np.zeros(1, "V1")


if __name__ == "__main__":
    main(*sys.argv[1:])
