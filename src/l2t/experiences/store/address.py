"""The address of a store: a URL, or the path of a file."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from l2t.exceptions import InvalidInputError

_ENDINGS = (".db", ".sqlite", ".sqlite3")
_FORMS = (
    "url must be sqlite:///path, postgresql://user@host/database, memory://, "
    f"or the path of a file that ends in {', '.join(_ENDINGS)}"
)


@dataclass(frozen=True)
class Address:
    """The address of a store: `url` may hold a password, `shown` does not; `path` is the SQLite file."""

    kind: Literal["sqlite", "postgresql", "memory"]
    url: str
    shown: str
    path: Path | None = None

    @classmethod
    def of(cls, url: str | os.PathLike[str]) -> Address:
        """Parse a URL.

        >>> Address.of("postgresql://me:secret@host/l2t").shown
        'postgresql://me:***@host/l2t'
        >>> Address.of("postgresql://host/l2t?user=me&password=secret").shown
        'postgresql://host/l2t?password=***&user=me'
        """
        if not isinstance(url, str | os.PathLike):
            raise InvalidInputError(f"url must be a str or a path, got {type(url).__name__}")
        scheme, separator, rest = str(url).partition("://")
        if isinstance(url, os.PathLike) or (not separator and url.endswith(_ENDINGS)):
            return cls._file(Path(url))
        if url == "memory://":
            return cls("memory", url, url)
        if url == "sqlite:///:memory:":
            raise InvalidInputError(f"url must be memory:// for a store in memory, got {url}")
        if scheme == "sqlite" and len(rest) > 1 and rest.startswith("/"):
            return cls._file(Path(rest[1:]))
        if separator and scheme in ("postgresql", "postgres", "postgresql+psycopg"):
            with suppress(ArgumentError, ValueError):
                parsed = make_url(f"postgresql://{rest}")
                hidden = dict.fromkeys(_secrets(parsed), "***")
                shown = parsed.update_query_dict(hidden).render_as_string(hide_password=True)
                return cls("postgresql", f"postgresql://{rest}", shown.replace("%2A", "*"))
        got = f"{scheme}://...@{rest.rpartition('@')[2]}" if "@" in rest else url
        got = got.partition("?")[0]  # the query may hold a password
        raise InvalidInputError(f"{_FORMS}, got {got!r:.200}")

    @classmethod
    def _file(cls, path: Path) -> Address:
        absolute = Path(os.path.realpath(path.expanduser()))
        return cls("sqlite", f"sqlite:///{absolute}", f"sqlite:///{path}", absolute)

    @property
    def without_password(self) -> str:
        """The URL without its password, for use with PGPASSWORD or a password file."""
        url = make_url(self.url)._replace(password=None)
        return url.difference_update_query(_secrets(url)).render_as_string(hide_password=False)

    @property
    def engine_url(self) -> URL:
        """The URL for SQLAlchemy."""
        if self.kind == "postgresql":
            return make_url(self.url).set(drivername="postgresql+psycopg")
        return URL.create("sqlite+pysqlite", database=str(self.path) if self.path else None)


def _secrets(url: URL) -> list[str]:
    """Return the query parameters that hold secrets: password, sslpassword, oauth_client_secret."""
    return [name for name in url.query if "password" in name.lower() or "secret" in name.lower()]
