"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from l2t.interfaces.cli.formats import Format

__all__ = [
    "As",
    "Components",
    "DataDirectory",
    "Jobs",
    "Label",
    "Labeled",
    "Labels",
    "Normalize",
    "OutDirectory",
    "Plot",
    "Reflection",
    "Seed",
    "StoreUrl",
    "WorkDirectory",
]

StoreUrl = Annotated[
    str,
    typer.Argument(metavar="STORE", help="A file such as experiences.db, or postgresql://..."),
]
Label = Annotated[
    str | None,
    typer.Option(help="The label column (csv, parquet) or array (npz, mat) of both files."),
]
Labeled = Annotated[
    str | None,
    typer.Option(help="The target's column that says which labels you have (0/1); these may vote."),
]
Labels = Annotated[
    int | None, typer.Option(min=1, help="How many target labels you have or will have.")
]
Normalize = Annotated[str, typer.Option(help="rows, zscore or none.")]
Components = Annotated[int | None, typer.Option(min=1, help="Columns of W, at most.")]
Reflection = Annotated[
    str, typer.Option(help="A reflection function: a JSON file, or default, which ships.")
]
Seed = Annotated[int, typer.Option(min=0, help="The seed of everything.")]
As = Annotated[Format, typer.Option("--format", help="How results are printed.")]
Plot = Annotated[Path | None, typer.Option(help="Draw to this file (.png, .svg or .pdf).")]
DataDirectory = Annotated[
    Path, typer.Option(envvar="L2T_DATA", help="Directory with the data sets, one folder each.")
]
OutDirectory = Annotated[Path, typer.Option(help="Directory for the table.")]
WorkDirectory = Annotated[
    Path, typer.Option(help="Directory for experiences; what is there is not done again.")
]
Jobs = Annotated[int, typer.Option(help="Local processes; -1 for all cores.")]
