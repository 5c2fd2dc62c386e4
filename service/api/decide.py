"""`POST /v1/decide`: the decision for one phone, taken apart. For people and programs that ask why."""

from __future__ import annotations

from typing import Annotated, Any, Final

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from pydantic import Field

from policies import strict_json
from policies.asked import Moment
from policies.explaining.explanation_json import explanations_json
from policies.model import Sha256, Slug
from policies.validation import Stated, validated
from service.api.asked_facts import facts_asked
from service.deciding.explained import explained
from service.live import release_asked
from service.web.door import check_device_app
from service.web.reading import bounded_body

blueprint = Blueprint("decide", __name__, url_prefix="/v1")
MAX_BYTES: Final = 256 * 1024
MAX_DEPTH: Final = 12


class Question(Stated):
    """What is asked: which phone, by its report or the report's id; of which app, model and release; at which moment."""

    app: Slug
    model: Slug | None = None
    report_id: Sha256 | None = None
    report: dict[str, Any] | None = None
    request: Moment = Moment()
    release: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


@blueprint.post("/decide")
def decide() -> ResponseReturnValue:
    """The chosen arm of each model, with every rule, deny, arm, estimate and share behind it."""
    raw = strict_json.loads(bounded_body(MAX_BYTES), max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    asked = validated(Question, raw)
    check_device_app(asked.app)
    content = release_asked(asked.release)
    facts = facts_asked(asked.report_id, asked.report)
    made = explained(facts, content, asked.app, asked.model, asked.request)
    return jsonify(explanations_json(asked.app, content.number, made))
