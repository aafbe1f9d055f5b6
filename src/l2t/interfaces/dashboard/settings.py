"""What a dashboard may do, and for whom."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass
from pathlib import Path

from l2t.exceptions import InvalidInputError

__all__ = ["LIMITS", "Limits", "Settings"]

LEAST_TOKEN = 16  # characters


@dataclass(frozen=True)
class Limits:
    """How much a visitor may ask for.

    Attributes
    ----------
    rows, features, values : int
        Of an uploaded domain.
    uploads, sources : int
        Domains that are kept at a time, and sources that are ranked at a time.
    jobs : int
        Worker processes at a time.
    read_seconds, work_seconds : float
        Time for reading an upload, and for a transfer, a ranking or a learning curve.
    memory : int
        Bytes of address space of a worker process.
    """

    rows: int = 20_000
    features: int = 20_000
    values: int = 20_000_000
    uploads: int = 50
    sources: int = 12
    jobs: int = 2
    read_seconds: float = 60.0
    work_seconds: float = 300.0
    memory: int = 4 * 2**30


LIMITS = Limits()


@dataclass(frozen=True)
class Settings:
    """How a dashboard is served.

    Attributes
    ----------
    host, port : str, int
        Where it listens; 0 for any free port.
    token : str or None
        What visitors must know; needed for every host that is not this machine's own.
    read_only : bool
        Whether everything that computes or takes files is refused.
    max_upload : int
        Bytes of an uploaded file, at most.
    reflections : tuple of Path
        Files of reflection functions to show beside the one that ships.
    limits : Limits
        How much a visitor may ask for.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    read_only: bool = False
    max_upload: int = 64 * 2**20
    reflections: tuple[Path, ...] = ()
    limits: Limits = LIMITS

    def __post_init__(self) -> None:
        if self.token is None and not self.is_local:
            raise InvalidInputError(
                f"host {self.host!r} can be reached from other machines and needs a token that visitors "
                f"must know, such as --token {secrets.token_urlsafe(18)}"
            )
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise InvalidInputError(
                f"token must have at least {LEAST_TOKEN} characters, got {len(self.token)}"
            )
        if self.max_upload < 1:
            raise InvalidInputError(f"max_upload must be at least 1 byte, got {self.max_upload}")

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
