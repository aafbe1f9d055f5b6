"""Settings of a dashboard: address, token and limits."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from l2t.exceptions import InvalidInputError

MIN_TOKEN = 16  # characters
#: How a job reports an event: its kind, and its fields as keywords.
ReportEvent = Callable[..., None]


@dataclass(frozen=True)
class Limits:
    """Limits of requests and jobs."""

    rows: int = 20_000  # of an uploaded domain, as are features and values
    features: int = 20_000
    values: int = 20_000_000
    body: int = 2**20  # bytes of a request that is not an upload
    uploads: int = 50  # files that are kept
    queue: int = 64  # uploads in progress at a time
    history: int = 100  # predictions that are kept, and their bytes
    history_bytes: int = 2 * 2**30
    jobs: int = 2  # worker processes at a time, and as many more for reading uploads
    read_seconds: float = 60.0  # for reading an upload
    work_seconds: float = 300.0  # for a transfer, a ranking or a learning curve
    memory: int = 4 * 2**30  # bytes of address space of a worker process


@dataclass(frozen=True)
class Settings:
    """The settings of a dashboard."""

    host: str = "127.0.0.1"
    port: int = 8765  # 0 for any free one
    token: str | None = None  # generated if other machines can connect
    hosts: tuple[str, ...] = ()  # further host names, such as that of a reverse proxy
    root_path: str = ""  # the path under which a reverse proxy serves it, such as /l2t
    read_only: bool = False  # whether uploads and jobs are rejected
    max_upload: int = 64 * 2**20  # bytes of a file
    reflections: tuple[Path, ...] = ()  # files of further functions to show
    history: Path | None = None  # folder that keeps predictions over restarts
    images: Path | None = None  # folder of images that cells of a labelled table may name
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if self.token is None and (self.hosts or self.root_path or not self.is_local):
            object.__setattr__(self, "token", secrets.token_urlsafe(18))
        if self.token is not None and len(self.token) < MIN_TOKEN:
            raise InvalidInputError(
                f"token must have at least {MIN_TOKEN} characters, got {len(self.token)}"
            )
        if not re.fullmatch(r"(/[\w.~-]+)*", self.root_path, re.ASCII):
            raise InvalidInputError(
                f"root_path must be a path such as /l2t, without a trailing slash, got {self.root_path!r}"
            )
        if self.max_upload < 1:
            raise InvalidInputError(f"max_upload must be at least 1 byte, got {self.max_upload}")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
