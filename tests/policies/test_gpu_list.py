"""LiteRT's GPU list becomes denies that say what its last word says (R-C4)."""

from __future__ import annotations

from typing import Any

import pytest
from builders import make_document, make_fingerprint, make_model
from hypothesis import given
from hypothesis import strategies as st

from policies.decide import decide_model
from policies.errors import InvalidField
from policies.fingerprint import Fingerprint
from policies.gpu_list import gpu_denies
from policies.knowledge import Knowledge

HEAD = "order,conditions,status\n"
LIST = HEAD + (
    "0,opengl_es_version == 3.0,UNSUPPORTED\n"
    "1,opengl_es_version == 3.2 AND gpu_model == mali_g71 AND device_model == sm_g950f AND android_sdk_version <= 28,UNSUPPORTED\n"
    "2,opengl_es_version == 3.2 AND gpu_model == mali_g71 AND android_sdk_version <= 9,UNSUPPORTED\n"
    "3,gpu_model == mali_g71 AND android_sdk_version >= 28,SUPPORTED\n"
    "4,opengl_es_version == 3.2 AND gpu_model == angle_(samsung_xclipse_940)_on_vulkan AND android_sdk_version <= 34,UNSUPPORTED\n"
    "5,android_sdk_version == 25 AND device_model == moto_g_(4),UNSUPPORTED\n"
)


def phone(renderer: str, gles: str, model: str, api_level: int, maker: str = "Samsung") -> Fingerprint:
    device = {"manufacturer": maker, "model": model, "api_level": api_level, "build_fingerprint": None}
    return make_fingerprint(device=device, gpu={"renderer": renderer, "gles": gles})


def gpu_is_offered(text: str, one: Fingerprint) -> bool:
    denies = [deny.model_dump(mode="json") for deny in gpu_denies(text)]
    arms = decide_model(one, make_document(denies=denies), make_model(), Knowledge()).arms
    return any(arm.endswith(".gpu") for arm in arms)


@pytest.mark.parametrize(
    ("one", "offered"),
    [
        (phone("Mali-G71", "OpenGL ES 3.2 v1.r16p0", "SM-G950F", 27), False),
        (phone("Mali-G71", "OpenGL ES 3.2 v1.r16p0", "SM-G950F", 28), True),
        (phone("Mali-G71", "OpenGL ES 3.2 v1.r16p0", "SM-G955F", 27), True),
        (phone("Mali-G71", "3.2", "SM-G955F", 9), False),
        (phone("Mali-G71", "3.2", "SM-G955F", 10), True),
        (phone("Mali-G71", "3.0", "SM-G955F", 27), False),
        (phone("Mali-G71", "3.0", "SM-G955F", 28), True),
        (phone("Adreno (TM) 740", "3.0", "X", 30), False),
        (phone("Adreno (TM) 740", "3.2", "X", 30), True),
        (phone("ANGLE (Samsung Xclipse 940) on Vulkan 1.3.279", "3.2", "SM-S926B", 34), False),
        (phone("ANGLE (Samsung Xclipse 940) on Vulkan 1.3.279", "3.2", "SM-S926B", 35), True),
        (phone("Adreno (TM) 405", "3.1", "Moto G (4)", 25), False),
    ],
)
def test_the_list_takes_the_gpu_from_the_phones_it_calls_unsupported(one: Fingerprint, offered: bool) -> None:
    assert gpu_is_offered(LIST, one) is offered


GPUS, MODELS, MAKERS, VERSIONS = ["mali_g71", "adreno_(tm)_405"], ["sm_a", "sm_b"], ["samsung", "vivo"], ["3.1", "3.2"]
CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "opengl_es_version": st.sampled_from(VERSIONS),
        "gpu_model": st.sampled_from(GPUS),
        "manufacturer": st.sampled_from(MAKERS),
        "device_model": st.sampled_from(MODELS),
        "android_sdk_version": st.tuples(st.sampled_from(["==", ">=", "<="]), st.integers(8, 12)),
    },
).filter(bool)
ENTRIES = st.lists(st.tuples(CONDITIONS, st.sampled_from(["SUPPORTED", "UNSUPPORTED"])), max_size=7)
PHONES = st.fixed_dictionaries(
    {
        "opengl_es_version": st.sampled_from(VERSIONS),
        "gpu_model": st.sampled_from(GPUS),
        "manufacturer": st.sampled_from(MAKERS),
        "device_model": st.sampled_from(MODELS),
        "android_sdk_version": st.integers(7, 13),
    }
)
RENDERERS = {"mali_g71": "Mali-G71", "adreno_(tm)_405": "Adreno (TM) 405"}


def matches(conditions: dict[str, Any], facts: dict[str, Any]) -> bool:
    compare = {"==": lambda a, b: a == b, ">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b}
    return all(
        compare[wanted[0]](facts[name], wanted[1]) if isinstance(wanted, tuple) else facts[name] == wanted
        for name, wanted in conditions.items()
    )


def row(conditions: dict[str, Any]) -> str:
    told = ((name, wanted if isinstance(wanted, tuple) else ("==", wanted)) for name, wanted in conditions.items())
    return " AND ".join(f"{name} {operator} {value}" for name, (operator, value) in told)


@given(ENTRIES, PHONES)
def test_the_denies_say_what_the_last_entry_that_matches_says(
    entries: list[tuple[dict[str, Any], str]], facts: dict[str, Any]
) -> None:
    words = [status for conditions, status in entries if matches(conditions, facts)]
    text = HEAD + "".join(f"{n},{row(conditions)},{status}\n" for n, (conditions, status) in enumerate(entries))
    one = phone(
        RENDERERS[facts["gpu_model"]],
        facts["opengl_es_version"],
        facts["device_model"].upper().replace("_", "-"),
        facts["android_sdk_version"],
        facts["manufacturer"].title(),
    )
    assert gpu_is_offered(text, one) is (words[-1:] != ["UNSUPPORTED"])


def test_levels_that_are_supported_again_leave_the_levels_between_them() -> None:
    text = (
        HEAD
        + "0,gpu_model == mali_g71,UNSUPPORTED\n"
        + "".join(f"{n},gpu_model == mali_g71 AND android_sdk_version == {n},SUPPORTED\n" for n in (10, 12))
    )
    assert [deny.when for deny in gpu_denies(text)] == [
        "device.api_level <= 9",
        "device.api_level == 11",
        "device.api_level >= 13",
    ]


def test_entries_that_differ_in_one_name_become_one_deny() -> None:
    text = HEAD + "".join(f"{n},gpu_model == mali_g{n} AND android_sdk_version <= 28,UNSUPPORTED\n" for n in range(9))
    [one] = gpu_denies(text)
    assert len(one.cohort.gpus) == 9
    assert one.when == "device.api_level <= 28"


@pytest.mark.parametrize(
    ("text", "field", "line"),
    [
        ("a,b\n1,2\n", "columns", 1),
        ("", "columns", 1),
        (HEAD + "0,gpu_model == x,MAYBE\n", "status", 2),
        (HEAD + "0,gpu_model == x,SUPPORTED\n1,gpu == x,SUPPORTED\n", "conditions", 3),
        (HEAD + "0,android_sdk_version >= new,SUPPORTED\n", "conditions", 2),
        (HEAD + "0,gpu_model >= x,SUPPORTED\n", "conditions", 2),
        (HEAD + "0,,SUPPORTED\n", "conditions", 2),
        (HEAD + '0,"gpu_model == ' + "x" * 200_000 + '",SUPPORTED\n', "rows", None),
        (HEAD + "\n" * 20_001, "rows", None),
    ],
)
def test_what_is_no_such_list_is_refused_with_its_line(text: str, field: str, line: int) -> None:
    with pytest.raises(InvalidField) as caught:
        gpu_denies(text)
    assert (caught.value.field, caught.value.line) == (field, line)
