"""Write the csv files of the tutorial: a labelled source, a target with ten labels, and all its labels.

The source has scans of seven digits, the target handwriting of the other three, both with 64 features per
row, like an embedding. The files are written into the current directory.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

import l2t


def main(folder: Path = Path()) -> None:
    scans = l2t.domains.digits()
    target = l2t.PairSampler(scans, l2t.domains.mnist(), n_pairs=1)[0].target
    source = scans.take(~np.isin(scans.y, target.y))
    answers = [f"digit {y}" for y in target.y]
    ten = set(np.random.default_rng(0).permutation(len(answers))[:10].tolist())
    known = [answer if row in ten else "" for row, answer in enumerate(answers)]
    write(folder / "scans.csv", source.X, [f"digit {y}" for y in source.y])
    write(folder / "handwriting.csv", target.X, known)
    write(folder / "answers.csv", target.X, answers)


def write(path: Path, X: np.ndarray, labels: list[str]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"e{i}" for i in range(X.shape[1])), "digit"])
        writer.writerows([*row, label] for row, label in zip(X.tolist(), labels, strict=True))


if __name__ == "__main__":
    main()
