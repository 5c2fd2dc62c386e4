"""The decision document: the same bytes for the same decision, and a cache token that follows what was compiled (R-C8)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from builders import BUILD, EDGETPU, REFERENCE, deny, make_document, make_fingerprint, make_model, make_variant, nnapi

from policies.assign import HASH
from policies.decide import decide
from policies.fingerprint import Fingerprint
from policies.knowledge import ArmShare, Knowledge, RankedArm, Ranking
from policies.model import GoldenReference
from policies.vocabulary import Workload
from policies.wire import encoded, golden_json, model_json, to_wire

ISSUED_AT = datetime(2026, 5, 1, 12, 0, 0, 750_000, tzinfo=UTC)
NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp32.tflite.gpu", "int8.tflite.cpu"
QNN = "int8.dlc.qnn"


@pytest.mark.parametrize(
    ("phone", "told"),
    [
        ({"nnapi": nnapi(REFERENCE), "runtimes": {"qnn": "absent"}}, True),
        ({"nnapi": nnapi(REFERENCE | {"type": "accelerator"})}, True),
        ({"nnapi": None, "runtimes": {"qnn": None}}, True),
        ({"nnapi": nnapi({"name": "nnapi-sample_all"}, REFERENCE)}, True),
        ({"nnapi": nnapi(REFERENCE), "runtimes": {"qnn": "loaded 2.50"}}, False),
        ({"nnapi": nnapi(EDGETPU, REFERENCE)}, False),
    ],
)
def test_a_phone_without_an_accelerator_is_told_why_it_gets_none(phone: dict[str, Any], told: bool) -> None:
    decision = decide(make_fingerprint(**phone), make_document(), [make_model()], Knowledge())
    because = model_json(decision.models[0], decision.fingerprint)["because"]
    assert ({"reason": "no-accelerator"} in because) == told


def test_a_golden_reference_that_is_kept_says_where() -> None:
    stated = GoldenReference(input_sha256="a" * 64, tolerance=0.05)
    assert golden_json(stated) == {"input_sha256": "a" * 64, "tolerance": 0.05}
    kept = golden_json(stated.model_copy(update={"output_sha256": "b" * 64}))
    assert (kept["input_url"], kept["output_url"]) == (f"/v1/artifacts/{'a' * 64}", f"/v1/artifacts/{'b' * 64}")


def ranking(arm: str, expected_ms: float) -> Ranking:
    return Ranking((RankedArm(arm, expected_ms, 0.1, 9),), (ArmShare(arm, 10_000),))


def document(
    phone: Fingerprint | None = None,
    knowledge: Knowledge | None = None,
    issued_at: datetime = ISSUED_AT,
    policy: dict[str, Any] | None = None,
    **model: Any,
) -> bytes:
    stated = make_document(**(policy or {}))
    decision = decide(phone or make_fingerprint(), stated, [make_model(**model)], knowledge or Knowledge())
    return encoded(to_wire(decision, stated, 41, issued_at))


def read(*args: Any, **named: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(document(*args, **named))
    return found


def segmentation(*args: Any, **named: Any) -> dict[str, Any]:
    found: dict[str, Any] = read(*args, **named)["models"]["segmentation"]
    return found


def test_the_same_decision_gives_the_same_bytes() -> None:
    assert document() == document()


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=5, minutes=30))])
def test_times_are_utc_in_whole_seconds_wherever_they_come_from(zone: timezone) -> None:
    found = read(issued_at=ISSUED_AT.astimezone(zone), policy={"valid_s": 3600})
    assert (found["issued_at"], found["expires_at"]) == ("2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z")


def test_every_arm_of_every_ladder_is_described_and_no_other() -> None:
    model = segmentation()
    ladders = [split["ladder"] for plan in model["plans"].values() for split in plan["splits"]]
    assert set(model["arms"]) == {arm for ladder in ladders for arm in ladder} == {NPU, GPU, CPU}
    assert model["plans"]["main"] == {
        "salt": "camera.segmentation",
        "hash": HASH,
        "splits": [{"weight": 10_000, "ladder": [NPU, GPU, CPU]}],
    }


def test_an_arm_names_its_file_its_driver_as_the_phone_spells_it_and_its_limits() -> None:
    variant = make_variant("int8", size_bytes=1_362_080)
    phone = make_fingerprint(nnapi=nnapi({**EDGETPU, "name": "Google-EdgeTPU"}))
    knowledge = Knowledge({"segmentation": {Workload.BURST: ranking(NPU, 100.0)}})
    arm = segmentation(phone, knowledge, variants=[variant])["arms"][NPU]
    assert arm["variant"]["url"] == f"/v1/artifacts/{variant['sha256']}"
    assert (arm["runtime"], arm["delegate"], arm["accelerator"]) == ("litert", "nnapi", "Google-EdgeTPU")
    assert arm["limits"]["run_timeout_ms"] == 700
    assert arm["limits"]["watchdog_ms"] > arm["limits"]["run_timeout_ms"]
    assert arm["options"]["allow_reference_cpu"] is False


@pytest.mark.parametrize(("expected_ms", "timeout_ms"), [(0.9, 500), (71.4, 500), (72.0, 504), (900.0, 6300)])
def test_a_timeout_is_a_multiple_of_the_mean_and_never_under_half_a_second(expected_ms: float, timeout_ms: int) -> None:
    knowledge = Knowledge({"segmentation": {w: ranking(CPU, expected_ms) for w in Workload}})
    assert segmentation(knowledge=knowledge)["arms"][CPU]["limits"]["run_timeout_ms"] == timeout_ms


def test_situations_are_in_order_of_trial_and_the_last_holds_for_all() -> None:
    knowledge = Knowledge({"segmentation": {Workload.BURST: ranking(NPU, 4), Workload.SUSTAINED: ranking(GPU, 9)}})
    model = segmentation(knowledge=knowledge)
    assert model["situations"] == [
        {"when": {"workload": "sustained"}, "plan": "sustained"},
        {"when": {}, "plan": "main"},
    ]
    assert model["plans"]["sustained"]["splits"][0]["ladder"][0] == GPU
    assert [reason["rule"] for reason in model["because"]] == ["learned", "learned"]


def test_exploring_splits_and_denies_are_named() -> None:
    model = segmentation(policy={"exploration_bp": 1000, "denies": [deny("q1", NPU)]})
    assert [split.get("explore", False) for split in model["plans"]["main"]["splits"]][:2] == [False, True]
    assert {"deny": "q1"} in model["because"]


# Cache tokens.


def tokens(phone: Fingerprint | None = None, **model: Any) -> dict[str, str]:
    variants = [make_variant("int8"), make_variant("fp32"), make_variant("int8", "dlc")]
    arms = segmentation(phone or _phone(), **({"variants": variants} | model))["arms"]
    return {arm: settings["options"]["compile_cache_token"] for arm, settings in arms.items()}


def _phone(**changes: Any) -> Fingerprint:
    return make_fingerprint(**({"runtimes": {"qnn": "loaded 2.30"}, "nnapi": nnapi(EDGETPU)} | changes))


def test_a_token_is_32_bytes_and_no_two_arms_share_one() -> None:
    found = tokens()
    assert {len(bytes.fromhex(token)) for token in found.values()} == {32}
    assert len(set(found.values())) == len(found) >= 3


def test_another_build_or_another_phone_changes_every_token() -> None:
    for device in ({"build_fingerprint": BUILD.replace("/1:", "/2:")}, {"model": "Pixel 10"}):
        new = tokens(_phone(device=device))
        assert all(new[arm] != token for arm, token in tokens().items())


def test_another_driver_version_changes_the_tokens_of_that_driver_alone() -> None:
    old, new = tokens(), tokens(_phone(runtimes={"qnn": "loaded 2.31"}))
    assert {arm for arm in old if old[arm] != new[arm]} == {QNN}


def test_another_nnapi_driver_changes_its_token() -> None:
    variants = [make_variant("int8", graph=None)]
    knowledge = Knowledge({"segmentation": {w: ranking(NPU, 4.0) for w in Workload}})

    def token(version: str) -> str:
        phone = _phone(nnapi=nnapi(dict(EDGETPU, version=version)))
        found: str = segmentation(phone, knowledge, variants=variants)["arms"][NPU]["options"]["compile_cache_token"]
        return found

    assert token("2.0") == token("2.0") != token("2.1")


def test_a_document_asks_for_another_probe_where_one_could_tell_more() -> None:
    def probe(state: str) -> Any:
        phone = make_fingerprint(runtimes={"edgetpu": state})
        decision = decide(phone, make_document(), [make_model()], Knowledge())
        return to_wire(decision, make_document(), 1, ISSUED_AT).get("probe")

    assert probe("not_found in /vendor/lib64") == ["runtimes.edgetpu"]
    assert probe("absent") is None


def test_another_version_of_the_apps_own_runtime_changes_every_token_and_the_driver_stack() -> None:
    before, after = (make_fingerprint(runtimes={"tflite": f"loaded {version}"}) for version in ("22.26.15", "22.30.1"))
    old, new = tokens(before), tokens(after)
    assert old.keys() == new.keys()
    assert not set(old.values()) & set(new.values())
    assert before.driver_stack != after.driver_stack
    assert before.anomalies == ()


def test_another_file_changes_its_token_alone() -> None:
    variants = [make_variant("int8"), make_variant("fp32"), make_variant("int8", "dlc", sha256="b" * 64)]
    old, new = tokens(), tokens(variants=variants)
    assert {arm for arm in old if old[arm] != new[arm]} == {QNN}


def test_sustained_work_compiles_with_other_options_and_so_under_another_token() -> None:
    burst = Knowledge({"segmentation": {Workload.BURST: ranking(NPU, 4), Workload.SUSTAINED: ranking(CPU, 4)}})
    sustained = Knowledge({"segmentation": {Workload.BURST: ranking(CPU, 4), Workload.SUSTAINED: ranking(NPU, 4)}})
    first, second = (segmentation(knowledge=learned)["arms"][NPU]["options"] for learned in (burst, sustained))
    assert (first["burst"], second["burst"]) == (False, True)
    assert first["compile_cache_token"] != second["compile_cache_token"]


def test_fewer_cores_give_fewer_threads_and_change_the_token_of_the_cpu_alone() -> None:
    small = _phone(device={"cpu": {"cores": 2, "features": []}})
    assert segmentation(small)["arms"][CPU]["options"]["threads"] == 2
    old, new = tokens(), tokens(small)
    assert {arm for arm in old if old[arm] != new[arm]} == {CPU}


def test_what_is_no_part_of_the_compiled_file_changes_no_token() -> None:
    assert tokens(latency_target_ms=5.0) == tokens()
    assert tokens(_phone(probe={"failures": [{"step": "nnapi:x", "signal": 6}]})) == tokens()
