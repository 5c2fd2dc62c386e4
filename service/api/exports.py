"""What other systems read: device groups for Google Play."""

from __future__ import annotations

from flask import Blueprint, Response, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import InvalidField
from policies.play.xml import to_xml
from service.context import services
from service.live import release_asked
from service.releasing.play_export import export_play
from service.web.door import check_app

blueprint = Blueprint("exports", __name__, url_prefix="/v1/exports")


@blueprint.get("/<app>/device_targeting_configuration.xml")
def device_targeting_configuration(app: str) -> ResponseReturnValue:
    """Device groups by chip and memory, for an app bundle; `?release=` asks an older release."""
    check_app(app)
    content = release_asked(_number(request.args.get("release")))
    with Session(services().engine) as session:
        found = export_play(session, content, app)
    body = to_xml(found, f"nnfleet: app {app}, release {content.number}")
    headers = {"X-Nnfleet-Warnings": str(len(found.warnings))}
    return Response(body, headers=headers, content_type="application/xml; charset=utf-8")


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and 0 < len(text) < 10):
        raise InvalidField("release: a whole number", field="release")
    return int(text)
