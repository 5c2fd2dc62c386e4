"""The audit log, a page at a time."""

from __future__ import annotations

import json
from typing import Final

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import InvalidField
from service.context import services
from service.store import audit
from service.web.bodies import whole_number

blueprint = Blueprint("audit", __name__, url_prefix="/v1/audit")
PAGE: Final = 500


@blueprint.get("")
def list_audit() -> ResponseReturnValue:
    """Rows after number `after`, the oldest first; `next` is what to ask for then, null at the end."""
    after = whole_number(request.args.get("after", "0"))
    if after is None:
        raise InvalidField("after: the number of the last row you have", field="after")
    with Session(services().engine) as session:
        rows = audit.page(session, after, PAGE)
    listed = [
        {
            "number": row.number,
            "at": row.at.isoformat(),
            "actor": row.actor,
            "action": row.action,
            "subject": row.subject,
            "detail": json.loads(row.detail),
            "sha256": row.sha256,
        }
        for row in rows
    ]
    return jsonify({"audit": listed, "next": rows[-1].number if len(rows) == PAGE else None})
