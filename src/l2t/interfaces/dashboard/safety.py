"""Who may ask what: checked before any route is reached.

- The Host header must name this server: a page elsewhere that lets its name point here gets nothing.
- Where there is a token it must be known: as ``?token=`` once, which leaves a cookie, or in a header.
- What changes something must come from a page of this server, or from no page at all.
- A read-only server takes nothing but reading requests.

Every answer forbids scripts, styles and frames of others.
"""

from __future__ import annotations

import hmac
import ipaddress
import socket
from http.cookies import SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from l2t.interfaces.dashboard.errors import refusal
from l2t.interfaces.dashboard.settings import Settings

__all__ = ["Guard"]

COOKIE = "l2t_token"
_READING = ("GET", "HEAD", "OPTIONS")
_LOCAL = ("127.0.0.1", "localhost", "::1")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        names = {settings.host, *_LOCAL}
        if not settings.is_local:
            names |= {socket.gethostname(), socket.getfqdn()}
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if not scope["path"].startswith("/static/"):
                    headers["cache-control"] = "no-store"
            await send(message)

        refused = self._refused(scope)
        await (refused or self._app)(scope, receive, guarded)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            said = f"the Host header {host!r:.80} does not name this server"
            return refusal(scope, 421, f"{said}; open it at the address that it printed")
        if self._settings.token is not None:
            query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
            if self._is_token(query.pop("token", "")):
                return self._welcome(scope, query)
            if not self._is_known(headers):
                return refusal(scope, 401, "a token is needed to see this server")
        if scope["method"] not in _READING:
            if self._settings.read_only:
                said = "this dashboard is read-only; start it without --read-only to compute"
                return refusal(scope, 403, said)
            if not _same_site(headers, host):
                return refusal(scope, 403, "requests from pages of other sites are refused")
        return None

    def _is_ours(self, host: str) -> bool:
        name = _host_name(host)
        if name in self._names:
            return True
        # Bound to all addresses, the server cannot know them; an address, unlike a name, cannot be
        # made to point here by somebody else.
        return self._settings.host in ("0.0.0.0", "::") and _is_address(name)

    def _is_known(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._is_token(given.strip()):
            return True
        cookies = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except Exception:  # of whatever is wrong with a cookie, none is ours
            return False
        return COOKIE in cookies and self._is_token(cookies[COOKIE].value)

    def _is_token(self, given: str) -> bool:
        token = self._settings.token or ""
        return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())

    def _welcome(self, scope: Scope, query: dict[str, str]) -> Response:
        """Keep the token as a cookie, and lead to the same page without it in the address."""
        if scope["path"].startswith("/api/"):
            return refusal(scope, 400, "give the token to /api/ as Authorization: Bearer TOKEN")
        path = "/" + scope["path"].lstrip("/\\")  # never another server
        answer = RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)
        answer.set_cookie(COOKIE, self._settings.token or "", httponly=True, samesite="strict")
        return answer


def _same_site(headers: Headers, host: str) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == host


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
