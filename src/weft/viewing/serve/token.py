"""A word that a class or a team knows: without it the server shows nothing but a place to type it in."""

from __future__ import annotations

from hashlib import sha256
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.types import ASGIApp, Receive, Scope, Send

from weft.viewing.serve.guards import answer, policy

_COOKIE = "weft-token"
_OPEN = ("/health", "/embed")
_WRONG = "<p><strong>That token is wrong.</strong></p>\n"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>weft: token</title></head><body>
<h1>weft</h1>
{wrong}<form method="get" action=""><label>Token <input name="token" type="password" autocomplete="current-password"
required autofocus></label> <button>Open</button></form>
<p>Whoever started this server knows the token.</p></body></html>
"""


def _refusal(*, sent: bool) -> str:
    how = "send the header 'Authorization: Bearer TOKEN'"
    if sent:
        return f"this token is wrong: {how} with the token that the server was started with."
    return f"this server requires a token: {how}."


class Token:
    """Lets those pass who bring the token: as a bearer, in a cookie, or in the address, which then sets the cookie."""

    def __init__(self, app: ASGIApp, token: str, root_path: str = "") -> None:
        self._app = app
        self._token = token.encode()
        # The cookie proves the token without holding it.
        self._proof = sha256(b"weft:" + self._token).hexdigest()
        self._root = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or self._may_pass(scope):
            await self._app(scope, receive, send)
            return
        fields = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        typed = fields.pop("token", [""])[0]
        if typed and scope["method"] == "GET" and compare_digest(typed.encode("utf-8", "replace"), self._token):
            await self._welcome(scope, fields, send)
        elif scope["method"] == "GET" and b"text/html" in dict(scope["headers"]).get(b"accept", b""):
            await self._ask(send, wrong=bool(typed))
        else:
            sentence = _refusal(sent=bool(typed) or b"authorization" in dict(scope["headers"]))
            await answer(send, 401, sentence, headers=[(b"www-authenticate", b'Bearer realm="weft"')])

    def _may_pass(self, scope: Scope) -> bool:
        path = scope["path"].removeprefix(self._root)
        headers = dict(scope["headers"])
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        if path in _OPEN or (kind.lower() == b"bearer" and compare_digest(given.strip(), self._token)):
            return True
        try:
            cookie = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(_COOKIE)
        except CookieError:
            return False
        return cookie is not None and compare_digest(cookie.value.encode("utf-8", "replace"), self._proof.encode())

    async def _welcome(self, scope: Scope, fields: dict[str, list[str]], send: Send) -> None:
        """Remember the token and open the same address without it, so that it stays out of bookmarks and histories."""
        rest = urlencode(fields, doseq=True)
        place = f"{self._root}{scope['path'].removeprefix(self._root)}{'?' if rest else ''}{rest}"
        cookie = f"{_COOKIE}={self._proof}; Path={self._root or '/'}; HttpOnly; SameSite=Strict; Max-Age=2592000"
        headers = [(b"location", place.encode("ascii", "replace")), (b"set-cookie", cookie.encode())]
        await answer(send, 303, "the token is right.", headers=headers)

    async def _ask(self, send: Send, *, wrong: bool) -> None:
        page = _PAGE.format(wrong=_WRONG if wrong else "").encode()
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(page)).encode()),
            (b"content-security-policy", policy(scripts="'none'", styles="'none'", forms="'self'").encode()),
            (b"www-authenticate", b'Bearer realm="weft"'),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": page})
