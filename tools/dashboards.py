"""A running dashboard, and a browser to test it with."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["find_chromium", "open_chromium", "serve", "serve_dashboard"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Chromium asks nobody for anything by itself.
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def serve_dashboard(
    url: str | None, *options: str
) -> AbstractContextManager[tuple[subprocess.Popen[str], str]]:
    """Serve the dashboard of a store or of none; see `serve`."""
    return serve("dashboard", *([] if url is None else ["--store", url]), *options)


@contextmanager
def serve(*words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command that serves pages; yield its process and address, and check that it stops."""
    command = [sys.executable, "-m", "l2t", *words, "--port", "0", "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None  # it is a pipe
        line = process.stderr.readline()
        found = re.search(r"http://[^\s?]+", line)
        assert found is not None, line
        try:
            yield process, found[0]
        finally:
            if os.name == "posix":
                process.send_signal(signal.SIGINT)
            else:
                process.terminate()  # Windows has no such signal for another process
        assert process.wait(300) == 0 or os.name != "posix"
        assert process.stderr.read() == ""


def find_chromium() -> str | None:
    """Return the system's Chromium, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def open_chromium(path: str) -> Iterator[Browser]:
    """Yield a headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=list(FLAGS), timeout=300_000
        )
        yield browser
        browser.close()
