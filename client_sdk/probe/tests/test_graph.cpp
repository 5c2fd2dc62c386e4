#include <algorithm>

#include "check.h"
#include "nnapi/reference_graph.h"

using namespace nnfleet::nnapi;

TEST("outputs of another size, of zeros or of noise are wrong in every type") {
  for (const OperandType type : kReferenceTypes) {
    CHECK(!is_right({}, type));
    CHECK(!is_right(std::vector<uint8_t>(reference_output_bytes(type)), type));
    CHECK(!is_right(std::vector<uint8_t>(reference_output_bytes(type), 0xFF), type));
  }
}

TEST("inputs use their type's zero point, which is not zero") {
  for (const OperandType type : {OperandType::TensorQuant8Asymm, OperandType::TensorQuant8AsymmSigned}) {
    const auto input = reference_input(type);
    CHECK_EQUAL(input.size(), reference_output_bytes(type));
    CHECK_EQUAL(*std::min_element(input.begin(), input.end()), type == OperandType::TensorQuant8Asymm ? 120 : 0xF8);
  }
}
