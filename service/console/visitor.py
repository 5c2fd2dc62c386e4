"""Who looks at the console: the session in the cookie, and what it opens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from flask import Flask, Response, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf import CSRFProtect

from policies.errors import NotAllowed
from service import clock
from service.console.navigation import NAVIGATION, Group
from service.console.paging import PREFIX
from service.console.watching import fresh, watched
from service.context import services
from service.identity.access import ACCESS, Access, Reach, check_reach
from service.identity.sessions import SignedIn
from service.settings import Settings
from service.web.problems import Unauthenticated

COOKIE: Final = "nnfleet_session"
csrf: Final = CSRFProtect()


def set_up(app: Flask, settings: Settings) -> None:
    """Cookies and the guard against forged forms, which is asked for forms of the console and never for the API.

    Workers and hosts share what signs the cookie of forms and messages: it is derived from the management token.
    """
    token = settings.manage_token or secrets.token_hex()
    app.secret_key = hmac.new(token.encode(), b"cookies of the console", hashlib.sha256).digest()
    app.config.update(
        SESSION_COOKIE_NAME="nnfleet_form",
        SESSION_COOKIE_PATH=PREFIX,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=only_https(settings),
        WTF_CSRF_CHECK_DEFAULT=False,
        WTF_CSRF_TIME_LIMIT=None,  # a form is good as long as the session
    )
    csrf.init_app(app)


def only_https(settings: Settings) -> bool:
    """Whether people reach the service by TLS, whoever ends it."""
    return (settings.public_url or "").startswith("https://")


def visitor() -> SignedIn | None:
    """Whoever is signed in, on a page that asked."""
    found: SignedIn | None = g.get("signed_in")
    return found


def check_person(wanted: Access) -> ResponseReturnValue | None:
    """Let a person with this role through; send a stranger to the login. Raises Unauthenticated, NotAllowed."""
    g.signed_in = found = look_up()
    if found is None:
        return _stranger(wanted)
    if wanted.role is None or found.actor.role < wanted.role:
        needed = wanted.role.name.lower() if wanted.role else "of nobody"
        raise NotAllowed(f"This needs the role {needed}; yours is {found.actor.role.name.lower()}.")
    check_reach(wanted, found.actor, (request.view_args or {}).get("app"))
    g.actor = found.actor
    return None


def look_up() -> SignedIn | None:
    """Whose session the cookie names."""
    secret = request.cookies.get(COOKIE)
    return services().sessions.find(secret, clock.now(), used=not watched()) if secret else None


def _stranger(wanted: Access) -> ResponseReturnValue | None:
    if wanted.reading and services().settings.console_open:
        return None
    if "HX-Request" in request.headers:  # the page is loaded anew, and that leads to the login and back
        return fresh(401)
    if request.method not in {"GET", "HEAD"}:
        raise Unauthenticated("Your session is over, and nothing was done. Sign in, then try again.")
    return redirect(url_for("console.login", next=request.full_path.rstrip("?")), 303)


def may(endpoint: str) -> bool:
    """Whether the visitor may do what is behind an endpoint: what nobody may is not offered."""
    found, wanted = visitor(), ACCESS[endpoint]
    if found is None or wanted.role is None or found.actor.role < wanted.role:
        return False
    return found.actor.apps is None or wanted.reach is not Reach.EVERY


def shown(endpoint: str) -> bool:
    """Whether a page is offered to the visitor: what everybody reads, and what they may."""
    return ACCESS[endpoint].reading or may(endpoint)


def navigation() -> list[Group]:
    """The links that are offered to the visitor."""
    kept = [
        Group(group.name, tuple(place for place in group.places if shown(f"console.{place.endpoint}")))
        for group in NAVIGATION
    ]
    return [group for group in kept if group.places]


def remember(response: Response, secret: str) -> None:
    """Give the browser a session. The cookie goes with the browser; when it ends is decided here."""
    secure = request.is_secure or only_https(services().settings)
    response.set_cookie(COOKIE, secret, path=PREFIX, secure=secure, httponly=True, samesite="Lax")


def forget(response: Response) -> None:
    """Take the session from the browser."""
    response.delete_cookie(COOKIE, path=PREFIX, httponly=True, samesite="Lax")
