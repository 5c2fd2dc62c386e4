#include <cmath>
#include <cstring>
#include <string>

#include "check.h"
#include "nnapi/golden.h"
#include "nnapi/signature.h"

using namespace nnfleet::nnapi;

namespace {

Question question(const std::string& operation, OperandType type) {
  for (const Question& known : questions()) {
    if (known.operation->name == operation && known.type == type) return known;
  }
  throw std::out_of_range(operation);
}

Tensors floats(std::vector<float> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {bytes};
}

}  // namespace

TEST("every operation but those of chance and choice is compared, and has an input for each operand that is fed") {
  std::size_t compared = 0;
  for (const Question& known : questions()) {
    if (!is_comparable(known)) continue;
    ++compared;
    for (const auto& input : golden_inputs(known)) CHECK(!input.empty());
  }
  CHECK(compared > 300);
  CHECK(!is_comparable(question("RANDOM_MULTINOMIAL", OperandType::TensorFloat32)));
  CHECK(!is_comparable(question("ARGMAX", OperandType::TensorFloat32)));
  CHECK(is_comparable(question("CONCATENATION", OperandType::TensorQuant8Asymm)));
}

TEST("inputs are above zero in every type, and no two neighbours are equal") {
  CHECK_EQUAL(golden_inputs(question("ADD", OperandType::TensorFloat32)), (Tensors{
    floats({0.5F, 1, 1.5F, 2, 0.5F, 1, 1.5F, 2})[0], floats({0.5F, 1, 1.5F, 2, 0.5F, 1, 1.5F, 2})[0]}));
  const std::vector<uint8_t> steps{129, 130, 131, 132, 129, 130, 131, 132};
  CHECK_EQUAL(golden_inputs(question("RELU", OperandType::TensorQuant8Asymm)), Tensors{steps});
}

TEST("a float output may be off by one percent of the largest, and is never allowed to be no number") {
  const Question relu = question("RELU", OperandType::TensorFloat32);
  const Tensors right = floats({1, 2, 3, 4, 5, 6, 7, 100});
  CHECK(agrees(relu, floats({1.9F, 2, 3, 4, 5, 6, 7, 100}), right));
  CHECK(!agrees(relu, floats({2.1F, 2, 3, 4, 5, 6, 7, 100}), right));
  CHECK(!agrees(relu, floats({1, 2, 3, 4, 5, 6, 7, NAN}), right));
  CHECK(agrees(relu, floats({9, 9, 9, 9, 9, 9, 9, 9}), floats({1, 2, 3, 4, 5, 6, 7, NAN})));
}

TEST("an 8-bit output may be off by two steps, on either side of the sign") {
  const Question relu = question("RELU", OperandType::TensorQuant8AsymmSigned);
  const Tensors right{{0xFF, 0, 1, 2, 3, 4, 5, 6}};
  CHECK(agrees(relu, {{0x01, 0, 1, 2, 3, 4, 5, 6}}, right));
  CHECK(!agrees(relu, {{0x02, 0, 1, 2, 3, 4, 5, 6}}, right));
}

TEST("half-precision outputs are read as the numbers that they are") {
  const Question relu = question("RELU", OperandType::TensorFloat16);
  Tensors right{std::vector<uint8_t>(16)};
  Tensors off = right;
  for (std::size_t at = 0; at < 8; ++at) {
    const uint16_t one = half_of(1);
    const uint16_t more = half_of(1.5F);
    std::memcpy(right[0].data() + 2 * at, &one, sizeof one);
    std::memcpy(off[0].data() + 2 * at, at == 7 ? &more : &one, sizeof one);
  }
  CHECK(agrees(relu, right, right));
  CHECK(!agrees(relu, off, right));
}
