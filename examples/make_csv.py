"""Make the csv files of the guide: a labelled source, a target with ten labels, and the answers.

The source are scans of three digits, the target handwriting of three other digits, both as 64 numbers a row
as an embedding would give them. Files are written into the current directory.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import l2t


def main(folder: Path = Path()) -> None:
    pair = l2t.PairSampler(l2t.domains.digits(), l2t.domains.mnist(), n_pairs=1)[0]
    answers = [f"digit {y}" for y in pair.target.y]
    ten = set(np.random.default_rng(0).permutation(len(answers))[:10].tolist())
    known = [answer if row in ten else "" for row, answer in enumerate(answers)]
    write(folder / "scans.csv", pair.source.X, [f"digit {y}" for y in pair.source.y])
    write(folder / "handwriting.csv", pair.target.X, known)
    write(folder / "answers.csv", pair.target.X, answers)


def write(path: Path, X: np.ndarray, labels: list[str]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"e{i}" for i in range(X.shape[1])), "digit"])
        writer.writerows([*row, label] for row, label in zip(X.tolist(), labels, strict=True))


if __name__ == "__main__":
    main()
