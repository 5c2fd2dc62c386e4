"""Plain flags: one kind each, rules in the policy language, splits that keep whoever has them (R-F6, R-C4, R-C9)."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from builders import make_fingerprint
from hypothesis import given
from hypothesis import strategies as st

from policies.asked import Moment
from policies.assign import bucket
from policies.errors import ConditionError, InvalidField, TargetingKeyMissing
from policies.evaluation import Evaluated, Reason
from policies.flag_evaluation import Caller, evaluate_flag
from policies.flags import FlagDocument
from policies.rollouts.staged_flags import evaluate_staged
from policies.validation import validated

GERMANS = {"id": "germans", "when": "request.country == 'DE'", "variant": "on"}
_UNITS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30)
HALF = {"id": "half", "split": [{"variant": "on", "weight_bp": 5_000}, {"variant": "off", "weight_bp": 5_000}]}


def stated(**flag: Any) -> FlagDocument:
    fields = {"variants": {"on": True, "off": False}, "default_variant": "off"} | flag
    return validated(FlagDocument, {"app": "camera", "flags": {"night": fields}})


def evaluated(moment: Moment | None = None, phone: Any = None, **flag: Any) -> Evaluated:
    caller = Caller(phone, moment or Moment())
    return evaluate_flag("camera", "night", stated(**flag).flags["night"], caller, release=7)


def saying(unit_id: str | None = None, **facts: Any) -> Moment:
    return Moment(unit_id=unit_id, facts=facts)


def test_a_flag_without_rules_is_its_default_for_all() -> None:
    found = evaluated()
    assert (found.key, found.value, found.variant, found.reason) == ("camera.night", False, "off", Reason.STATIC)


def test_the_first_rule_that_holds_gives_the_variant() -> None:
    again = {"id": "again", "when": "request.country == 'DE'", "variant": "off"}
    found = evaluated(saying(country="DE"), rules=[GERMANS, again])
    assert (found.value, found.variant, found.reason) == (True, "on", Reason.TARGETING_MATCH)
    assert found.metadata["rule"] == "germans"


def test_what_is_not_known_holds_nowhere_and_is_named() -> None:
    for rule in (GERMANS, GERMANS | {"when": "!(request.country == 'DE')"}):
        found = evaluated(rules=[rule])
        assert (found.variant, found.reason) == ("off", Reason.DEFAULT)
        assert found.metadata["unknown"] == "request.country"


def test_rules_may_ask_about_the_phone_where_one_is_named() -> None:
    rule = {
        "id": "tensor",
        "when": "device.soc == 'tensor-g4' && accelerators.exists(a, a.level >= 7)",
        "variant": "on",
    }
    assert evaluated(phone=make_fingerprint(), rules=[rule]).variant == "on"
    assert evaluated(rules=[rule]).metadata["unknown"] == "device.soc"


@pytest.mark.parametrize("stated", ["NFC", "NFD"])
@pytest.mark.parametrize("said", ["NFC", "NFD"])
def test_a_text_is_the_same_in_every_spelling_of_unicode(stated: Any, said: Any) -> None:
    rule = {"id": "place", "when": f"request.city == '{unicodedata.normalize(stated, 'São Paulo')}'", "variant": "on"}
    assert evaluated(saying(city=unicodedata.normalize(said, "São Paulo")), rules=[rule]).variant == "on"


def test_a_split_draws_by_the_bucket_that_plans_draw_by() -> None:
    for unit in ("a", "b", "c", "d", "e"):
        found = evaluated(saying(unit), rules=[HALF])
        assert found.variant == ("on" if bucket("camera.night", unit) < 5_000 else "off")
        assert found.metadata["propensity"] == 0.5
        assert found.reason is Reason.SPLIT


def test_only_a_split_needs_a_unit() -> None:
    assert evaluated(saying(country="DE"), rules=[GERMANS, HALF]).variant == "on"
    with pytest.raises(TargetingKeyMissing, match=r"camera\.night"):
        evaluated(saying(country="FR"), rules=[GERMANS, HALF])


@pytest.mark.parametrize("first", ["on", "off"])
def test_a_share_of_all_needs_no_unit_and_one_of_none_is_nobody_s(first: str) -> None:
    whole = {"id": "all", "split": [{"variant": first, "weight_bp": 0}, {"variant": "on", "weight_bp": 10_000}]}
    for moment in (saying(), saying("u")):
        found = evaluated(moment, rules=[whole])
        assert (found.variant, found.metadata["propensity"]) == ("on", 1.0)


@given(unit=_UNITS, smaller=st.integers(0, 10_000), larger=st.integers(0, 10_000))
def test_a_raised_share_keeps_its_members(unit: str, smaller: int, larger: int) -> None:
    smaller, larger = sorted((smaller, larger))
    variants = [
        evaluated(
            saying(unit),
            rules=[
                {"id": "s", "split": [{"variant": "on", "weight_bp": w}, {"variant": "off", "weight_bp": 10_000 - w}]}
            ],
        ).variant
        for w in (smaller, larger)
    ]
    assert variants != ["on", "off"]


@pytest.mark.parametrize("flag", [{"disabled": True}, {"default_variant": None}])
def test_what_has_no_value_leaves_it_to_the_code(flag: dict[str, Any]) -> None:
    told = evaluated(**flag).to_json()
    assert "value" not in told
    assert told["variant"] == ""
    assert told["reason"] == ("DISABLED" if "disabled" in flag else "DEFAULT")


def test_the_owner_s_metadata_come_along_and_go_before_ours() -> None:
    assert evaluated(metadata={"owner": "camera team", "release": "x"}).metadata == {
        "owner": "camera team",
        "release": "x",
    }


def test_whole_numbers_beside_others_are_numbers_like_them() -> None:
    found = evaluated(variants={"on": 0.5, "off": 0}, default_variant="off").value
    assert (found, type(found)) == (0.0, float)
    assert type(evaluated(variants={"on": 1, "off": 0}).value) is int


@pytest.mark.parametrize(
    ("flag", "field", "said"),
    [
        ({"variants": {}}, "flags.night.variants", "at least 1"),
        ({"variants": {"on": True, "off": "no"}}, "flags.night.variants", "several kinds: boolean, string"),
        ({"variants": {"on": 2**53}}, "flags.night.variants.on", "up to 9007199254740991"),
        ({"variants": {"on": 1e16}}, "flags.night.variants.on", "up to 9007199254740991"),
        ({"variants": {"on": None}}, "flags.night.variants.on", "a flag is a boolean"),
        ({"metadata": {"owner": ["x"]}}, "flags.night.metadata.owner", "metadata are"),
        ({"default_variant": "of"}, "flags.night", "no variant 'of'"),
        ({"rules": [GERMANS | {"variant": "onn"}]}, "flags.night", "no variant 'onn'"),
        ({"rules": [{"id": "x"}]}, "flags.night.rules.0", "either a variant or a split"),
        ({"rules": [GERMANS | HALF]}, "flags.night.rules.0", "either a variant or a split"),
        ({"rules": [HALF | {"split": HALF["split"][:1]}]}, "flags.night.rules.0", "weights sum to 5000"),
        ({"rules": [GERMANS | {"vhen": "true"}]}, "flags.night.rules.0.vhen", "`when`"),
    ],
)
def test_a_typo_is_refused_with_its_place(flag: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidField) as refused:
        stated(**flag)
    assert (refused.value.field or "").startswith(field)
    assert said in refused.value.detail


def test_a_condition_is_refused_with_line_and_column_and_the_nearest_name() -> None:
    with pytest.raises(ConditionError) as refused:
        stated(rules=[GERMANS | {"when": "devise.soc == 'x'"}])
    assert refused.value.field == "flags.night.rules.0.when"
    assert (refused.value.line, refused.value.column, refused.value.nearest) == (1, 1, "device")


def test_rules_cannot_ask_about_a_model_or_an_arm() -> None:
    with pytest.raises(ConditionError, match="arm"):
        stated(rules=[GERMANS | {"when": "arm.delegate == 'nnapi'"}])


def in_rollout(unit: str | None, share_bp: int, candidate: FlagDocument | None) -> Evaluated:
    caller = Caller(None, Moment(unit_id=unit))
    flag = candidate.flags["night"] if candidate else None
    return evaluate_staged("camera", "night", stated().flags["night"], flag, share_bp, caller, release=7)


@given(_UNITS, st.integers(0, 10_000), st.integers(0, 10_000))
def test_in_a_rollout_a_raised_share_keeps_whoever_has_the_candidates_flag(unit: str, one: int, other: int) -> None:
    newer = stated(default_variant="on")
    few, many = (in_rollout(unit, share_bp, newer) for share_bp in sorted((one, other)))
    assert (few.value, few.metadata.get("side")) in {(True, "candidate"), (False, None)}
    assert many.value or not few.value


def test_in_a_rollout_who_names_no_unit_and_what_only_one_side_has_stays_as_it_was() -> None:
    newer = stated(default_variant="on")
    assert in_rollout("a", 10_000, newer).value is True
    for unchanged in (
        in_rollout(None, 10_000, newer),
        in_rollout("a", 10_000, None),
        in_rollout("a", 10_000, stated()),
    ):
        assert (unchanged.value, "side" in unchanged.metadata) == (False, False)
