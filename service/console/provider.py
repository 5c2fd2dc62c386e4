"""Signing in at an OpenID provider: the code flow with PKCE, state and nonce, by Authlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import structlog
from flask import Flask, current_app, request, session, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session
from werkzeug.exceptions import NotFound

from policies.errors import NotAllowed
from service import clock
from service.console.login import local, login_page, welcome
from service.console.paging import PREFIX
from service.context import services
from service.identity.elsewhere import Terms, admit
from service.settings import Settings

if TYPE_CHECKING:
    from authlib.integrations.flask_client import FlaskOAuth2App

log = structlog.get_logger(__name__)

TIMEOUT_S: Final = 10
BACK: Final = f"{PREFIX}/login/provider/back"
_EXTENSION: Final = "nnfleet-provider"
_FOLLOWING: Final = "following"


def set_up(app: Flask, settings: Settings) -> None:
    """Know the provider, where the settings name one. Raises ValueError where they name it by half."""
    if settings.oidc_issuer is None:
        return
    if not (settings.oidc_client_id and settings.public_url):
        raise ValueError("NNFLEET_OIDC_ISSUER needs NNFLEET_OIDC_CLIENT_ID and NNFLEET_PUBLIC_URL beside it")
    from authlib.integrations.flask_client import OAuth

    Terms.of(settings)
    provider = OAuth(app).register(
        "provider",
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret,
        server_metadata_url=f"{settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": settings.oidc_scope,
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT_S,
        },
    )
    app.extensions[_EXTENSION] = provider


def start() -> ResponseReturnValue:
    """Send the visitor to the provider."""
    from requests import RequestException

    session[_FOLLOWING] = local(request.args.get("next", ""))
    try:
        # Never the host that the request names: it is the visitor's to choose.
        sent: ResponseReturnValue = _provider().authorize_redirect(f"{services().settings.public_url}{BACK}")
    except RequestException as error:
        return _away(error)
    return sent


def back() -> ResponseReturnValue:
    """The visitor comes back from the provider, with a code that its claims are fetched for."""
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    following = local(session.get(_FOLLOWING, ""))
    try:
        claims: dict[str, Any] | None = _provider().authorize_access_token().get("userinfo")
        if claims is None:
            raise NotAllowed("the provider sent no id token")
        with Session(services().engine) as opened, opened.begin():
            name = admit(opened, Terms.of(services().settings), claims, clock.now()).name
    except RequestException as error:
        return _away(error)
    except (AuthlibBaseError, JoseError, KeyError) as error:
        log.warning("sign-in-refused", by="provider", why=type(error).__name__)
        return login_page(following, error="The provider's answer does not hold. Try again from the start."), 401
    except NotAllowed as error:
        log.warning("sign-in-refused", by="terms", why=error.detail)
        return login_page(following, error=f"You have no access: {error.detail}."), 403
    return welcome(name, following)


def offered() -> str | None:
    """The address that begins it, where there is a provider."""
    return url_for("console.provider") if _EXTENSION in current_app.extensions else None


def _provider() -> FlaskOAuth2App:
    found: FlaskOAuth2App | None = current_app.extensions.get(_EXTENSION)
    if found is None:
        raise NotFound("People sign in here with a password.")
    return found


def _away(error: Exception) -> ResponseReturnValue:
    log.warning("provider-away", why=type(error).__name__)
    return login_page(
        local(session.get(_FOLLOWING, "")), error="The provider does not answer. Try again in a moment."
    ), 503
