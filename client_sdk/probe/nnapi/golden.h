// Models of one operation on a stated input, and whether two outputs agree: what a driver computes against NNAPI's CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "nnapi/compilation.h"
#include "nnapi/operations.h"

namespace nnfleet::nnapi {

using Tensors = std::vector<std::vector<uint8_t>>;  // by the order of a model's inputs or outputs

// Whether outputs of this question can be compared at all: not where chance decides, or which of two equals is chosen.
bool is_comparable(const Question& question);

// The question's model with constants that are not all zero, so that outputs tell a driver that ignores them.
std::unique_ptr<Model> golden_model(const Library& library, const Question& question);

// ½, 1, 1½, 2 over and over, as near as the type has them: above zero, so that every operation is defined.
Tensors golden_inputs(const Question& question);

// Runs the model on the device; throws Model::Refused.
Tensors golden_outputs(const Model& model, const Question& question, const ANeuralNetworksDevice* device);

// Whether an output is the reference's: within two steps of 8-bit, or 1 % of the largest value in float (room for
// FP16). Types that are neither, and references that are not finite, agree with everything.
bool agrees(const Question& question, const Tensors& outputs, const Tensors& reference);

}  // namespace nnfleet::nnapi
