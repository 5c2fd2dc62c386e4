#include "nnapi/reference_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nnfleet::nnapi {
namespace {

constexpr int32_t kConv2d = 3;
constexpr uint32_t kSide = 32;
constexpr uint32_t kChannels = 16;
constexpr uint32_t kKernel = 3;
constexpr int kLayers = 2;
constexpr std::size_t kElements = std::size_t{kSide} * kSide * kChannels;
constexpr std::size_t kWeights = std::size_t{kChannels} * kKernel * kKernel * kChannels;

using Values = std::vector<float>;

struct Quantisation {
  float scale;
  int32_t zero_point;  // of TENSOR_QUANT8_ASYMM; the signed type's is 128 less
};

// Of the input and of each layer's output, so that nothing is cut off and hardly anything lies half-way between two
// steps, where drivers may round either way. NNAPI 1.0 wants a convolution's scale above its input's times its
// filter's.
constexpr Quantisation kTensors[kLayers + 1] = {{1, 120}, {1.25F, 10}, {3, 10}};
constexpr Quantisation kFilter{1, 128};

Quantisation for_type(Quantisation quantisation, OperandType type) {
  if (type == OperandType::TensorQuant8AsymmSigned) quantisation.zero_point -= 128;
  return quantisation;
}

bool is_float(OperandType type) { return type == OperandType::TensorFloat32; }

// Whole numbers from `least`, `count` of them, scattered by Knuth's multiplicative hash: small, so that sums are exact
// in every arithmetic.
Values scattered(std::size_t size, uint32_t salt, int least, uint32_t count) {
  Values values(size);
  uint32_t at = salt;
  for (float& value : values)
    value = static_cast<float>(((++at * 2'654'435'761U) >> 16) % count) + static_cast<float>(least);
  return values;
}

Values input_values() { return scattered(kElements, 0, 0, 4); }

Values weight_values(int layer) { return scattered(kWeights, 4'000U * static_cast<uint32_t>(layer), -1, 3); }

template <typename T>
void put(std::vector<uint8_t>& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at * sizeof value, &value, sizeof value);
}

std::vector<uint8_t> encode(const Values& values, OperandType type, Quantisation quantisation) {
  std::vector<uint8_t> bytes(values.size() * bytes_of(type));
  const Quantisation steps = for_type(quantisation, type);
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (is_float(type)) {
      put(bytes, at, values[at]);
    } else {
      put(bytes, at, static_cast<uint8_t>(static_cast<int32_t>(values[at] / steps.scale) + steps.zero_point));
    }
  }
  return bytes;
}

float decoded(const std::vector<uint8_t>& bytes, std::size_t at, OperandType type) {
  float value = 0;
  if (is_float(type)) {
    std::memcpy(&value, bytes.data() + at * sizeof value, sizeof value);
    return value;
  }
  const Quantisation steps = for_type(kTensors[kLayers], type);
  const int32_t step = type == OperandType::TensorQuant8Asymm ? int32_t{bytes[at]} : static_cast<int8_t>(bytes[at]);
  return static_cast<float>(step - steps.zero_point) * steps.scale;
}

// One pixel of one output channel, borders padded with zeros.
float convolved(const Values& in, const Values& weights, uint32_t row, uint32_t column, uint32_t out) {
  float sum = 0;
  for (uint32_t y = 0; y < kKernel; ++y) {
    for (uint32_t x = 0; x < kKernel; ++x) {
      const uint32_t from_row = row + y - 1;  // wraps below zero, and is then too large
      const uint32_t from_column = column + x - 1;
      if (from_row >= kSide || from_column >= kSide) continue;
      const float* const pixel = &in[(std::size_t{from_row} * kSide + from_column) * kChannels];
      const float* const tap = &weights[((std::size_t{out} * kKernel + y) * kKernel + x) * kChannels];
      for (uint32_t channel = 0; channel < kChannels; ++channel) sum += pixel[channel] * tap[channel];
    }
  }
  return sum;
}

float rounded(float value, Quantisation steps) {
  const float most = static_cast<float>(255 - steps.zero_point);
  return std::min(std::round(value / steps.scale), most) * steps.scale;
}

Values layer_output(const Values& in, int layer, OperandType type) {
  const Values weights = weight_values(layer);
  Values out(kElements);
  for (std::size_t at = 0; at < out.size(); ++at) {
    const auto pixel = static_cast<uint32_t>(at / kChannels);
    const float sum = std::max(0.0F, convolved(in, weights, pixel / kSide, pixel % kSide, at % kChannels));
    out[at] = is_float(type) ? sum : rounded(sum, kTensors[layer + 1]);
  }
  return out;
}

Values golden(OperandType type) {
  Values values = input_values();
  for (int layer = 0; layer < kLayers; ++layer) values = layer_output(values, layer, type);
  return values;
}

Operand tensor(OperandType type, std::vector<uint32_t> dimensions, Quantisation quantisation) {
  Operand operand;
  operand.type = type;
  operand.dimensions = std::move(dimensions);
  if (is_quantised(type)) {
    const Quantisation steps = for_type(quantisation, type);
    operand.scale = steps.scale;
    operand.zero_point = steps.zero_point;
  }
  return operand;
}

Operand filter(OperandType type, int layer) {
  Operand operand = tensor(type, {kChannels, kKernel, kKernel, kChannels}, kFilter);
  operand.role = Role::Constant;
  operand.value = encode(weight_values(layer), type, kFilter);
  return operand;
}

Operand bias(OperandType type, int layer) {
  Operand operand;
  operand.type = is_float(type) ? type : OperandType::TensorInt32;
  operand.dimensions = {kChannels};
  operand.scale = is_float(type) ? 0 : kTensors[layer].scale * kFilter.scale;
  operand.role = Role::Constant;
  operand.value.resize(kChannels * bytes_of(operand.type));
  return operand;
}

Operand scalar(int32_t value) {
  Operand operand;
  operand.type = OperandType::Int32;
  operand.role = Role::Constant;
  operand.value.resize(sizeof value);
  put(operand.value, 0, value);
  return operand;
}

}  // namespace

std::unique_ptr<Model> reference_model(const Library& library, OperandType type) {
  const std::vector<uint32_t> shape{1, kSide, kSide, kChannels};
  auto model = std::make_unique<Model>(library);
  const uint32_t first = model->add(tensor(type, shape, kTensors[0]));
  uint32_t last = first;
  for (int layer = 0; layer < kLayers; ++layer) {
    std::vector<uint32_t> inputs{last, model->add(filter(type, layer)), model->add(bias(type, layer))};
    for (const int32_t setting : {kPaddingSame, 1, 1, kFusedRelu}) inputs.push_back(model->add(scalar(setting)));
    last = model->add(tensor(type, shape, kTensors[layer + 1]));
    model->operate(kConv2d, inputs, {last});
  }
  model->finish({first}, {last});
  return model;
}

std::vector<uint8_t> reference_input(OperandType type) { return encode(input_values(), type, kTensors[0]); }

std::size_t reference_output_bytes(OperandType type) { return kElements * bytes_of(type); }

bool is_right(const std::vector<uint8_t>& output, OperandType type) {
  if (output.size() != reference_output_bytes(type)) return false;
  const Values right = golden(type);
  const float largest = *std::max_element(right.begin(), right.end());
  const float tolerance = is_float(type) ? 0.01F * largest : 2 * kTensors[kLayers].scale;
  for (std::size_t at = 0; at < right.size(); ++at) {
    if (!(std::abs(decoded(output, at, type) - right[at]) <= tolerance)) return false;  // NaN is wrong too
  }
  return true;
}

}  // namespace nnfleet::nnapi
