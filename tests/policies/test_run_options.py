"""Run settings that an operator states: for some arms, on some phones, and never against what is unknown (R-C6, R-C8)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import make_document, make_fingerprint, make_model, make_variant

from policies.decide import decide_model
from policies.document_text import POLICY
from policies.errors import ConditionError, InvalidField
from policies.fingerprint import Fingerprint
from policies.knowledge import Knowledge
from policies.wire import model_json

NPU, GPU, CPU = "int8.tflite.nnapi.google-edgetpu", "fp16.tflite.gpu", "int8.tflite.cpu"
PHONE = make_fingerprint()


def setting(name: str, *arms: str, use: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"id": name, "arms": list(arms), "use": use} | changes


def options(told: dict[str, Any], arm: str) -> dict[str, Any]:
    found: dict[str, Any] = told["arms"][arm]["options"]
    return found


def ladder(*arms: str) -> dict[str, Any]:
    return {"rules": [{"id": "these", "when": "true", "use": {"ladder": list(arms)}}]}


def run(arm: str, *settings: dict[str, Any], phone: Fingerprint = PHONE) -> dict[str, Any]:
    """The model's decision with a ladder that begins with this arm."""
    graph = make_model().variants[0].graph
    model = make_model(variants=[make_variant("int8", graph=graph), make_variant("fp16"), make_variant("fp32")])
    document = make_document(settings=list(settings), **ladder(arm))
    return model_json(decide_model(phone, document, model, Knowledge()), phone)


def test_storing_in_half_precision_and_computing_in_it_are_set_apart() -> None:
    plain = options(run(GPU), GPU)
    assert (plain["allow_fp16"], plain["allow_fp16_storage"]) == (True, True)
    overflowing = setting("overflows", "*.gpu", when='gpu.family == "mali-g715"', use={"allow_fp16": False})
    told = run(GPU, overflowing)
    assert (options(told, GPU)["allow_fp16"], options(told, GPU)["allow_fp16_storage"]) == (False, True)
    assert {"settings": "overflows"} in told["because"]


def test_another_phone_and_another_arm_are_run_as_before() -> None:
    overflowing = setting("overflows", "*.gpu", when='gpu.family == "mali-g715"', use={"allow_fp16": False})
    other = make_fingerprint(gpu={"renderer": "Adreno (TM) 730"})
    assert run(GPU, overflowing, phone=other) == run(GPU, phone=other)
    assert options(run(NPU, overflowing), NPU) == options(run(NPU), NPU)


def test_what_is_unknown_changes_nothing_and_is_told() -> None:
    unsure = setting("unsure", "*.gpu", when='dotted(gpu.vulkan, "< 1.1")', use={"allow_fp16": False})
    phone = make_fingerprint(gpu={"renderer": "Mali-G715"})
    told = run(GPU, unsure, phone=phone)
    assert options(told, GPU)["allow_fp16"] is True
    assert {"settings": "unsure", "unknown": ["gpu.vulkan"]} in told["because"]


def test_of_several_that_hold_the_later_one_counts_option_by_option() -> None:
    told = run(
        NPU,
        setting("few", "*.nnapi.*", use={"max_partitions": 2, "allow_fp16": True}),
        setting("fewer", "int8.*", use={"max_partitions": 1}),
        setting("another-model", "*", use={"max_partitions": 9}, models=["detection"]),
    )
    assert (options(told, NPU)["max_partitions"], options(told, NPU)["allow_fp16"]) == (1, True)
    assert options(told, CPU) == options(run(NPU), CPU) | {
        "max_partitions": 1,
        "compile_cache_token": options(told, CPU)["compile_cache_token"],
    }


def test_an_operator_can_have_everything_compiled_anew() -> None:
    token = "compile_cache_token"
    before, told = run(NPU), run(NPU, setting("anew", "*.nnapi.*", use={"compile_cache_epoch": 1}))
    assert options(told, NPU)[token] != options(before, NPU)[token]
    assert options(told, CPU)[token] == options(before, CPU)[token]
    again = run(NPU, setting("anew", "*.nnapi.*", use={"compile_cache_epoch": 2}))
    assert options(again, NPU)[token] not in {options(told, NPU)[token], options(before, NPU)[token]}


def test_whatever_a_driver_needs_is_stated_and_reaches_the_phone() -> None:
    use = {
        "execution_preference": "low_power", "priority": "low", "burst": False, "shared_buffers": True, "batch_size": 4,
        "warmup_runs": 0, "max_concurrency": 2, "workarounds": ["serialise_executions", "keep_model_alive"],
    }  # fmt: skip
    told = run(NPU, setting("fragile", "*.nnapi.*", use=use))["arms"][NPU]
    limits = {"max_concurrency": told["limits"]["max_concurrency"]}
    stated = told["options"] | limits | {name: told[name] for name in ("warmup_runs", "workarounds")}
    assert {name: stated[name] for name in use} == use
    assert "workarounds" not in told["options"]


def test_how_often_and_how_carefully_it_is_run_voids_no_compiled_cache() -> None:
    careful = {"warmup_runs": 9, "max_concurrency": 2, "workarounds": ["serialise_executions"]}
    before, told = run(NPU), run(NPU, setting("careful", "*", use=careful))
    assert options(told, NPU) == options(before, NPU)
    batched = run(NPU, setting("batched", "*", use={"batch_size": 4}))
    assert options(batched, NPU)["compile_cache_token"] != options(before, NPU)["compile_cache_token"]


@pytest.mark.parametrize(
    ("stated", "field"),
    [
        (setting("s", "*.gpu", use={}), "settings.0.use"),
        (setting("s", "*.gpu", use={"max_partitions": 0}), "settings.0.use.max_partitions"),
        (setting("s", "*.gpu", use={"allow_fp_16": True}), "settings.0.use.allow_fp_16"),
        (setting("s", "*.gpu", use={"workarounds": ["serialize"]}), "settings.0.use.workarounds.0"),
        (setting("s", "*.gpo", use={"threads": 2}), "settings.0.arms.0"),
        (setting("s", "*.gpu", use={"threads": 2}, when="gpu.famly == 'x'"), "settings.0.when"),
    ],
)
def test_settings_with_a_typo_are_refused_with_their_place(stated: dict[str, Any], field: str) -> None:
    with pytest.raises((InvalidField, ConditionError)) as refused:
        POLICY.parse({"app": "camera", "settings": [stated]})
    assert refused.value.field == field


def test_two_settings_of_one_id_are_refused() -> None:
    with pytest.raises(InvalidField, match="two settings have one id"):
        make_document(settings=[setting("s", "*", use={"threads": 1})] * 2)
