"""The window in a browser: textual-serve's server behind a guard.

The guard is a middleware, so page, websocket, static files and downloads all pass it:
1. Without a token, only requests that name this machine in `Host` pass: no foreign name that resolves to it.
2. A request with an `Origin` passes only if that is the server itself: no other site opens the websocket.
3. With a token, a request brings it once as `?token=`, and is redirected with a cookie that stands for it.
4. The page may load nothing from elsewhere.
"""

import hmac
import ipaddress
import re
import secrets
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlencode, urlsplit

from aiohttp import web
from textual_serve.server import Server

__all__ = ["GuardedServer", "is_loopback", "problem_of", "run_server"]

MIN_TOKEN = 8
"""Characters; a shorter token is guessed too soon."""

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_HOST = re.compile(r"[A-Za-z0-9.\-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def problem_of(host: str, token: str | None) -> str | None:
    """Return why the window is not served there, in one sentence; None if it may be."""
    if token is not None and (len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable()):
        return f"a token has at least {MIN_TOKEN} printable ASCII characters; give a longer --token"
    if token is None and not is_loopback(host):
        return f"{host!r} can be reached by others, who would use the window as you; give a --token, or no --host"
    return None


def _same(given: str | None, expected: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


class GuardedServer(Server):
    """Serves the window; see the module for what it lets pass."""

    def __init__(self, command: Sequence[str], host: str, port: int, token: str | None) -> None:
        bracketed = f"[{host}]" if ":" in host else host
        super().__init__(shlex.join(command), host, port, title="asknpu", public_url=f"http://{bracketed}:{port}")
        self.token = token
        self.cookie = f"asknpu-{port}"
        """Cookies do not tell ports apart."""
        self.pass_word = secrets.token_urlsafe(32)
        """What the cookie holds; it ends with the server, and does not give the token away."""

    def initialize_logging(self) -> None:
        """Log nothing: requests hold the token, and errors of pages would hold what people typed."""

    async def on_startup(self, app: web.Application) -> None:
        """Say where the window is, on standard error."""
        query = f"/?{urlencode({'token': self.token})}" if self.token else "/"
        sys.stderr.write(f"asknpu: {self.public_url}{query} (Ctrl+C ends)\n")
        sys.stderr.flush()

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()

        @web.middleware
        async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        app.middlewares.append(guard)
        return app

    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        if (refused := self._refusal(request)) is not None:
            return refused
        if self.token is not None and "token" in request.query:
            query = [(name, value) for name, value in request.query.items() if name != "token"]
            response: web.StreamResponse = web.HTTPSeeOther(request.path + (f"?{urlencode(query)}" if query else ""))
            response.set_cookie(self.cookie, self.pass_word, httponly=True, samesite="Lax", path="/")
            return response
        # The page names its websocket by the address that the browser came by.
        self.public_url = f"{request.scheme}://{request.host}"
        response = await handler(request)
        if not response.prepared:
            self._seal(response, request.host)
        return response

    def _refusal(self, request: web.Request) -> web.Response | None:
        if not _HOST.fullmatch(request.host):
            return web.Response(status=400, text="asknpu: what host is that?\n")
        name = urlsplit(f"//{request.host}").hostname or ""
        if self.token is None and not (is_loopback(name) or name == self.host.casefold()):
            return web.Response(status=403, text="asknpu: open it by the address that the program printed\n")
        if (origin := request.headers.get("Origin")) is not None and urlsplit(origin).netloc != request.host:
            return web.Response(status=403, text="asknpu: another site asked for this\n")
        if self.token is None or _same(request.cookies.get(self.cookie), self.pass_word):
            return None
        if _same(request.query.get("token"), self.token):
            return None
        return web.Response(status=401, text="asknpu: open the address with ?token= that the program printed\n")

    @staticmethod
    def _seal(response: web.StreamResponse, host: str) -> None:
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
            f"font-src 'self' data:; img-src 'self' data:; connect-src 'self' ws://{host} wss://{host}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"


def run_server(command: Sequence[str], host: str, port: int, token: str | None) -> None:
    """Serve a program until it is interrupted.

    Args:
        command: the program that shows the window, and its arguments; started for each page.
        host: address to listen on.
        port: TCP port.
        token: what every request must bring; None for this machine only.

    Raises:
        OSError: the address cannot be had.
    """
    GuardedServer(command, host, port, token).serve()
