"""Transfer between two files of your own: read, infer, write the transformed target.

Here the files are written first, from the embedded digits; use your own instead. Both need the same
feature columns. An empty cell in the label column means that the label is not known.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import l2t


def main(folder: Path) -> Path:
    pair = l2t.PairSampler(l2t.domains.digits(), l2t.domains.mnist(), 1, n_classes=5)[0]
    l2t.write_domain(pair.source, folder / "source.csv", label="digit")
    known = np.arange(len(pair.target)) % 10 == 0  # few target labels are known
    labels = np.where(known, pair.target.y, None)
    l2t.write_domain(l2t.Domain(pair.target.X, labels), folder / "target.csv", label="digit")

    source = l2t.normalize(l2t.read_domain(folder / "source.csv", label="digit"))
    target = l2t.normalize(l2t.read_domain(folder / "target.csv", label="digit", labeled="labeled"))
    choice = l2t.infer(l2t.DomainPair(source, target))
    print(choice, choice.reason, sep="\n")

    transformed = target.with_features(choice.transform(target), name="target, transformed")
    print(transformed)
    return l2t.write_domain(transformed, folder / "target_z.csv", label="digit")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
