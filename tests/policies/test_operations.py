"""R-B2: the vocabularies of NNAPI and LiteRT are tables of facts, complete and consistent with each other."""

import pytest

from policies.operations import (
    LITERT_OPERATIONS,
    NNAPI_OPERATIONS,
    OPERAND_OF_TYPE,
    SIGNED_INT8,
    SIGNED_INT8_LEVEL,
    UNSIGNED_INT8,
    operand_type,
)

LEVELS = range(1, 9)


def test_nnapi_has_106_operations_with_consecutive_codes() -> None:
    assert len(NNAPI_OPERATIONS) == 106
    assert sorted(operation.code for operation in NNAPI_OPERATIONS.values()) == list(range(106))


def test_an_operand_type_is_never_older_than_its_operation() -> None:
    for operation in NNAPI_OPERATIONS.values():
        assert operation.since_level in LEVELS
        for name, since in operation.operand_types.items():
            assert operation.since_level <= since <= 8, (operation.name, name)


def test_signed_8_bit_operands_begin_with_level_4() -> None:
    since = [o.operand_types[SIGNED_INT8] for o in NNAPI_OPERATIONS.values() if SIGNED_INT8 in o.operand_types]
    assert min(since) == SIGNED_INT8_LEVEL == 4


@pytest.mark.parametrize(
    ("name", "level"), [("CONV_2D", 1), ("DIV", 2), ("PRELU", 3), ("WHILE", 4), ("PACK", 6), ("REVERSE", 7)]
)
def test_operations_exist_since_their_level(name: str, level: int) -> None:
    assert NNAPI_OPERATIONS[name].since_level == level


def test_litert_operations_stand_for_nnapi_operations_that_exist_at_that_level() -> None:
    for operation in LITERT_OPERATIONS.values():
        for level in LEVELS:
            for name in operation.lowering(level):
                assert NNAPI_OPERATIONS[name].since_level <= level, (operation.name, name, level)


def test_litert_accepts_a_type_only_where_something_stands_for_the_operation() -> None:
    for operation in LITERT_OPERATIONS.values():
        assert bool(operation.types) == bool(operation.lowerings), operation.name
        for since in operation.types.values():
            assert operation.lowering(since), operation.name


def test_every_type_that_litert_hands_over_has_an_operand_type() -> None:
    types = {name for operation in LITERT_OPERATIONS.values() for name in operation.types}
    assert types <= {*OPERAND_OF_TYPE, "int8"}


def test_a_newer_lowering_takes_over_at_its_level() -> None:
    hard_swish = LITERT_OPERATIONS["HARD_SWISH"]
    assert hard_swish.lowering(3) == ("ADD", "MUL")
    assert hard_swish.lowering(4) == ("HARD_SWISH",)
    assert LITERT_OPERATIONS["MIRROR_PAD"].lowering(6) == ()


def test_operations_that_never_leave_the_runtime_are_known_too() -> None:
    assert LITERT_OPERATIONS["CUMSUM"].lowerings == ()
    assert "CUSTOM" not in LITERT_OPERATIONS


def test_int8_is_unsigned_below_level_4() -> None:
    assert [operand_type("int8", level) for level in (3, 4)] == [UNSIGNED_INT8, SIGNED_INT8]
    assert operand_type("uint8", 8) == UNSIGNED_INT8
