"""Who is let in: requests for this host, from this page, by somebody who knows the token.

A page of another site may send requests to 127.0.0.1, and a host name may be made to point there; so Host and Origin
are checked, and nothing is answered without the token, which comes once in the address and then stands in a cookie.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SAFE = ("GET", "HEAD")
HEADER = "x-unisymnet-token"


class Guard:
    """Around the whole application."""

    def __init__(self, app: ASGIApp, token: str, hosts: frozenset[str]) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                for name, value in HEADERS.items():
                    if name.lower().encode() not in given:
                        message["headers"].append((name.lower().encode(), value.encode()))
            await send(message)

        answer = self._refusal(Request(scope))
        await (self.app if answer is None else answer)(scope, receive, guarded)

    def _refusal(self, request: Request) -> Response | None:
        """The answer to whoever is not let in, or who first has to take the cookie."""
        host = request.headers.get("host", "")
        if host not in self.hosts:
            return _refused(f"this page answers to {sorted(self.hosts)[0]} only, not to {host[:80]!r}")
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refused("requests from other sites are refused")
        site = request.headers.get("sec-fetch-site")
        asks_page = request.url.path == "/" and request.method in SAFE
        if site not in (None, "same-origin", "none") and not asks_page:
            return _refused("requests from other sites are refused")
        given = request.query_params.get("token", "")
        if asks_page and given and self._is_token(given):
            rest = {key: values[0] for key, values in parse_qs(request.url.query).items() if key != "token"}
            answer = RedirectResponse("/" + (f"?{urlencode(rest)}" if rest else ""), status_code=303)
            answer.set_cookie(self._cookie(request), self.token, httponly=True, samesite="strict", path="/")
            return answer
        known = request.headers.get(HEADER) or _cookie(request, self._cookie(request))
        if not self._is_token(known):
            return _refused("open the address with the token that `unisymnet serve` has printed", 401)
        return None

    def _cookie(self, request: Request) -> str:
        """Cookies do not tell ports apart, but two pages may run side by side."""
        return f"unisymnet-{request.url.port or 80}"

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self.token.encode())


def _cookie(request: Request, name: str) -> str:
    try:
        found = SimpleCookie(request.headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _refused(reason: str, status: int = 403) -> Response:
    return PlainTextResponse(f"Not allowed: {reason}.\n", status_code=status)
