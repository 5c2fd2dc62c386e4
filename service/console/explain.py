"""Explain: why one phone gets what it gets. Nothing that is pasted here is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask import render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlmodel import Session

from policies.asked import MAX_UNIT_CHARACTERS, Moment
from policies.errors import InvalidField, NnfleetError, NotKnown, UnknownApp, UnknownModel
from policies.explaining.explain import Explanation
from policies.explaining.explanation_json import chosen_json
from policies.fingerprint import Fingerprint, fingerprint
from policies.report import MAX_BYTES, parse_report
from policies.vocabulary import Workload
from service.console.charts import Interval, intervals
from service.console.own_apps import reader
from service.console.paging import stated
from service.context import services
from service.deciding import stored_facts
from service.deciding.explained import explained
from service.live import live_release, release_asked
from service.releasing.release_content import ReleaseContent


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form says. `model` is `app/name`; `pasted` a report, None where a stored one is asked for."""

    report: str
    device_class: str
    model: str
    workload: str
    unit: str
    release: str
    pasted: str | None = None

    @property
    def blank(self) -> bool:
        """Whether no phone is named."""
        return not (self.report or self.device_class or self.pasted is not None)


@dataclass(slots=True)
class _Answer:
    """An explanation, or what is wrong with which field ("report", "class", "pasted", "model", "workload", "release").

    `intervals` are the places of its learned estimates on a shared axis; `settings` those of the first rung, flat.
    """

    made: Explanation | None = None
    release: int | None = None
    intervals: list[Interval] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    share_link: str | None = None
    errors: dict[str, str] = field(default_factory=dict)
    status: int = 200


def page() -> ResponseReturnValue:
    """The form, and the explanation of the stored report or class that it names."""
    return _answered(_asked(request.args, pasted=None))


def pasted() -> ResponseReturnValue:
    """The explanation of a report in the form."""
    # Browsers send line ends as CRLF; JSON does not mind.
    return _answered(_asked(request.form, pasted=request.form.get("pasted", "")))


def _asked(args: Mapping[str, str], *, pasted: str | None) -> Asked:
    app, model = stated(args, "app"), stated(args, "model")
    named = f"{app}/{model}" if app and model and "/" not in model else model
    report, device_class = ("", "") if pasted is not None else (stated(args, "report"), stated(args, "class"))
    unit = stated(args, "unit")[:MAX_UNIT_CHARACTERS]
    return Asked(report, device_class, named, stated(args, "workload"), unit, stated(args, "release"), pasted)


def _answered(asked: Asked) -> ResponseReturnValue:
    content = live_release()
    answer = _explained(asked) if content else _Answer()
    page = render_template(
        "console/explain.html",
        asked=asked,
        answer=answer,
        content=content,
        models={app: models for app, models in content.models.items() if reader().sees(app)} if content else {},
        workloads=list(Workload),
        pasted_limit=MAX_BYTES,
    )
    return page, answer.status


def _explained(asked: Asked) -> _Answer:
    if asked.blank:
        return _Answer()
    try:
        content = release_asked(_release(asked.release))
        facts = _facts(asked)
        app, model = _model(asked.model, content)
        moment = Moment(workload=_workload(asked.workload), unit_id=asked.unit or None)
        [made] = explained(facts, content, app, model, moment)
    except NnfleetError as error:
        place, text = _placed(error, asked)
        return _Answer(errors={place: text}, status=404 if isinstance(error, NotKnown) else 422)
    return _Answer(
        made=made,
        release=content.number,
        intervals=intervals([(line.learned.expected_ms, line.low_ms, line.high_ms) for line in made.ranking]),
        settings=_settings(made),
        share_link=_share_link(asked, made),
    )


def _settings(made: Explanation) -> dict[str, Any]:
    """Settings of the first rung, flat: "limits.run_timeout_ms" → value."""
    settings = {name: value for name, value in (chosen_json(made) or {}).items() if name in _SHOWN}
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
    return flat


_SHOWN: Final = ("options", "limits", "warmup_runs", "workarounds")


def _facts(asked: Asked) -> Fingerprint:
    if asked.pasted is not None:
        return fingerprint(parse_report(asked.pasted.encode()))
    with Session(services().engine) as session:
        if asked.report:
            return stored_facts.of_report(session, asked.report.lower())
        return stored_facts.of_class(session, asked.device_class)[1]


def _model(named: str, content: ReleaseContent) -> tuple[str, str]:
    """(app, model) of the choice; the first there is where none was made."""
    if named:
        app, _, model = named.partition("/")
        if not reader().sees(app):
            raise UnknownApp(f"no app {app!r} of yours is in release {content.number}", field="app")
        return app, model
    own = ((app, models) for app, models in sorted(content.models.items()) if models and reader().sees(app))
    first = next(((app, models[0].name) for app, models in own), None)
    if first is None:
        raise UnknownModel(f"release {content.number} has no models", field="model")
    return first


def _release(text: str) -> int | None:
    """The number of an older release; None for the live one."""
    if text and not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise InvalidField(f"{text!r} is no number of a release", field="release")
    return int(text) if text else None


def _workload(stated_workload: str) -> Workload:
    try:
        return Workload(stated_workload or Workload.BURST)
    except ValueError:
        raise InvalidField(f"{stated_workload!r} is no workload: burst or sustained", field="workload") from None


_FORM_FIELD: Final = {"report_id": "report", "app": "model"} | {
    name: name for name in ("class", "model", "workload", "release")
}


def _placed(error: NnfleetError, asked: Asked) -> tuple[str, str]:
    """(form field, text) of an error. What is wrong inside a pasted report is told with its place in there."""
    if asked.pasted is not None and not (isinstance(error, NotKnown) or error.field in {"workload", "release"}):
        inside = error.field and error.field not in error.detail
        return "pasted", f"{error.field}: {error.detail}" if inside else error.detail
    return _FORM_FIELD.get(error.field or "", "report"), error.detail


def _share_link(asked: Asked, made: Explanation) -> str | None:
    """An address that shows the same again, for any unit: a unit's id is nobody else's business. None for what is not stored.

    It names no host: the one that a request states is whatever its sender wrote.
    """
    if asked.pasted is not None:
        return None
    phone = {"report": asked.report} if asked.report else {"class": asked.device_class}
    choice = {"model": f"{made.model.app}/{made.model.name}", "workload": made.moment.workload.value}
    values: dict[str, Any] = phone | choice | ({"release": asked.release} if asked.release else {})
    return url_for("console.explain", **values)
