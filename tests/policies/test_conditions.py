"""The policy language: what it accepts, what it refuses and where, what it answers."""

import pytest

from policies.errors import ConditionError
from policies.language import INTEGER, OPEN, Context, Record, Vocabulary, compile_condition

PIXEL = {
    "device": {"soc": "tensor-g4", "model": "Pixel 10", "api_level": 34, "abis": ["arm64-v8a"], "ram_gb": None},
    "accelerators": [
        {"name": "google-edgetpu", "kind": "npu", "level": 7, "driver_version": "2.0"},
        {"name": "nnapi-reference", "kind": "cpu", "driver_version": None},
    ],
    "gpu": {"family": "mali-g715", "vulkan": "1.3", "gles": "OpenGL ES 3.2"},
    "request": {"app_version": "5.2.1", "user-id": 4, "beta": True},
}


def ask(text, values=PIXEL):
    return compile_condition(text, field="when").evaluate(Context(values))


def refused(text):
    with pytest.raises(ConditionError) as caught:
        compile_condition(text, field="rules.0.when")
    return caught.value


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ('device.soc == "tensor-g4"', True),
        ('device.soc != "tensor-g4"', False),
        ('device.soc in ["exynos-2400", "tensor-g4"]', True),
        ('"armeabi-v7a" in device.abis', False),
        ("device.api_level >= 31 && device.api_level < 36", True),
        ("device.api_level == -1", False),
        ("device.api_level > 33.5", True),
        ('accelerators.exists(a, a.kind == "npu" && a.level >= 7)', True),
        ('accelerators.exists_one(a, a.kind == "npu")', True),
        ('accelerators.all(a, a.kind == "npu")', False),
        ('device.model.startsWith("Pixel") && device.model.endsWith("10") && device.model.contains("xel")', True),
        ("accelerators.size() == 2", True),
        ("has(gpu.vulkan) && !has(device.ram_gb)", True),
        ('dotted(gpu.vulkan, ">= 1.1, < 1.10")', True),
        ("request.beta", True),
        ('["exynos-2400", "tensor-g4"].exists(x, x == device.soc)', True),
        ('request["user-id"] == 4', True),
        ("true  // whatever the phone is", True),
        ("device.soc\n  == 'tensor-g4'", True),
    ],
)
def test_known_facts_give_a_yes_or_a_no(text, holds):
    assert ask(text).holds is holds


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("device.ram_gb >= 8", ("device.ram_gb",)),
        ("!(device.ram_gb >= 8)", ("device.ram_gb",)),
        ("device.ram_gb != 8", ("device.ram_gb",)),
        ("device.ram_gb in [8, 12]", ("device.ram_gb",)),
        ("!(device.ram_gb in [8, 12])", ("device.ram_gb",)),
        ('device.ram_gb > 4 && device.soc_vendor == "google"', ("device.ram_gb", "device.soc_vendor")),
        ("device.runtimes.qnn.loads", ("device.runtimes.qnn.loads",)),
        ("accelerators.exists(a, a.level >= 8)", ("accelerators[].level",)),
        ("accelerators.all(a, a.level >= 5)", ("accelerators[].level",)),
        ('accelerators.all(a, dotted(a.driver_version, ">= 1.9"))', ("accelerators[].driver_version",)),
        ('dotted(gpu.gles, ">= 3.1")', ('dotted(gpu.gles, ">= 3.1")',)),
        ('!dotted(gpu.gles, ">= 3.1")', ('dotted(gpu.gles, ">= 3.1")',)),
        ('supports("CONV_2D", "TENSOR_FLOAT32")', ('supports("CONV_2D", "TENSOR_FLOAT32")',)),
        ("request.frames > 3", ("request.frames",)),
        ("[4, 8].exists(x, x == device.ram_gb)", ("device.ram_gb",)),
        ("request.beta > 3", ("request.beta",)),
        ('!("x" in request.tags)', ("request.tags",)),
        ('has(device.runtimes.qnn.version) || gpu.opencl == "3.0"', ("device.runtimes.qnn", "gpu.opencl")),
    ],
)
def test_the_unknown_matches_nothing_not_even_negated_and_is_named(text, unknown):
    outcome = ask(text)
    assert (outcome.holds, outcome.unknown) == (None, unknown)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("device.ram_gb > 4 || device.api_level >= 31", True),
        ("device.ram_gb > 4 && device.api_level >= 99", False),
        ("accelerators.exists(a, a.level >= 7)", True),
        ("accelerators.all(a, a.level >= 8)", False),
        ('supports("CONV_2D", "TENSOR_FLOAT32") || device.api_level > 1', True),
    ],
)
def test_the_unknown_does_not_matter_where_the_rest_decides(text, holds):
    assert ask(text).holds is holds


@pytest.mark.parametrize(
    ("text", "line", "column", "nearest"),
    [
        ('device.sco == "tensor-g4"', 1, 8, "soc"),
        ("devise.api_level > 3", 1, 1, "device"),
        ('device.soc == "Tensor G4"', 1, 15, "tensor-g4"),
        ('accelerators.exists(a,\n  a.name == "neuron-ann")', 2, 13, "mtk-neuron"),
        ('arm.delegate == "nnap"', 1, 17, "nnapi"),
        ('variant.precision in ["int8", "float16"]', 1, 31, None),
        ('supports("CONV2D", "TENSOR_FLOAT32")', 1, 10, "CONV_2D"),
        ('supports("CONV_2D", "TENSOR_FLOAT")', 1, 21, "TENSOR_FLOAT32"),
        ('smever(request.app_version, "1.0.0")', 1, 1, "semver"),
        ('device.model.startswith("P")', 1, 14, "startsWith"),
        ("accelerators.exist(a, true)", 1, 14, "exists"),
        ("accelerators.exists(a, a.level >= 30)", 1, 35, "4"),
        ("29 <= device.nnapi_level", 1, 1, "3"),
        ("device.nnapi_level in [1000007, 8]", 1, 24, "7"),
        ("device.nnapi_level == 1000008", 1, 23, "8"),
    ],
)
def test_a_name_that_nobody_knows_is_refused_with_its_place_and_the_nearest_one(text, line, column, nearest):
    fault = refused(text)
    assert (fault.line, fault.column, fault.nearest) == (line, column, nearest)
    assert fault.field == "rules.0.when"
    assert fault.code == "invalid-condition"


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "a name, a literal"),
        ("device.soc ==", 14, "a name, a literal"),
        ("(device.api_level > 3", 22, "`)`"),
        ("device.api_level > 3 device", 22, "an operator"),
        ("device.api_level + 1 > 3", 18, "an operator"),
        ("1 < 2 < 3", 7, "`&&`, `||` or the end"),
        ("device.", 8, "a name after `.`"),
        ("device[0]", 8, "a text between"),
        ('device.api_level > "9"', 20, "a number"),
        ('device.model > "9"', 8, "a number"),
        ('device.api_level == "9"', 21, "an integer"),
        ("device.soc", 8, "a yes or no"),
        ("!device.api_level", 9, "a yes or no"),
        ("device.soc == null", 15, "a name, a literal"),
        ('"a" in device.soc', 15, "a list after `in`"),
        ("3 in device.abis", 1, "a text"),
        ("device.abis == device.abis", 23, "a list"),
        ("device.soc.vendor", 12, "a fact with parts"),
        ("device.model.startsWith(3)", 25, "a text"),
        ('[1, "a"] == device.abis', 5, "an integer"),
        ("device.exists(a, true)", 1, "a list before"),
        ("accelerators.exists(device, true)", 21, "a new name"),
        ("accelerators.exists(a.b, true)", 14, "exists(a, …)"),
        ("accelerators.exists(a, accelerators.exists(b, true))", 37, "one quantifier after another"),
        ('device.model.matches("(?=a)")', 22, "RE2"),
        ('device.model.matches("(a)\\\\1")', 22, "RE2"),
        ("device.model.matches(device.soc)", 29, "a literal text"),
        ('dotted(gpu.vulkan, ">= 1.x")', 20, "a dotted version"),
        ('semver(request.app_version, ">= 1.2")', 29, "a semver version"),
        ("dotted(gpu.vulkan)", 1, "2 values"),
        ("has(device)", 1, "has(device.soc)"),
        ('device.supports("ADD", "TENSOR_INT32")', 1, "an accelerator before"),
        ("device.api_level == 99999999999999999999", 21, "64 bits"),
        ("-device.api_level == 1", 1, "a number"),
    ],
)
def test_a_malformed_condition_is_refused_with_what_was_expected(text, column, expected):
    fault = refused(text)
    assert fault.line == 1
    assert fault.column == column
    assert expected in (fault.expected or "")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5_000,
        "!" * 1_900 + "true",
        "device" + ".a" * 900,
        "[" * 1_000,
        "true || " * 240 + "true",
        "x" * 2_001,
        " && ".join(["accelerators.exists(a, true)"] * 5),
        'device.model.matches("' + "a" * 201 + '")',
        r'device.model.matches("(\\pL{30}){20}")',
        'dotted(gpu.vulkan, "' + ">1," * 9 + '>1")',
        "'\\ud800' == device.model",
        "'open",
        "device.soc == 'a\nb'",
        "§",
    ],
)
def test_what_would_cost_too_much_or_cannot_be_read_is_refused_when_it_is_saved(text):
    refused(text)


def test_a_pattern_that_would_blow_up_elsewhere_takes_linear_time():
    assert ask('device.model.matches("(a+)+b")', {"device": {"model": "a" * 1_000}}).holds is False
    assert ask('device.model.matches("(a+)+b")', {"device": {"model": "a" * 1_025}}).unknown == (
        'matches(device.model, "(a+)+b")',
    )


def test_a_condition_says_which_roots_it_depends_on():
    condition = compile_condition('accelerators.exists(a, a.level > 3) && gpu.family == "x"', field="when")
    assert condition.roots == {"accelerators", "gpu"}


def test_a_vocabulary_of_ones_own_knows_its_own_names():
    vocabulary = Vocabulary({"context": OPEN, "flag": Record("flag", {"age_days": INTEGER})})
    condition = compile_condition('context.plan == "pro" && flag.age_days < 30', vocabulary, field="when")
    assert condition.evaluate(Context({"context": {"plan": "pro"}, "flag": {"age_days": 3}})).holds is True
    assert condition.evaluate(Context({"context": {}, "flag": {"age_days": 3}})).unknown == ("context.plan",)
    with pytest.raises(ConditionError):
        compile_condition("device.api_level > 3", vocabulary, field="when")


def test_a_context_takes_more_facts_later():
    context = Context({"device": {"api_level": 30}})
    condition = compile_condition('arm.delegate == "gpu"', field="when")
    context.update({"arm": {"delegate": "gpu"}})
    assert condition.evaluate(context).holds is True
    context.update({"arm": {"delegate": "cpu"}})
    assert condition.evaluate(context).holds is False
