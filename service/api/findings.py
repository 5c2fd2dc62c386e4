"""What detectors saw, for whoever watches from outside of the console."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, jsonify, request
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.errors import UnknownFinding
from service.context import services
from service.store import findings
from service.store.tables import FindingRow
from service.web.bodies import one_of

blueprint = Blueprint("findings", __name__, url_prefix="/v1/findings")
PAGE: Final = 500


@blueprint.get("")
def list_findings() -> ResponseReturnValue:
    """Those that the newest look saw, most windows first; with `seen=ever` all there were, at most five hundred."""
    ever = one_of("seen", request.args.get("seen"), ["now", "ever"]) == "ever"
    with Session(services().engine) as session:
        return jsonify({"findings": [_shown(row) for row in findings.page(session, ever, PAGE)]})


@blueprint.get("/<finding>")
def get_finding(finding: str) -> ResponseReturnValue:
    """One finding, with its evidence and the quarantine that it proposes."""
    with Session(services().engine) as session:
        row = findings.finding(session, finding)
        if row is None:
            raise UnknownFinding(f"there is no finding {finding}", field="finding")
        return jsonify(_shown(row) | {"content": row.content})


def _shown(row: FindingRow) -> dict[str, Any]:
    return {
        "finding": row.id,
        "name": row.name,
        "soc": row.soc,
        "detail": row.content["detail"],
        "arms": row.content["arms"],
        "p_value": row.content["p_value"],
        "windows": row.windows,
        "first_seen": row.first_seen.isoformat(),
        "last_seen": row.last_seen.isoformat(),
        "looks": row.looks,
        "present": row.present,
    }
