"""The labelling page and the dashboard, opened from Python or the command line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from l2t.display import ANSWERS
from l2t.exceptions import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from l2t.labelling import LabellingSession

_NEEDED = ("fastapi", "starlette", "uvicorn", "jinja2")


def import_dashboard(module: str) -> Any:
    """Return a module of the dashboard, or raise an error that names the extra that it needs."""
    try:
        return import_module(f"l2t.interfaces.dashboard.{module}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise MissingExtraError("the dashboard", "dashboard") from None


def label(
    target: str | os.PathLike[str],
    sources: Sequence[str | os.PathLike[str]] = (),
    *,
    images: str | os.PathLike[str] | None = None,
    port: int = 8765,
    open_browser: bool = True,
    **options: Any,
) -> LabellingSession:
    """Label rows of a file in the browser, those first that help most; serve the page until Ctrl-C.

    Parameters
    ----------
    target : str or path
        The file to label, with labels for some rows or for none. It is not changed: labels are written to
        ``NAME.labels.csv`` beside it, each at once.
    sources : sequence of str or path, default=()
        Labelled files with the same columns.
    images : str or path, optional
        A folder of images: a cell with the path of one of them in this folder is shown as the image.
    port : int, default=8765
        The port of the page; 0 for any free one.
    open_browser : bool, default=True
        Whether to open the page in a browser.
    **options
        Those of `l2t.labelling.LabellingSession`, such as `strategy`, and of `l2t.read_domains`, such as
        `label`.

    Returns
    -------
    LabellingSession
        The session; its `domain` has all labels.
    """
    app, settings = import_dashboard("app"), import_dashboard("settings")
    from l2t.labelling import LabellingSession

    folder = None if images is None else Path(images)
    if folder is not None and not folder.is_dir():
        raise InvalidInputError(f"images must be a folder, got {str(images)!r}")
    session = LabellingSession(target, sources, **options)
    session.target.check_free(ANSWERS)  # predictions add them
    wanted = settings.Settings(port=port, images=folder)
    app.serve(None, wanted, open_browser=open_browser, session=session)
    return session
