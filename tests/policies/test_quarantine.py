"""A quarantine is a deny that somebody answers for (R-E5)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import deny, make_document

from policies.errors import InvalidField
from policies.quarantine import parse_quarantine, under


def stated(**changes: Any) -> dict[str, Any]:
    held = {"app": "camera", "deny": deny("q", "*.gpu", until="2026-06-01"), "evidence": ["seen"], "owner": "anna"}
    return held | changes


@pytest.mark.parametrize(
    "changes", [{"evidence": []}, {"owner": ""}, {"deny": deny("q", "*.gpu")}, {"typo": 1}, {"evidence": [""]}]
)
def test_without_evidence_owner_or_end_it_is_none(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidField):
        parse_quarantine(stated(**changes))


def test_it_lies_over_the_policies_of_its_app_or_of_all() -> None:
    own, all_apps, others = (parse_quarantine(stated(app=app)) for app in ("camera", None, "gallery"))
    document = make_document(denies=[deny("q", "*.nnapi.*")])
    assert [d.id for d in under(document, [own]).denies] == ["q", "quarantine.q"]
    assert [d.id for d in under(document, [all_apps]).denies] == ["q", "quarantine.q"]
    assert under(document, [others]) is document
