#include "nnapi_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "nnapi/signature.h"

namespace nnfleet::doubles {
namespace {

using nnapi::OperandType;

bool is_scalar(OperandType type) {
  switch (type) {
    case OperandType::Float32:
    case OperandType::Int32:
    case OperandType::Bool:
    case OperandType::Float16:
    case OperandType::Model: return true;
    default: return false;
  }
}

bool in(int32_t value, int32_t least, int32_t most) { return value >= least && value <= most; }

// validateQuant8AsymmParams and its sisters.
bool has_valid_quantisation(const KeptOperand& operand) {
  switch (operand.type) {
    case OperandType::TensorQuant8Asymm: return operand.scale > 0 && in(operand.zero_point, 0, 255);
    case OperandType::TensorQuant8AsymmSigned: return operand.scale > 0 && in(operand.zero_point, -128, 127);
    case OperandType::TensorQuant16Asymm: return operand.scale > 0 && in(operand.zero_point, 0, 65535);
    case OperandType::TensorQuant8Symm:
    case OperandType::TensorQuant16Symm: return operand.scale > 0 && operand.zero_point == 0;
    case OperandType::TensorInt32: return operand.scale >= 0 && operand.zero_point == 0;
    default: return operand.scale == 0 && operand.zero_point == 0;
  }
}

// Values of a tensor as real numbers.
std::vector<float> decoded(const KeptOperand& operand, const std::vector<uint8_t>& bytes) {
  std::vector<float> values(nnapi::elements_of(operand.dimensions));
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (operand.type == OperandType::TensorFloat32) {
      std::memcpy(&values[at], bytes.data() + at * sizeof(float), sizeof(float));
    } else {
      const int step =
          operand.type == OperandType::TensorQuant8Asymm ? int{bytes[at]} : int{static_cast<int8_t>(bytes[at])};
      values[at] = static_cast<float>(step - operand.zero_point) * operand.scale;
    }
  }
  return values;
}

std::vector<uint8_t> encoded(const KeptOperand& operand, const std::vector<float>& values) {
  std::vector<uint8_t> bytes(size_of(operand));
  const bool is_signed = operand.type == OperandType::TensorQuant8AsymmSigned;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (operand.type == OperandType::TensorFloat32) {
      std::memcpy(bytes.data() + at * sizeof(float), &values[at], sizeof(float));
    } else {
      const int step = static_cast<int>(std::lround(values[at] / operand.scale)) + operand.zero_point;
      bytes[at] = static_cast<uint8_t>(std::clamp(step, is_signed ? -128 : 0, is_signed ? 127 : 255));
    }
  }
  return bytes;
}

// One tap of the filter over the whole image; ReLU is the caller's.
void add_tap(const std::vector<float>& in, const float* tap, std::vector<float>& out,
             const std::vector<uint32_t>& shape, int row_shift, int column_shift, std::size_t filter) {
  const int rows = static_cast<int>(shape[1]);
  const int columns = static_cast<int>(shape[2]);
  const std::size_t channels = shape[3];
  for (int row = std::max(0, -row_shift); row < std::min(rows, rows - row_shift); ++row) {
    for (int column = std::max(0, -column_shift); column < std::min(columns, columns - column_shift); ++column) {
      const float* const pixel =
          &in[static_cast<std::size_t>((row + row_shift) * columns + column + column_shift) * channels];
      float sum = 0;
      for (std::size_t channel = 0; channel < channels; ++channel) sum += pixel[channel] * tap[channel];
      out[static_cast<std::size_t>(row * columns + column) * channels + filter] += sum;
    }
  }
}

std::vector<float> convolved(const KeptModel& model, const KeptOperation& operation, const std::vector<float>& in) {
  const KeptOperand& filter = model.operands[operation.inputs[1]];
  const std::vector<float> weights = decoded(filter, filter.value);
  const std::size_t channels = filter.dimensions[3];
  const int kernel = static_cast<int>(filter.dimensions[1]);
  std::vector<float> out(in.size());
  const float* tap = weights.data();
  for (std::size_t number = 0; number < filter.dimensions[0]; ++number) {
    for (int place = 0; place < kernel * kernel; ++place, tap += channels) {
      add_tap(in, tap, out, model.operands[operation.inputs[0]].dimensions, place / kernel - kernel / 2,
              place % kernel - kernel / 2, number);
    }
  }
  for (float& value : out) value = std::max(value, 0.0F);
  return out;
}

}  // namespace

std::size_t size_of(const KeptOperand& operand) {
  return nnapi::elements_of(operand.dimensions) * nnapi::bytes_of(operand.type);
}

bool is_valid(const KeptOperand& operand) {
  if (!has_valid_quantisation(operand)) return false;
  if (is_scalar(operand.type)) return operand.dimensions.empty();
  return std::find(operand.dimensions.begin(), operand.dimensions.end(), 0U) == operand.dimensions.end();
}

bool KeptModel::holds_together() const {
  std::vector<bool> known(operands.size());
  for (const uint32_t input : inputs) known[input] = true;
  for (const KeptOperation& operation : operations) {
    for (const uint32_t output : operation.outputs) known[output] = true;
  }
  for (std::size_t at = 0; at < operands.size(); ++at) {
    const KeptOperand& operand = operands[at];
    if (!known[at] && !operand.has_value && !operand.left_out) return false;
    if (operand.type == OperandType::TensorQuant8SymmPerChannel && !operand.has_channels) return false;
  }
  return !inputs.empty() && !outputs.empty() && !operations.empty();
}

std::vector<uint8_t> made_up(const KeptOperand& output, const std::vector<uint8_t>& inputs) {
  std::size_t sum = 0;
  for (const uint8_t byte : inputs) sum = sum * 31 + byte;
  std::vector<float> values(nnapi::elements_of(output.dimensions));
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = static_cast<float>((sum + at) % 5) * 8;
  const bool known = output.type == OperandType::TensorFloat32 || output.scale > 0;
  return known && nnapi::bytes_of(output.type) != 2 ? encoded(output, values) : std::vector<uint8_t>(size_of(output), 1);
}

std::vector<uint8_t> computed(const KeptModel& model, const std::vector<uint8_t>& input) {
  constexpr int32_t kConv2d = 3;
  std::vector<uint8_t> bytes = input;
  for (const KeptOperation& operation : model.operations) {
    if (operation.code != kConv2d) return {};
    const KeptOperand& from = model.operands[operation.inputs[0]];
    bytes = encoded(model.operands[operation.outputs[0]], convolved(model, operation, decoded(from, bytes)));
  }
  return bytes;
}

}  // namespace nnfleet::doubles
