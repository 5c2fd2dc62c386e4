// The models a double is given: kept whole, and checked as AOSP's runtime checks them.
#pragma once

#include <cstdint>
#include <vector>

#include "nnapi/declarations.h"

namespace nnfleet::doubles {

struct KeptOperand {
  nnapi::OperandType type{};
  std::vector<uint32_t> dimensions;
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<uint8_t> value;
  bool has_value = false;
  bool left_out = false;
  bool has_channels = false;
};

struct KeptOperation {
  int32_t code = 0;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
};

// A type, its scale, zero point and dimensions fit each other.
bool is_valid(const KeptOperand& operand);

// The bytes a value of this operand has.
std::size_t size_of(const KeptOperand& operand);

// The output of two-dimensional convolutions with SAME padding and stride 1, in order: what the reference graph is made
// of. Empty for any other model.
struct KeptModel;
std::vector<uint8_t> computed(const KeptModel& model, const std::vector<uint8_t>& input);

// What stands for the output of any other operation: the same for the same inputs, and another for others.
std::vector<uint8_t> made_up(const KeptOperand& output, const std::vector<uint8_t>& inputs);

struct KeptModel {
  std::vector<KeptOperand> operands;
  std::vector<KeptOperation> operations;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  bool finished = false;

  // Every operand is fed, constant, left out, or made by an operation.
  bool holds_together() const;
};

}  // namespace nnfleet::doubles
