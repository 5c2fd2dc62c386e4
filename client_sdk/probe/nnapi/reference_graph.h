// The reference graph: two 3×3 convolutions over 32×32×16 whose right output is known, in float and in two kinds of
// 8-bit. Zero points are not zero, so that a driver that ignores them is found.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nnapi/model.h"

namespace nnfleet::nnapi {

// Types the graph exists in, the one to try first first: what accelerators are made for.
inline constexpr OperandType kReferenceTypes[] = {OperandType::TensorQuant8AsymmSigned, OperandType::TensorQuant8Asymm,
                                                  OperandType::TensorFloat32};

std::unique_ptr<Model> reference_model(const Library& library, OperandType type);

// Bytes of the input, and of an output buffer.
std::vector<uint8_t> reference_input(OperandType type);
std::size_t reference_output_bytes(OperandType type);

// Whether an output is right: within two steps of 8-bit, or 1 % of the largest value in float (room for FP16).
bool is_right(const std::vector<uint8_t>& output, OperandType type);

}  // namespace nnfleet::nnapi
