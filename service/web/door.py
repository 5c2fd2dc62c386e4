"""The door: every request is measured against the table of access before anything else looks at it."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask, g, request
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import NotFound

from policies.errors import NotAllowed
from service.context import services
from service.identity.access import Access, Scope, access_of, check_reach, other_app
from service.identity.actor import Actor
from service.identity.keyring import Key
from service.web.problems import Unauthenticated


def install(app: Flask, check_person: Callable[[Access], ResponseReturnValue | None]) -> None:
    """Put the door in front of every endpoint of the app.

    `check_person` looks at who is signed in where a person's role is asked for; what it answers is sent instead.
    """

    @app.before_request
    def _check() -> ResponseReturnValue | None:
        if request.endpoint is None:  # no such route, or no such method: the router says which
            return None
        if "\0" in request.path:  # no name holds it: PostgreSQL would refuse to look for one that does
            raise NotFound
        access = access_of(request.endpoint)
        if access.scope is None and access.role is not None:
            return check_person(access)
        _check_key(access)
        return None


def actor() -> Actor:
    """Who makes this request. Only behind an endpoint that asks for a role."""
    found: Actor = g.actor
    return found


def check_app(app: str | None) -> None:
    """Raise NotAllowed where the caller is bound to other apps; None stands for what concerns all apps."""
    if not actor().touches(app):
        raise other_app(actor())


def device_key() -> Key | None:
    """The key of the device that asks; None where no key is asked for."""
    found: Key | None = g.get("device_key")
    return found


def device_app() -> str | None:
    """The app that a device's key is bound to; None where it opens all, and where no key is asked for."""
    key = device_key()
    return key.app if key else None


def check_device_app(app: str | None) -> None:
    """Raise NotAllowed where a device's key is bound to another app than this; None stands for all apps."""
    bound = device_app()
    if bound is not None and app != bound:
        raise NotAllowed(f"this key is for the app {bound!r} only", field="app")


def _check_key(access: Access) -> None:
    if access.scope is Scope.MANAGE:
        g.actor = _manager(access)
    elif access.scope is not None and services().settings.require_keys:
        _check_device(access.scope)


def _manager(access: Access) -> Actor:
    found = _scoped(services().keyring.key(_secret()), Scope.MANAGE)
    who = found.actor
    if who is None or access.role is None or who.role < access.role:
        raise NotAllowed(f"this needs the role {access.role.name.lower() if access.role else 'of nobody'}")
    check_reach(access, who, (request.view_args or {}).get("app"))
    return who


def _check_device(scope: Scope) -> None:
    found = _scoped(services().keyring.device_key(_secret()), scope)
    g.device_key = found
    asked = (request.view_args or {}).get("app")
    if asked is not None:
        check_device_app(asked)


def _scoped(key: Key | None, scope: Scope) -> Key:
    if key is None:
        raise Unauthenticated("send a key, or the management token: Authorization: Bearer …", field="Authorization")
    if scope not in key.scopes:
        raise NotAllowed(f"this key does not open {scope}", field="Authorization")
    return key


def _secret() -> str:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not given:
        raise Unauthenticated("send a key, or the management token: Authorization: Bearer …", field="Authorization")
    return given
