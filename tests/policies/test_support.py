"""R-B2: what NNAPI takes of a LiteRT graph, by feature level and as measured. Unknown is never guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.graph import ModelGraph, Node
from policies.operations import LITERT_OPERATIONS, NNAPI_OPERATIONS, OPERAND_OF_TYPE
from policies.support import LEVELS, minimum_feature_level, nnapi_support, support_by_level

UNSIGNED, SIGNED = "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"
EVERY_KEY = [f"{op}|{type_}" for op in LITERT_OPERATIONS for type_ in (*OPERAND_OF_TYPE, "int8", "int16")]
EVERYTHING = {name: {*operation.operand_types, "any"} for name, operation in NNAPI_OPERATIONS.items()}

keys = st.sampled_from(EVERY_KEY)
levels = st.sampled_from(list(LEVELS))
measured = st.dictionaries(
    st.sampled_from(sorted(NNAPI_OPERATIONS)),
    st.sets(st.sampled_from(["TENSOR_FLOAT32", "TENSOR_INT32", UNSIGNED, SIGNED])),
)


class TestByLevel:
    @pytest.mark.parametrize(
        ("key", "since"),
        [
            ("CONV_2D|float32", 1),
            ("CONV_2D|int8", 3),
            ("PRELU|float32", 3),
            ("ELU|float32", 4),
            ("PACK|uint8", 6),
            ("MIRROR_PAD|int8", 7),
        ],
    )
    def test_a_key_is_taken_from_its_level_on(self, key: str, since: int) -> None:
        assert [support_by_level(level)(key) for level in LEVELS] == [level >= since for level in LEVELS]

    @given(keys, levels, levels)
    def test_a_higher_level_takes_no_less(self, key: str, one: int, other: int) -> None:
        assert support_by_level(min(one, other))(key) <= support_by_level(max(one, other))(key)

    def test_types_that_nnapi_never_takes_are_refused(self) -> None:
        assert support_by_level(8)("CONV_2D|int16") is False
        assert support_by_level(8)("READ_VARIABLE|resource") is False

    def test_custom_operations_never_leave_the_runtime(self) -> None:
        assert support_by_level(8)("CUSTOM:Landmarks|float32") is False

    def test_an_operation_newer_than_the_table_is_unknown(self) -> None:
        assert support_by_level(8)("BUILTIN_250|float32") is None


class TestMeasured:
    def test_the_listed_operand_type_decides(self) -> None:
        support = nnapi_support({"CONV_2D": [SIGNED]}, 7)
        assert support("CONV_2D|int8") is True
        assert support("CONV_2D|float32") is False
        assert support("ADD|int8") is False

    def test_int8_asks_for_unsigned_operands_below_level_4(self) -> None:
        supports = {"CONV_2D": [UNSIGNED]}
        assert nnapi_support(supports, 3)("CONV_2D|int8") is True
        assert nnapi_support(supports, 4)("CONV_2D|int8") is False
        assert nnapi_support(supports, 4)("CONV_2D|uint8") is True

    def test_a_driver_cannot_take_what_the_runtime_does_not_map(self) -> None:
        assert nnapi_support(EVERYTHING, 2)("PRELU|float32") is False
        assert nnapi_support(EVERYTHING, 3)("PRELU|float32") is True

    def test_an_operation_made_of_several_needs_them_all(self) -> None:
        assert nnapi_support({"SUB": ["TENSOR_FLOAT32"]}, 3)("COS|float32") is False
        assert nnapi_support({"SUB": ["TENSOR_FLOAT32"], "SIN": ["TENSOR_FLOAT32"]}, 3)("COS|float32") is True

    def test_where_tensors_differ_in_type_any_listed_type_will_do(self) -> None:
        assert nnapi_support({"QUANTIZE": [UNSIGNED]}, 3)("QUANTIZE|float32") is True
        assert nnapi_support({"QUANTIZE": []}, 3)("QUANTIZE|float32") is False

    def test_a_driver_that_nobody_asked_is_unknown_where_the_runtime_would_hand_over(self) -> None:
        support = nnapi_support(None, 3)
        assert support("CONV_2D|float32") is None
        assert support("CUMSUM|float32") is False

    def test_an_unknown_operation_stays_unknown(self) -> None:
        assert nnapi_support({"BUILTIN_250": ["TENSOR_FLOAT32"]}, 8)("BUILTIN_250|float32") is None

    def test_without_a_level_only_what_holds_at_every_level_is_known(self) -> None:
        support = nnapi_support({"CONV_2D": ["TENSOR_FLOAT32", UNSIGNED], "PRELU": ["TENSOR_FLOAT32"]}, None)
        assert support("CONV_2D|float32") is True
        assert support("ADD|float32") is False
        assert support("PRELU|float32") is None
        assert support("CONV_2D|int8") is None

    @given(keys, levels, measured)
    def test_a_measurement_never_exceeds_the_mapping(self, key: str, level: int, supports: dict[str, set[str]]) -> None:
        assert not nnapi_support(supports, level)(key) or support_by_level(level)(key)

    @given(keys, st.none() | levels, measured, measured)
    def test_more_support_never_takes_a_key_away(
        self, key: str, level: int | None, less: dict[str, set[str]], extra: dict[str, set[str]]
    ) -> None:
        more = {name: less.get(name, set()) | extra.get(name, set()) for name in less | extra}
        if nnapi_support(less, level)(key):
            assert nnapi_support(more, level)(key)


class TestMinimumLevel:
    @staticmethod
    def graph(*keys: str) -> ModelGraph:
        pairs = [key.split("|") for key in keys]
        nodes = tuple(Node(op, type_, (i,), (i + 1,)) for i, (op, type_) in enumerate(pairs))
        return ModelGraph(nodes, (0,), (len(nodes),), frozenset())

    def test_is_that_of_the_youngest_operation(self) -> None:
        assert minimum_feature_level(self.graph("CONV_2D|float32", "PRELU|float32", "RELU|float32")) == 3

    def test_depends_on_the_element_type(self) -> None:
        assert minimum_feature_level(self.graph("CONV_2D|float32")) == 1
        assert minimum_feature_level(self.graph("CONV_2D|int8")) == 3

    @pytest.mark.parametrize("op", ["IF", "WHILE"])
    def test_of_control_flow_is_that_of_nnapi_s_own(self, op: str) -> None:
        assert minimum_feature_level(self.graph("CONV_2D|float32", f"{op}|bool")) == 4

    def test_leaves_out_what_no_level_takes(self) -> None:
        assert minimum_feature_level(self.graph("CONV_2D|float32", "CUMSUM|float32", "CUSTOM:x|float32")) == 1

    def test_is_none_where_nothing_is_ever_taken(self) -> None:
        assert minimum_feature_level(self.graph("CUSTOM:x|float32")) is None
