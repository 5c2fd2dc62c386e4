#include <stdexcept>

#include "check.h"
#include "nnapi/operations.h"
#include "nnapi/signature.h"

using namespace nnfleet::nnapi;
using Sizes = std::vector<uint32_t>;

namespace {

Operand only_input(const char* text, OperandType asked) { return parse_signature(text, asked).inputs.at(0); }

bool refused(const char* text) {
  try {
    parse_signature(text, OperandType::TensorFloat32);
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

const Question& question(const std::string& name, OperandType type) {
  for (const Question& candidate : questions()) {
    if (candidate.operation->name == name && candidate.type == type) return candidate;
  }
  throw std::out_of_range(name);
}

}  // namespace

TEST("every operation is asked about, under its own code") {
  CHECK_EQUAL(operations().size(), 106U);
  int32_t code = -1;
  for (const Question& asked : questions()) {
    CHECK(asked.code == code || asked.code == code + 1);
    code = asked.code;
    CHECK(asked.since_level >= 1 && asked.since_level <= 8);
  }
  CHECK_EQUAL(code, 105);
}

TEST("every question has a model whose constants have the bytes their type and shape ask for") {
  for (const Question& asked : questions()) {
    for (const Operand& operand : parse_signature(asked.operation->signature, asked.type).inputs) {
      if (operand.role != Role::Constant) continue;
      CHECK_EQUAL(operand.value.size(), elements_of(operand.dimensions) * bytes_of(operand.type));
      CHECK(operand.value.size() <= 128);  // what NNAPI copies at once
    }
  }
}

TEST("a tensor takes the type asked about, with a scale and a zero point of that type") {
  const Operand tensor = only_input("x[2,4] -> x[1]", OperandType::TensorQuant8AsymmSigned);
  CHECK_EQUAL(tensor.dimensions, (Sizes{2, 4}));
  CHECK_EQUAL(tensor.zero_point, 0);
  CHECK_EQUAL(only_input("x[2]@256 -> x[1]", OperandType::TensorQuant8AsymmSigned).zero_point, -128);
  CHECK_EQUAL(only_input("x[2]@256 -> x[1]", OperandType::TensorQuant8Asymm).scale, 1.0F / 256);
  CHECK_EQUAL(only_input("x[2] -> x[1]", OperandType::TensorFloat32).scale, 0.0F);
}

TEST("biases, boxes and scalars follow from the type asked about") {
  CHECK(only_input("b[2] -> x[1]", OperandType::TensorFloat16).type == OperandType::TensorFloat16);
  CHECK(only_input("b[2] -> x[1]", OperandType::TensorQuant8Asymm).type == OperandType::TensorInt32);
  CHECK_EQUAL(only_input("b[2] -> x[1]", OperandType::TensorQuant8Asymm).scale, 0.25F);
  CHECK_EQUAL(only_input("b[2] -> x[1]", OperandType::TensorQuant8SymmPerChannel).scale, 0.0F);
  CHECK(only_input("r[1,4] -> x[1]", OperandType::TensorQuant8AsymmSigned).type == OperandType::TensorQuant16Asymm);
  CHECK(only_input("s=0.5 -> x[1]", OperandType::TensorFloat16).type == OperandType::Float16);
  CHECK(only_input("s=0.5 -> x[1]", OperandType::TensorQuant8Asymm).type == OperandType::Float32);
}

TEST("half precision scalars are the right bits") {
  const auto bits = [](const char* text) {
    const Operand scalar = only_input(text, OperandType::TensorFloat16);
    return scalar.value.at(0) | scalar.value.at(1) << 8;
  };
  CHECK_EQUAL(bits("s=1 -> x[1]"), 0x3C00);
  CHECK_EQUAL(bits("s=0.5 -> x[1]"), 0x3800);
  CHECK_EQUAL(bits("s=10 -> x[1]"), 0x4900);
  CHECK_EQUAL(bits("s=0 -> x[1]"), 0);
}

TEST("a filter per channel has a scale for every channel, and unsigned tensors around it") {
  const Question& asked = question("DEPTHWISE_CONV_2D", OperandType::TensorQuant8SymmPerChannel);
  const Signature signature = parse_signature(asked.operation->signature, asked.type);
  CHECK(signature.inputs.at(0).type == OperandType::TensorQuant8Asymm);
  CHECK_EQUAL(signature.inputs.at(1).channel_dimension, 3);
  CHECK_EQUAL(signature.inputs.at(1).channel_scales.size(), 2U);
}

TEST("the long signatures have as many operands as NNAPI counts") {
  const auto count = [](const char* name, OperandType type) {
    return parse_signature(question(name, type).operation->signature, type).inputs.size();
  };
  CHECK_EQUAL(count("LSTM", OperandType::TensorFloat32), 23U);
  CHECK_EQUAL(count("UNIDIRECTIONAL_SEQUENCE_LSTM", OperandType::TensorFloat16), 28U);
  CHECK_EQUAL(count("BIDIRECTIONAL_SEQUENCE_LSTM", OperandType::TensorFloat32), 61U);
  CHECK_EQUAL(count("QUANTIZED_LSTM", OperandType::TensorQuant8AsymmSigned), 32U);
  CHECK_EQUAL(count("QUANTIZED_16BIT_LSTM", OperandType::TensorQuant8Asymm), 15U);
  CHECK_EQUAL(count("BIDIRECTIONAL_SEQUENCE_RNN", OperandType::TensorFloat32), 15U);
  CHECK_EQUAL(count("DETECTION_POSTPROCESSING", OperandType::TensorFloat32), 14U);
  CHECK_EQUAL(count("GENERATE_PROPOSALS", OperandType::TensorFloat32), 11U);
  CHECK_EQUAL(count("ROI_ALIGN", OperandType::TensorFloat32), 10U);
  CHECK_EQUAL(count("BOX_WITH_NMS_LIMIT", OperandType::TensorFloat32), 9U);
}

TEST("what is no signature is refused") {
  for (const char* const text :
       {"", "x[2]", "-> x[2]", "x[2 -> x[2]", "x[] -> x[2]", "q[2] -> x[2]", "x[2]! -> x[2]"}) {
    CHECK(refused(text));
  }
}

TEST("feature levels are those that NNAPI defines") {
  CHECK_EQUAL(level_of(27), 1);
  CHECK_EQUAL(level_of(31), 5);
  CHECK_EQUAL(level_of(1'000'008), 8);
  CHECK_EQUAL(level_of(4), 0);
}
