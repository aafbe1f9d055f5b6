"""Checks of every request before it reaches a route.

- The Host header, and a proxy's X-Forwarded-Host, must name this server, which prevents DNS rebinding.
- A token, if there is one, is required: as ``?token=``, which sets a cookie, or in a header.
- Requests that change something must come from a page of this server, or not from a page at all.
- A read-only server only accepts requests that read.
- A body must not be too large, nor arrive too slowly.

Every response forbids scripts, styles and frames of other sites.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import socket
from urllib.parse import urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from l2t.interfaces.dashboard.connections import limited, too_large
from l2t.interfaces.dashboard.errors import refusal
from l2t.interfaces.dashboard.settings import Settings

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
    """Middleware that checks every request."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings
        names = {settings.host, *settings.hosts, *_LOCAL}
        if not settings.is_local:
            names |= {socket.gethostname(), socket.getfqdn()}
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a request, or pass it on to the application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        root, path = self._settings.root_path, scope["path"]
        if f"{path}/".startswith(f"{root}/"):  # otherwise the proxy has removed it
            path = path.removeprefix(root)
        scope.update(path=root + path, root_path=root)

        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                if not path.startswith("/static/"):
                    headers["cache-control"] = "no-store"
            await send(message)

        answer = self._rejection(Request(scope), path) or self._app
        try:
            await answer(scope, limited(receive, self._max_body(path)), guarded)
        except asyncio.CancelledError:  # the server is being stopped
            if not started:
                await refusal(scope, 503, "the server was stopped")(scope, receive, guarded)

    def _max_body(self, path: str) -> int:
        is_upload = path.startswith("/api/uploads")
        return self._settings.max_upload if is_upload else self._settings.limits.body

    def _rejection(self, request: Request, path: str) -> Response | None:
        scope, forwarded = request.scope, request.headers.get("x-forwarded-host")
        hosts = [request.headers.get("host", ""), *(forwarded.split(",") if forwarded else ())]
        for host in hosts:
            if not self._is_this_server(host.strip()):
                reason = f"the host {host!r:.80} is not a name of this server"
                how = "use the address that it printed, or start it with --allow-host"
                return refusal(scope, 421, f"{reason}; {how}")
        if self._settings.token is not None:
            query = dict(request.query_params)
            if self._is_token(query.pop("token", "")):
                return self._set_cookie(scope, path, query)
            kind, _, bearer = request.headers.get("authorization", "").partition(" ")
            token = bearer if kind.lower() == "bearer" else request.cookies.get(COOKIE, "")
            if not self._is_token(token.strip()):
                return refusal(scope, 401, "a token is required")
        if request.method not in _READING:
            if self._settings.read_only:
                reason = "this dashboard is read-only; start it without --read-only to compute"
                return refusal(scope, 403, reason)
            if not _same_site(request, hosts):
                return refusal(scope, 403, "requests from pages of other sites are rejected")
        size, most = request.headers.get("content-length", "0"), self._max_body(path)
        if size.isdigit() and int(size[:20]) > most:
            return refusal(scope, 413, too_large(most))
        return None

    def _is_this_server(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in self._names or self._settings.host not in ("0.0.0.0", "::"):
                return name in self._names
            # A server that listens on all addresses does not know them; unlike a name, an IP address cannot
            # be made to point here by an attacker.
            return bool(ipaddress.ip_address(name))
        except ValueError:
            return False

    def _is_token(self, candidate: str) -> bool:
        token = self._settings.token or ""
        return hmac.compare_digest(candidate.encode("utf-8", "replace"), token.encode())

    def _set_cookie(self, scope: Scope, path: str, query: dict[str, str]) -> Response:
        """Set the token as a cookie, and redirect to the same page without it in the address."""
        if path.startswith("/api/"):
            return refusal(scope, 400, "send the token to /api/ as Authorization: Bearer TOKEN")
        root = self._settings.root_path
        path = f"{root}/" + path.lstrip("/\\")  # never a redirect to another server
        answer = RedirectResponse(f"{path}?{urlencode(query)}" if query else path, 303)
        answer.set_cookie(
            COOKIE,
            self._settings.token or "",
            path=f"{root}/",
            secure=scope["scheme"] == "https",
            httponly=True,
            samesite="strict",
        )
        return answer


def _same_site(request: Request, hosts: list[str]) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or origin.partition("://")[2] in hosts
