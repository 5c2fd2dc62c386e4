#include "nnapi/golden.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "nnapi/signature.h"

namespace nnfleet::nnapi {
namespace {

// RANDOM_MULTINOMIAL is random; the others pick from what may be equal, and hash.
constexpr std::array<std::string_view, 6> kNotComparable{
    "RANDOM_MULTINOMIAL",       "LSH_PROJECTION",     "BOX_WITH_NMS_LIMIT",
    "DETECTION_POSTPROCESSING", "GENERATE_PROPOSALS", "HEATMAP_MAX_KEYPOINT",
};
constexpr std::array<float, 4> kValues{0.5F, 1, 1.5F, 2};
constexpr float kFloatTolerance = 0.01F;
constexpr float kMostSteps = 2;

bool is_8bit(OperandType type) {
  return type == OperandType::TensorQuant8Asymm || type == OperandType::TensorQuant8AsymmSigned ||
         type == OperandType::TensorQuant8Symm;
}

bool is_float(OperandType type) { return type == OperandType::TensorFloat32 || type == OperandType::TensorFloat16; }

template <typename T>
void put(std::vector<uint8_t>& bytes, std::size_t at, T number) {
  std::memcpy(bytes.data() + at * sizeof number, &number, sizeof number);
}

template <typename T>
T get(const std::vector<uint8_t>& bytes, std::size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at * sizeof number, sizeof number);
  return number;
}

float from_half(uint16_t half) {
  const int exponent = (half >> 10) & 0x1F;
  const float fraction = static_cast<float>(half & 0x3FFU) / 1024;
  float size = std::ldexp(1 + fraction, exponent - 15);
  if (exponent == 0) size = std::ldexp(fraction, -14);
  if (exponent == 0x1F) size = fraction == 0 ? INFINITY : NAN;
  return (half & 0x8000U) != 0 ? -size : size;
}

int step_of(const Operand& operand, float value, int least, int most) {
  const float scale = operand.scale > 0 ? operand.scale : 0.5F;  // a filter's scales are its channels'
  return std::clamp(static_cast<int>(std::lround(value / scale)) + operand.zero_point, least, most);
}

void encode(const Operand& operand, std::vector<uint8_t>& bytes, std::size_t at) {
  const float value = kValues[at % kValues.size()];
  switch (operand.type) {
    case OperandType::TensorFloat32: put(bytes, at, value); break;
    case OperandType::TensorFloat16: put(bytes, at, half_of(value)); break;
    case OperandType::TensorInt32: put(bytes, at, static_cast<int32_t>(at % kValues.size()) + 1); break;
    case OperandType::TensorBool8: put(bytes, at, static_cast<uint8_t>(at % 2)); break;
    case OperandType::TensorQuant8Asymm: put(bytes, at, static_cast<uint8_t>(step_of(operand, value, 0, 255))); break;
    case OperandType::TensorQuant16Asymm:
      put(bytes, at, static_cast<uint16_t>(step_of(operand, value, 0, 65'535)));
      break;
    case OperandType::TensorQuant16Symm:
      put(bytes, at, static_cast<int16_t>(step_of(operand, value, -32'768, 32'767)));
      break;
    default: put(bytes, at, static_cast<int8_t>(step_of(operand, value, -128, 127))); break;
  }
}

std::vector<uint8_t> values_of(const Operand& operand) {
  const uint32_t elements = elements_of(operand.dimensions);
  std::vector<uint8_t> bytes(elements * bytes_of(operand.type));
  for (uint32_t at = 0; at < elements; ++at) encode(operand, bytes, at);
  return bytes;
}

// Weights, not settings: those are whole numbers, or no tensors.
bool is_weight(const Operand& operand) {
  return operand.role == Role::Constant && !operand.dimensions.empty() && operand.type != OperandType::TensorInt32;
}

Signature golden_signature(const Question& question) {
  Signature signature = parse_signature(question.operation->signature, question.type);
  for (Operand& operand : signature.inputs) {
    if (is_weight(operand)) operand.value = values_of(operand);
  }
  return signature;
}

float decode(const Operand& operand, const std::vector<uint8_t>& bytes, std::size_t at) {
  switch (operand.type) {
    case OperandType::TensorFloat32: return get<float>(bytes, at);
    case OperandType::TensorFloat16: return from_half(get<uint16_t>(bytes, at));
    case OperandType::TensorQuant8Asymm: return static_cast<float>(bytes[at]);
    case OperandType::TensorBool8: return bytes[at] == 0 ? 0 : 1;
    default: return static_cast<float>(static_cast<int8_t>(bytes[at]));
  }
}

// By how much outputs may be off; below zero where they are not compared.
float tolerance(const Operand& operand, const std::vector<float>& reference) {
  if (operand.type == OperandType::TensorBool8) return 0;
  if (is_8bit(operand.type)) return kMostSteps;
  float largest = 0;
  for (const float value : reference) largest = std::max(largest, std::abs(value));
  return is_float(operand.type) && std::isfinite(largest) ? std::max(kFloatTolerance * largest, 0.001F) : -1;
}

bool same(const Operand& operand, const std::vector<uint8_t>& output, const std::vector<uint8_t>& reference) {
  if (!is_float(operand.type) && !is_8bit(operand.type) && operand.type != OperandType::TensorBool8) return true;
  std::vector<float> right(elements_of(operand.dimensions));
  for (std::size_t at = 0; at < right.size(); ++at) right[at] = decode(operand, reference, at);
  if (std::any_of(right.begin(), right.end(), [](float value) { return std::isnan(value); })) return true;
  const float most = tolerance(operand, right);
  if (most < 0) return true;
  for (std::size_t at = 0; at < right.size(); ++at) {
    if (!(std::abs(decode(operand, output, at) - right[at]) <= most)) return false;  // NaN is wrong too
  }
  return true;
}

}  // namespace

bool is_comparable(const Question& question) {
  const std::string_view name = question.operation->name;
  if (std::find(kNotComparable.begin(), kNotComparable.end(), name) != kNotComparable.end()) return false;
  const Signature signature = parse_signature(question.operation->signature, question.type);
  return std::any_of(signature.outputs.begin(), signature.outputs.end(), [](const Operand& output) {
    return is_float(output.type) || is_8bit(output.type) || output.type == OperandType::TensorBool8;
  });
}

std::unique_ptr<Model> golden_model(const Library& library, const Question& question) {
  return model_of(library, question.code, golden_signature(question));
}

Tensors golden_inputs(const Question& question) {
  Tensors inputs;
  for (const Operand& operand : golden_signature(question).inputs) {
    if (operand.role == Role::Fed) inputs.push_back(values_of(operand));
  }
  return inputs;
}

Tensors golden_outputs(const Model& model, const Question& question, const ANeuralNetworksDevice* device) {
  Tensors outputs;
  for (const Operand& operand : golden_signature(question).outputs) {
    outputs.emplace_back(elements_of(operand.dimensions) * bytes_of(operand.type));
  }
  Compilation(model, device, "").run(golden_inputs(question), outputs);
  return outputs;
}

bool agrees(const Question& question, const Tensors& outputs, const Tensors& reference) {
  const Signature signature = golden_signature(question);
  for (std::size_t at = 0; at < signature.outputs.size(); ++at) {
    if (!same(signature.outputs[at], outputs[at], reference[at])) return false;
  }
  return true;
}

}  // namespace nnfleet::nnapi
